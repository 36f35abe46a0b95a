"""
One budget for three sections: the rules, what the question recalls, and what is recent.
"""

from unabridged import Memory, Sections, Share, TrimResult, assistant, chain, system, tokens, user
from unabridged.contract import TrimContext
from unabridged.results import hold
from unabridged.views import View


def recall(view: View, ctx: TrimContext) -> TrimResult:
    """
    Stands in for a search: hold the messages that have a word of the query.
    """
    asked = set((ctx.query or "").split())
    found = [item for item in view if asked & set(item.message.text.lower().split())]
    return hold(view, found, reason="recalled")


sections = Sections(system=Share(20), recalled=Share(30, priority=1), recent=Share(30))
memory = Memory(
    strategy=chain(recall, sections), budget=tokens.Budget(110, reply=27), count=tokens.words
)
memory.append(system("You plan a garden. Never propose plants that are poisonous to cats."))
memory.append(user("The greenhouse is 3 by 2 metres and faces south."), assistant("Noted."))
for bed in ("north", "south", "east"):
    memory.append(user(f"What about the {bed} bed? It gets sun for some hours in the morning."))
    memory.append(assistant(f"In the {bed} bed try lettuce, chard and beans, a hand apart."))
memory.append(user("Do tomatoes fit into the greenhouse too?"))

context = memory.context(query="greenhouse tomatoes")
print(context.text())
print()
print(context.explain())

# Where nothing is recalled, its room goes to who wants it.
print()
print(memory.context().explain())

# prints:
# system: You plan a garden. Never propose plants that are poisonous to cats.
# user: The greenhouse is 3 by 2 metres and faces south.
# user: What about the east bed? It gets sun for some hours in the morning.
# assistant: In the east bed try lettuce, chard and beans, a hand apart.
# user: Do tomatoes fit into the greenhouse too?
#
# 5 of 10 messages, 55 tokens
# recall: 2 entries (2, 10) held: recalled
# Sections(system=Share(20), recalled=Share(30, priority=1), recent=Share(30)): 5 entries (3-7) left: over the recent share of a budget of 80 tokens
# pinned: 1, 2, 10
#
# 6 of 10 messages, 71 tokens
# Sections(system=Share(20), recalled=Share(30, priority=1), recent=Share(30)): 4 entries (2-5) left: over the recent share of a budget of 80 tokens
# pinned: 1
# prefix: 1 of the 5 messages sent before are its beginning (12 tokens)
# warning: prefix broken from entry 6 on, by Sections(system=Share(20), recalled=Share(30, priority=1), recent=Share(30)) (over the recent share of a budget of 80 tokens): 59 tokens are no longer the beginning of what was sent before
