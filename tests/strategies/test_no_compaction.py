"""
Keeping everything.
"""

from unabridged import NoCompaction, run
from unabridged.declared import from_data, to_data
from unabridged.results import unchanged
from unabridged.testing import call, talk, view_of


class TestNoCompaction:
    def test_changes_nothing(self):
        """
        Not even a call that nobody answered.
        """
        for messages in ([], talk(3), [*talk(1), call("c1"), *talk(1)]):
            view = view_of(messages)

            assert unchanged(view) == run(NoCompaction(), view)

    def test_shows_itself_and_goes_to_data(self):
        """
        And back.
        """
        assert "NoCompaction()" == repr(NoCompaction())
        assert {"use": "NoCompaction"} == to_data(NoCompaction())
        assert NoCompaction() == from_data({"use": "NoCompaction"})
