"""
Why is a message in the context, or not? A result tells, per step and per entry.
"""

from unabridged import Memory, TokenBudget, ToolCall, Window, assistant, system, tool, user

memory = Memory(strategy=Window(6) | TokenBudget(60))
memory.append(system("You are a concierge. Be brief."))
memory.append(user("I am allergic to nuts."), pin=True)
memory.append(
    assistant("Noted, no nuts."),
    user("Book a table for two on Friday."),
    assistant(calls=[ToolCall("call_1", "book_table", {"guests": 2, "day": "Friday"})]),
    tool("Confirmed: Casa Lola, Friday, 21:00", call_id="call_1"),
    assistant("Casa Lola, Friday at nine."),
    user("Perfect. And a taxi there?"),
    assistant("At half past eight, from your hotel."),
    user("What do they serve?"),
)

context = memory.context()
print(context.text())
print()
print(context.explain())
print()
for entry in memory.entries():
    print(f"{str(entry.message)[:38]:40}{context.why(entry.seq)}")

# What has to stay may be more than fits; that is said, never silent.
print()
print(memory.context(TokenBudget(20)).over)

# prints:
# system: You are a concierge. Be brief.
# user: I am allergic to nuts.
# user: Perfect. And a taxi there?
# assistant: At half past eight, from your hotel.
# user: What do they serve?
#
# 5 of 10 messages, 55 tokens
# Window(6): 3 entries (3, 5-6) left: before the last 6 messages
# TokenBudget(60): 2 entries (4, 7) left: over the budget of 60 tokens
# pinned: 1, 2
#
# system: You are a concierge. Be brief.  entry 1 stays: pinned by role
# user: I am allergic to nuts.            entry 2 stays: pinned by hand
# assistant: Noted, no nuts.              entry 3 left by Window(6): before the last 6 messages
# user: Book a table for two on Friday.   entry 4 left by TokenBudget(60): over the budget of 60 tokens
# assistant:  [tool calls: book_table({"  entry 5 left by Window(6): before the last 6 messages
# tool: Confirmed: Casa Lola, Friday, 21  entry 6 left by Window(6): before the last 6 messages
# assistant: Casa Lola, Friday at nine.   entry 7 left by TokenBudget(60): over the budget of 60 tokens
# user: Perfect. And a taxi there?        entry 8 is in the view as it was appended
# assistant: At half past eight, from yo  entry 9 is in the view as it was appended
# user: What do they serve?               entry 10 is in the view as it was appended
#
# 31 tokens must stay, 11 over the limit of 20: entry 1 (12): pinned by role; entry 2 (10): pinned by hand; entry 10 (9): the newest user message
