"""
A conversation that began at OpenAI goes on at Anthropic: what is mended, and what is left out.
"""

from unabridged import Memory, Repair, Window, formats

chat = [
    {"role": "system", "content": "You book flights. Be brief."},
    {"role": "user", "name": "ana", "content": "Lima, 24 May. And a hotel?"},
    {
        "role": "assistant",
        "content": None,
        "reasoning_content": "Two tools, at once.",
        "tool_calls": [
            {"id": f"call:{n}", "type": "function", "function": {"name": name, "arguments": "{}"}}
            for n, name in enumerate(["find_flight", "find_hotel"])
        ],
    },
    {"role": "tool", "tool_call_id": "call:0", "content": "LA 2476, 21:40"},
    {"role": "user", "content": "Forget the hotel. Book it."},
]

memory = Memory(strategy=Window(20) | Repair())
memory.append(*formats.openai_chat.load(chat))
assert formats.openai_chat.dump(entry.message for entry in memory.entries()) == chat

for problem in formats.problems(memory.view(), "anthropic"):
    print(f"Anthropic would refuse entry {problem.seq}: {problem.rule}")

report: list[formats.Mend] = []
request = formats.anthropic.request(memory.context().view, report)
for turn in request["messages"]:
    kinds = ["text"] if isinstance(turn["content"], str) else [b["type"] for b in turn["content"]]
    print(f"sent: {turn['role']}: {', '.join(kinds)}")
for line in report:
    print(f"{line.what}, entry {line.seq}: {line.text}")

response = {"role": "assistant", "content": [{"type": "text", "text": "Booked."}]}  # your client's
memory.append(*formats.anthropic.reply(response))
print(memory.entries()[-1].message)

# prints:
# Anthropic would refuse entry 3: bad id
# Anthropic would refuse entry 3: bad id
# Anthropic would refuse entry 3: unanswered call
# Anthropic would refuse entry 4: bad id
# sent: user: text
# sent: assistant: tool_use, tool_use
# sent: user: tool_result, tool_result, text
# renamed, entry 3: the call `call:0` goes as `call_0`, and so does its result
# renamed, entry 3: the call `call:1` goes as `call_1`, and so does its result
# joined, entry 5: joined with the tool's turn before it
# left out, entry 2: the speaker's name 'ana': Anthropic has no field for it
# left out, entry 3: reasoning of another provider
# assistant: Booked.
