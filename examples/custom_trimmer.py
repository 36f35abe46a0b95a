"""
A trimmer of your own is a function: the view and the context in, the items to keep out.
"""

from collections.abc import Iterator
from functools import partial

from attrs import evolve

from unabridged import Item, ToolCall, TrimContext, View, Window, assistant, chain, run, tool, user
from unabridged.testing import view_of

chat = [
    user("Which flights are there to Lima?"),
    assistant(calls=[ToolCall("call_1", "find_flights", {"to": "LIM"})]),
    tool("UX 175 09:50 640 EUR\nIB 124 13:05 810 EUR", call_id="call_1"),
    assistant("Two; UX 175 is the cheaper one."),
    user("(typing)"),
    user("Then I take that one."),
]


def without_noise(view: View, ctx: TrimContext) -> list[Item]:
    """Leave out what an app logged and nobody said."""
    return [item for item in view if item.message.text != "(typing)"]


def first_lines(view: View, ctx: TrimContext, *, lines: int) -> Iterator[Item]:
    """Shorten what tools gave back."""
    for item in view:
        if not item.message.tool_results:
            yield item
            continue
        (result,) = item.message.tool_results
        short = "\n".join(result.text.splitlines()[:lines])
        yield evolve(item, message=tool(f"{short} …", call_id=result.call_id))


def only_words(view: View, ctx: TrimContext) -> list[Item]:
    """A careless one: it forgets that a call and its result belong together."""
    return [item for item in view if item.message.role != "tool"]


shorter = partial(first_lines, lines=1)
print(run(chain(Window(40), without_noise, shorter), view_of(chat)).text())
print(*run(only_words, view_of(chat)).warnings)

# prints:
# user: Which flights are there to Lima?
# assistant:  [tool calls: find_flights({"to":"LIM"})]
# tool: UX 175 09:50 640 EUR …
# assistant: Two; UX 175 is the cheaper one.
# user: Then I take that one.
# step only_words: parted a block: left out its mate, entry 3, is put back
