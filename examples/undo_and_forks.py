"""
A log can be turned back: undone, looked at as it was, told, forked, and compared.
"""

from unabridged import Memory, Window, assistant, user
from unabridged.testing import texts

memory = Memory(strategy=Window(4))
memory.append(
    user("Where shall we eat?"),
    assistant("At Casa Lola, or at the harbour."),
    user("Casa Lola."),
    assistant("A table for two at nine?"),
)
asked = memory.append(user("Yes, and no nuts, please.")).entries[0]

# Undo: what was written back is reverted, a slip is taken out, an ending is rewound.
written = memory.compact()
memory.revert(written.rec)
slip = memory.append(user("My card is 4000 0012 3456 7899")).entries[0]
memory.retract(slip.seq)

# The view as it was at any record.
print(texts(memory.view(at=2)))

# A fork shares all records up to one, and goes on by itself: here the other answer is tried.
harbour = memory.fork("at the harbour", at=2)
harbour.append(user("The harbour, rather."))
print(harbour.context().text())
print(len(memory.view()), "messages in", memory.threads()[1], "as before")

# What happened, for people.
print()
print(*memory.history(), sep="\n")
print(*harbour.history(last=2), sep="\n")

# Two views side by side: of records, of threads, of what is sent.
print()
print(memory.diff(asked.rec, written.rec))

# prints:
# ['Where shall we eat?', 'At Casa Lola, or at the harbour.']
# user: Where shall we eat?
# assistant: At Casa Lola, or at the harbour.
# user: The harbour, rather.
# 5 messages in default as before
#
# record 5: 5 entries (1-5) appended, the last is user: Yes, and no nuts, please.
# record 6: Window(4): 2 entries (1-2) left: before the last 4 messages (reverted)
# record 7: reverted record 6 (Window(4))
# record 8: entry 6 appended: user: My card is 4000 0012 3456 7899
# record 9: entry 6 retracted
# record 3: forked from thread 'default' at record 2
# record 4: entry 3 appended: user: The harbour, rather.
#
# a: record 5, 5 messages
# b: record 6, 3 messages
# - entry 1: user: Where shall we eat?
# - entry 2: assistant: At Casa Lola, or at the harbour.
