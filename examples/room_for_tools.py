"""
An agent's old tool results are cleared from its context, and read again when it needs them.
"""

from unabridged import ClearToolResults, Memory, Message, ToolCall, assistant, tool, tools, user

LOGS = {
    "monday.log": "\n".join(f"09:{minute:02} request served" for minute in range(60)),
    "tuesday.log": "10:00 disk full\n" + "10:01 request served\n" * 60,
    "wednesday.log": "11:00 all is well\n" * 60,
}

# Markers stand for all results but the newest; nothing moves until 500 tokens can go at once.
memory = Memory(strategy=ClearToolResults(keep_last=1, at_least=500))
recall = tools.recall(memory)
definitions = [recall.openai]  # what goes to the model, beside the definition of `read`


def model(messages: tuple[Message, ...], turn: int) -> ToolCall | str:
    """
    A fake: it reads each log, then looks again into one that it no longer sees.
    """
    if turn < len(LOGS):
        return ToolCall(f"call_{turn}", "read", {"path": list(LOGS)[turn]})
    if turn == len(LOGS):
        return ToolCall("call_again", "recall", {"handle": "5", "find": "disk"})

    return "The disk was full on Tuesday at ten."


memory.append(user("When was the disk full?"))
for turn in range(len(LOGS) + 2):
    said = model(memory.context().messages, turn)
    if isinstance(said, str):
        memory.append(assistant(said))
    elif said.name == recall.name:
        memory.append(assistant(calls=[said]), recall.answer(said))
    else:
        path = said.arguments.split('"')[3]
        memory.append(assistant(calls=[said]), tool(LOGS[path], call_id=said.id))

context = memory.context()
for message in context.messages:
    print(str(message)[:92].replace("\n", " / "))
print(f"{context.tokens} tokens; the whole of entry 3 is there: {memory.fetch('3').text[-20:]}")

# prints:
# user: When was the disk full?
# assistant:  [tool calls: read({"path":"monday.log"})]
# tool: [read result cleared: 359 tokens; the whole is entry 3]
# assistant:  [tool calls: read({"path":"tuesday.log"})]
# tool: [read result cleared: 366 tokens; the whole is entry 5]
# assistant:  [tool calls: read({"path":"wednesday.log"})]
# tool: 11:00 all is well / 11:00 all is well / 11:00 all is well / 11:00 all is well / 11:00 all is w
# assistant:  [tool calls: recall({"handle":"5","find":"disk"})]
# tool: {"handle":"5","length":1276,"hits":1,"found":[{"start":0,"text":"10:00 disk full\n10:0
# assistant: The disk was full on Tuesday at ten.
# 622 tokens; the whole of entry 3 is there: 09:59 request served
