"""
A chat that is kept in a file, whole, and sent to a model as far as it fits.
"""

import tempfile
from pathlib import Path

from unabridged import Ask, Memory, Summarize, TokenBudget, ToolCall, Window, assistant, tool, user


def model(ask: Ask) -> str:
    """
    Stands in for yours: `ask.messages` is the request, the answer is the reply's text.
    """
    print(f"(a model reads {len(ask.items)} messages)")
    return "Ana flies from Madrid to Lima on 24 May, UX 175 at 09:50 for 640 EUR."


chats = Path(tempfile.mkdtemp()) / "chats.db"
strategy = Window(40) | TokenBudget(2_000) | Summarize(keep_last=4, replace=True)

with Memory.open(chats, thread="ana", strategy=strategy, ask=model) as memory:
    memory.append(
        user("I am Ana. I want to fly from Madrid to Lima on 24 May."),
        assistant("Let me look.", calls=[ToolCall("call_1", "find_flights", {"to": "LIM"})]),
        tool("UX 175, 09:50, 640 EUR; IB 124, 13:05, 810 EUR", call_id="call_1"),
        assistant("UX 175 leaves at 09:50 and costs 640 EUR. Shall I book it?"),
        user("Yes. A window seat, please."),
        assistant("Booked: seat 14A on UX 175."),
        user("And where could I stay?"),
    )
    context = memory.context(system="You book travel. Ask before you pay.")
    print(context.text())
    print(context.explain())
    print(f"{len(memory.entries())} messages kept, {len(memory.view())} in view")

    memory.revert()  # the summary is undone
    print(f"{len(memory.entries())} messages kept, {len(memory.view())} in view")

# prints:
# (a model reads 3 messages)
# system: You book travel. Ask before you pay.
# system: Summary of the earlier conversation:
# Ana flies from Madrid to Lima on 24 May, UX 175 at 09:50 for 640 EUR.
# assistant: UX 175 leaves at 09:50 and costs 640 EUR. Shall I book it?
# user: Yes. A window seat, please.
# assistant: Booked: seat 14A on UX 175.
# user: And where could I stay?
# 6 of 8 messages, 108 tokens
# Summarize(4, replace=True): 3 entries (1-3) folded into 'Summary of the earlier conversation: Ana flies from Madrid …', written back (record 8): before the last 4 messages
# 7 messages kept, 5 in view
# 7 messages kept, 7 in view
