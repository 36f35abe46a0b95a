"""
A long chat in summaries of summaries, with a model that is down once and is left alone for a while.
"""

import logging

from unabridged import Ask, Memory, Summarize, assistant, user

logging.getLogger("unabridged").setLevel(logging.ERROR)  # what goes wrong is printed below
DOWN = {3}
asked: list[Ask] = []


def model(ask: Ask) -> str:
    """Stands in for a client; it tells which entries it read."""
    asked.append(ask)
    if len(asked) in DOWN:
        raise TimeoutError
    return f"Told from {', '.join(str(item.sources) for item in ask.items)}."


def talk(memory: Memory, *numbers: int) -> None:
    """Append so many rounds."""
    for number in numbers:
        memory.append(user(f"Question {number}, at some length?"), assistant(f"Answer {number}."))


# Once four messages wait they are told; every two summaries get one of their own.
memory = Memory(strategy=Summarize(keep_last=2, every=4, tree=2), ask=model, retry_after=1)
talk(memory, 1, 2, 3)
print(memory.context().text())

talk(memory, 4, 5)
for _ in range(3):
    result = memory.context()
    went_wrong = result.warnings[0].partition(": ")[2] if result.warnings else "all is well"
    print(f"\n{len(asked)} asked, {went_wrong}")
print(result.text())

# prints:
# system: Summary of the earlier conversation:
# Told from 1, 2, 3, 4.
# user: Question 3, at some length?
# assistant: Answer 3.
#
# 3 asked, no summary of entries 1-8: TimeoutError
#
# 3 asked, no summary of entries 1-8: not asked, the last time it failed (TimeoutError); tried again at the next retrieval
#
# 4 asked, all is well
# system: Summary of the earlier conversation:
# Told from 1-4, 5-8.
# user: Question 5, at some length?
# assistant: Answer 5.
