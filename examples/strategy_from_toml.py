"""
A strategy is data too: it can stand in a configuration file, by names that are registered.
"""

import json
import tomllib

from unabridged import Item, TrimContext, View, declared, run
from unabridged.testing import assistant, replies, system, user, view_of

CONFIGURATION = """
strategy = [
    { use = "Window", last = 40, down_to = 20 },
    "without_greetings",
    { use = "Summarize", keep_rounds = 1, role = "user", label = "Earlier on:" },
    { use = "TokenBudget", limit = 40, count = "words" },
]
"""


@declared.register("without_greetings")
def without_greetings(view: View, ctx: TrimContext) -> list[Item]:
    """Leave out what says hello and nothing else."""
    return [item for item in view if item.message.text not in {"Hello!", "Hi!"}]


strategy = declared.from_data(tomllib.loads(CONFIGURATION)["strategy"])
print(strategy)
print(*map(json.dumps, declared.to_data(strategy)), sep="\n")
print(declared.from_data(declared.to_data(strategy)) == strategy)

chat = [
    system("You rent out bicycles."),
    user("Hello!"),
    assistant("Hi!"),
    user("Two bicycles for the weekend, please, one of them with a seat for a child."),
    assistant("With pleasure. How tall are you, and how old is the child?"),
    user("1.70 and 1.85; she is four."),
]
print(
    run(strategy, view_of(chat), ask=replies("Two bicycles, one with a seat for a child.")).text()
)

# prints:
# Window(40, down_to=20) | without_greetings | Summarize(keep_rounds=1, role='user', label='Earlier on:') | TokenBudget(40, count=tokens.words)
# {"use": "Window", "last": 40, "down_to": 20}
# "without_greetings"
# {"use": "Summarize", "keep_rounds": 1, "role": "user", "label": "Earlier on:"}
# {"use": "TokenBudget", "limit": 40, "count": "words"}
# True
# system: You rent out bicycles.
# user: Earlier on:
# Two bicycles, one with a seat for a child.
# user: 1.70 and 1.85; she is four.
