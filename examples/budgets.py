"""
Budgets that hold and prefixes that stay: what a turn costs, and why.
"""

from unabridged import ClipToolResults, Memory, TokenBudget, ToolCall, TrimResult, tokens
from unabridged.messages import assistant, tool, user

PROMPT = "You keep a shop's orders. Look an order up before you answer."
TOOLS = [{"name": "find_order", "description": "An order by its number.", "input_schema": {}}]
BUDGET = tokens.Budget(1_400, reply=200, tools=TOOLS, system=PROMPT)


def provider(context: TrimResult) -> dict[str, int]:
    """
    Stands in for yours: what it bills, and how much of that it had in its cache.
    """
    sizes = [round(1.3 * tokens.rough(message)) for message in context.messages]
    beside = BUDGET.system + BUDGET.tools
    cached = sum(sizes[: context.kept.messages])
    return {"input_tokens": beside + sum(sizes), "cached_tokens": beside + cached}


strategy = TokenBudget(share=0.9, down_to=500, clip=(ClipToolResults(300),))
counter = tokens.calibrated(tokens.rough, model="a-model")  # its own tokenizer is not public
memory = Memory(strategy=strategy, budget=BUDGET, count=counter)

# The last result is far over the budget; the newest block has to stay, so it is clipped.
for turn, times in enumerate([*[10] * 9, 2_000], start=1):
    memory.append(user(f"Where is order {turn}?"))
    memory.append(assistant(calls=[ToolCall(f"call_{turn}", "find_order", {"number": turn})]))
    memory.append(tool(f"Order {turn} is on its way. " * times, call_id=f"call_{turn}"))
    context = memory.context()
    context = memory.report_usage(context, **provider(context))
    if turn in {1, 8, 9, 10}:
        print(f"turn {turn}: {context.explain()}\n")
    memory.append(assistant(f"Order {turn} is on its way."))

# prints:
# turn 1: 3 of 3 messages, 82 tokens
# usage: 153 input tokens reported, 82 estimated (46.4% too low), 30% of them cached
#
# turn 8: 31 of 31 messages, 947 tokens, and 46 billed each time beside them
# prefix: 27 of the 27 messages sent before are its beginning (827 tokens)
# usage: 993 input tokens reported, 993 estimated (exactly), 88% of them cached
#
# turn 9: 17 of 35 messages, 492 tokens, and 46 billed each time beside them
# TokenBudget(share=0.9, clip=(ClipToolResults(300),), down_to=500): 18 entries (1-16, 18-19) left: over the budget of 1_035 tokens, down to 500
# prefix: 0 of the 31 messages sent before are its beginning (0 tokens)
# usage: 538 input tokens reported, 538 estimated (exactly), 9% of them cached
# warning: prefix broken from entry 17 on, by TokenBudget(share=0.9, clip=(ClipToolResults(300),), down_to=500) (over the budget of 1_035 tokens, down to 500): 492 tokens are no longer the beginning of what was sent before
#
# turn 10: 21 of 39 messages, 837 tokens, and 46 billed each time beside them
# TokenBudget(share=0.9, clip=(ClipToolResults(300),), down_to=500): entry 39 reworded: clipped by ClipToolResults(300), over the budget of 1_035 tokens
# TokenBudget(share=0.9, clip=(ClipToolResults(300),), down_to=500): 18 entries (1-16, 18-19) left: over the budget of 1_035 tokens, down to 500
# prefix: 17 of the 17 messages sent before are its beginning (492 tokens)
# usage: 882 input tokens reported, 883 estimated (0.1% too high), 61% of them cached
#
