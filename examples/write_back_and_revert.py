"""
What a strategy works out is only shown, until it is written to the log; and that can be undone.
"""

from unabridged import Memory, Window, assistant, user
from unabridged.testing import texts

memory = Memory(strategy=Window(4))
memory.append(
    user("Where do I change trains for Toledo?"),
    assistant("In Madrid, at Atocha."),
    user("How long does it take?"),
    assistant("33 minutes."),
    user("Is there one at eight?"),
    assistant("At 7:55 and at 8:50."),
)


def shown(title: str) -> None:
    """Print how long the transcript, the log's own view and the context are."""
    entries, view, context = memory.entries(), memory.view(), memory.context(replace=False)
    print(f"{title:18} {len(entries)} said, {len(view)} in the view, {len(context.messages)} sent")


shown("projected")

# Every change that can be written is written: the view of the log itself is short now.
memory.compact()
shown("compacted")
print(memory.context().why(1))

# Undo, and redo by undoing that.
undone = memory.revert()
shown("reverted")
memory.revert(undone.rec)
shown("redone")

# The view as it was before, at any record.
print(texts(memory.view(at=3)))

# A slip of the tongue is taken out, a whole ending is rewound; both can be reverted.
slip = memory.append(user("My card is 4000 0012 3456 7899")).entries[0]
memory.retract(slip.seq)
shown("retracted")
eight = memory.entries()[4]
memory.rewind(eight.seq)
shown("rewound")

# prints:
# projected          6 said, 6 in the view, 4 sent
# compacted          6 said, 4 in the view, 4 sent
# entry 1 left the log's view by Window(4) (record 7): before the last 4 messages
# reverted           6 said, 6 in the view, 4 sent
# redone             6 said, 4 in the view, 4 sent
# ['Where do I change trains for Toledo?', 'In Madrid, at Atocha.', 'How long does it take?']
# retracted          7 said, 4 in the view, 4 sent
# rewound            7 said, 2 in the view, 2 sent
