"""
Strategies are values: chains of them are built, compared, printed and run without a store.
"""

from unabridged import MaxRounds, Over, Summarize, TokenBudget, When, Window, chain, run
from unabridged.testing import assistant, replies, system, user, view_of

chat = view_of(
    [
        system("You plan trips."),
        user("Two weeks in Peru, in May. Where do we begin?"),
        assistant("In Lima: three days, for the food and for the museums."),
        user("And then?"),
        assistant("Fly to Cusco and rest for a day; it lies at 3,400 metres."),
        user("How do we get to Machu Picchu?"),
        assistant("By train from Ollantaytambo; book it two months ahead."),
        user("What about the coast?"),
    ]
)

recent = Window(40) | TokenBudget(2_000)
print(recent)
print(recent == chain(Window(40), TokenBudget(2_000)) == chain([Window(40), [TokenBudget(2_000)]]))

# A chain is a step of another chain, and either stays what it was.
told = When(Over(messages=6), Summarize(keep_rounds=2)) | recent
print(told)
print(recent)

for strategy in (MaxRounds(2), Window(4) | TokenBudget(40), told):
    result = run(strategy, chat, ask=replies("They go to Peru in May and begin in Lima."))
    print()
    print(f"{strategy}: {len(result.messages)} messages, {result.tokens} tokens")
    print(result.text(names={"user": "Traveller", "assistant": "Planner"}))

# prints:
# Window(40) | TokenBudget(2_000)
# True
# When(Over(messages=6), Summarize(keep_rounds=2)) | Window(40) | TokenBudget(2_000)
# Window(40) | TokenBudget(2_000)
#
# MaxRounds(2): 4 messages, 50 tokens
# system: You plan trips.
# Traveller: How do we get to Machu Picchu?
# Planner: By train from Ollantaytambo; book it two months ahead.
# Traveller: What about the coast?
#
# Window(4) | TokenBudget(40): 2 messages, 17 tokens
# system: You plan trips.
# Traveller: What about the coast?
#
# When(Over(messages=6), Summarize(keep_rounds=2)) | Window(40) | TokenBudget(2_000): 5 messages, 71 tokens
# system: You plan trips.
# system: Summary of the earlier conversation:
# They go to Peru in May and begin in Lima.
# Traveller: How do we get to Machu Picchu?
# Planner: By train from Ollantaytambo; book it two months ahead.
# Traveller: What about the coast?
