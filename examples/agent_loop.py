"""
An agent's loop: the model calls tools, their results go into the log, and every turn is a request.
"""

from typing import Any

from unabridged import Memory, Repair, Window, formats, system, tool, user


def find_flight(to: str) -> str:
    """Look a flight up."""
    return f"LA 2476 to {to}, 21:40"


class Model:
    """Stands for a provider's client: it looks for a flight, and then tells of it."""

    def create(self, *, messages: list[dict[str, Any]]) -> dict[str, Any]:
        """Answer the last message."""
        last = messages[-1]
        if last["role"] == "tool":
            message = {"role": "assistant", "content": f"I found {last['content']}."}
        else:
            function = {"name": "find_flight", "arguments": '{"to": "Lima"}'}
            call = {"id": "call_1", "type": "function", "function": function}
            message = {"role": "assistant", "content": None, "tool_calls": [call]}
        return {"choices": [{"message": message, "finish_reason": "stop"}]}


TOOLS = {"find_flight": find_flight}
memory = Memory(strategy=Window(40) | Repair())
memory.append(system("You book flights."), user("A flight to Lima, please."))

while True:
    context = memory.context()
    response = Model().create(**formats.openai_chat.request(context.messages))
    (answer,) = formats.openai_chat.reply(response)
    memory.append(answer)
    print(answer)
    if not answer.tool_calls:
        break
    for call in answer.tool_calls:  # `arguments` is the JSON text that the model wrote
        found = TOOLS[call.name](**call.args)
        memory.append(tool(found, call_id=call.id))

print(len(memory.entries()), "messages are kept")

# prints:
# assistant:  [tool calls: find_flight({"to": "Lima"})]
# assistant: I found LA 2476 to Lima, 21:40.
# 5 messages are kept
