"""
Strategies have no async twins: under `AsyncMemory` the same `Summarize` awaits an async model.
"""

import asyncio

from unabridged import Ask, AsyncMemory, Summarize, assistant, user

SUMMARIES = {
    "Peru": "Ana wants to see Machu Picchu in May and is afraid of the altitude.",
    "Japan": "Ben wants to see the cherry blossom and travels by train.",
}
asked: list[str] = []


async def model(ask: Ask) -> str:
    """Stands in for an async client; what it is told is one JSON object a line."""
    await asyncio.sleep(0)
    where = next(place for place in SUMMARIES if place in ask.transcript)
    asked.append(where)
    return SUMMARIES[where]


async def talk(memory: AsyncMemory, wish: str, answer: str, doubt: str) -> str:
    """Append a conversation, and give the context that a model would get."""
    await memory.append(user(wish), assistant(answer), user(doubt))
    context = await memory.context()
    return context.text(names={"user": "Traveller"})


async def main() -> None:
    """Two conversations at once, in one store."""
    ana = AsyncMemory(thread="ana", strategy=Summarize(keep_rounds=1), ask=model)
    ben = ana.thread("ben")
    peru = "Peru, please: Machu Picchu in May.", "Have you been that high?", "Never! What helps?"
    japan = "Japan, when the cherries bloom.", "Late March, by train.", "How long do I need?"
    for context in await asyncio.gather(talk(ana, *peru), talk(ben, *japan)):
        print(context, end="\n\n")

    # An answer is kept in the log, so it is paid once, however often a context is made.
    await ana.context()
    print(f"asked about {' and '.join(sorted(asked))}, for {await ana.threads()}")


asyncio.run(main())

# prints:
# system: Summary of the earlier conversation:
# Ana wants to see Machu Picchu in May and is afraid of the altitude.
# Traveller: Never! What helps?
#
# system: Summary of the earlier conversation:
# Ben wants to see the cherry blossom and travels by train.
# Traveller: How long do I need?
#
# asked about Japan and Peru, for ('ana', 'ben')
