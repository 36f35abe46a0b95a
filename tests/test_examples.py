"""
The examples run, and print what their last lines say.
"""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parent.parent / "examples").glob("*.py"))
PRINTS = "\n# prints:\n"


def printed(path: Path) -> str:
    """
    What the program says that it prints.
    """
    _, _, comment = path.read_text("utf-8").partition(PRINTS)

    return "".join(f"{line.removeprefix('#').removeprefix(' ')}\n" for line in comment.splitlines())


def test_there_are_examples():
    """
    A wrong folder would pass all the others.
    """
    assert {"quickstart", "testing_a_strategy"} < {path.stem for path in EXAMPLES}


@pytest.mark.parametrize("path", EXAMPLES, ids=[path.stem for path in EXAMPLES])
class TestExample:
    def test_prints_what_it_says(self, path):
        """
        It runs in an interpreter of its own, without a warning, and to the letter.
        """
        done = subprocess.run(  # noqa: S603  our own script
            [sys.executable, "-X", "utf8", "-W", "error", path],
            capture_output=True,
            encoding="utf-8",
            check=False,
        )

        assert ("", 0) == (done.stderr, done.returncode)
        assert printed(path) == "".join(f"{line.rstrip()}\n" for line in done.stdout.splitlines())

    def test_can_be_read_at_a_glance(self, path):
        """
        Under 60 lines, and a first sentence that says what it shows.
        """
        text = path.read_text("utf-8")

        assert len(text.splitlines()) < 60
        assert ast.get_docstring(ast.parse(text))
