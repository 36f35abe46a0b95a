"""
A strategy of your own asks a model: it yields a question, and whoever runs it gets the answer.
"""

from unabridged import Ask, Memory, TrimContext, View, run, system
from unabridged.contract import Flow
from unabridged.results import fold, unchanged
from unabridged.testing import check_strategy, failing, replies, talk, texts, view_of


def in_a_line(view: View, ctx: TrimContext) -> Flow:
    """
    Let a model tell in a line what is older than the last four messages.
    """
    old = view[:-4]
    if all(item.stands_in for item in old):
        return unchanged(view)
    try:
        line = yield Ask(old, prompt="Tell this in one line.", max_tokens=60)
    except Exception as error:  # noqa: BLE001  a model that is down does not stop a chat
        return unchanged(view, warnings=[f"in_a_line: {error!r}"])

    # what is written to the log is there the next time, so the answer is paid once
    return fold(view, old, into=system(line), reason="told in a line", replace=True)


# On values, with functions for models: one that replies, one that fails.
view = view_of(talk(3))
print(texts(run(in_a_line, view, ask=replies("They met."))))
down = run(in_a_line, view, ask=failing(TimeoutError()))
print(texts(down), *down.warnings)

# Held to every law, on generated logs with every odd shape.
check_strategy(in_a_line, examples=20)

# In a memory, whose `ask=` answers.
memory = Memory(strategy=in_a_line, ask=replies("They met.", "It went on."))
memory.append(*talk(3))
for _ in range(2):
    print(memory.context().text().splitlines()[0])
print(len(memory.entries()), "messages are kept,", len(memory.view()), "are in view")

# prints:
# ['They met.', 'q2', 'a2', 'q3', 'a3']
# ['q1', 'a1', 'q2', 'a2', 'q3', 'a3'] in_a_line: TimeoutError()
# system: They met.
# system: They met.
# 6 messages are kept, 5 are in view
