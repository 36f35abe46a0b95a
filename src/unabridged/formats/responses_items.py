"""
The items of the model, and the messages of everyone else, read and written.

Items become parts: what the model gave back in one response is one message, an
item a part of it, or several where one message item holds several texts. A
message of a user, a system or a developer is one item.
"""

from typing import Any

from unabridged.formats.extras import Keys, item_json, refuse
from unabridged.formats.foreign import refuse_elsewhere
from unabridged.formats.responses_calls import answer_to, is_call, read_call, write_call
from unabridged.formats.responses_content import Words, read_all, write, write_all
from unabridged.formats.responses_parts import NAME, is_item, kept, left_out, own
from unabridged.formats.responses_reasoning import read_reasoning, write_reasoning
from unabridged.formats.responses_results import write_result
from unabridged.messages import (
    Document,
    Message,
    Opaque,
    Part,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    quick_message,
)
from unabridged.parts import NO_JSON, quick_opaque, quick_text

__all__ = ["CLIENT", "read_client", "read_model", "write_message"]

CLIENT = ("user", "system", "developer")
_TEXTS = {"output_text": "text", "input_text": "text", "refusal": "refusal"}


def read_model(item: Keys, where: str, *, follows: bool) -> tuple[Part, ...]:
    """
    The parts of an item of the model; *follows* says that reasoning came before it.

    >>> read_model({"role": "assistant", "content": "hi"}, "input[0]", follows=False)
    (Text(text='hi'),)
    """
    kind = item.get("type")
    if kind == "reasoning":
        return (read_reasoning(item, where),)
    if kind is None or kind == "message":
        return _said(item, where, follows=follows)
    if is_call(item):
        return (read_call(item, where, follows=follows),)

    return (quick_opaque(NAME, item_json(item, where)),)


def _said(item: Keys, where: str, *, follows: bool) -> tuple[Part, ...]:
    content = item.get("content")
    if isinstance(content, str) and len(item) == 2:  # noqa: PLR2004  role and content
        return (quick_text(content),)
    led = {"led": "yes"} if follows and isinstance(item.get("id"), str) else {}
    inner = item.copy()
    del inner["role"]
    inner.pop("content", None)
    if isinstance(content, str):
        return (quick_text(content, kept({}, {"as": "easy", **led, "inner": inner}, where)),)
    if content is not None and not isinstance(content, list):
        refuse(f"{where}.content", "text or a list of parts", content)

    parts: list[Part] = []
    for at, part in enumerate(content or ()):
        place = f"{where}.content[{at}]"
        if not isinstance(part, dict):
            refuse(place, "an object", part)
        kind = part.get("type")
        key = _TEXTS.get(kind) if isinstance(kind, str) else None
        text = part.get(key) if key else None
        if isinstance(text, str):
            keys = part.copy()
            del keys["type"], keys[key]
            shape = {"as": kind, "item": "same"} if at else {"as": kind, **led, "inner": inner}
            parts.append(quick_text(text, kept(keys, shape, place)))
        elif at and not is_item(part):
            parts.append(quick_opaque(NAME, item_json(part, place)))
        else:
            parts = []
            break

    return tuple(parts) or (quick_opaque(NAME, item_json(item, where)),)


def read_client(item: Keys, where: str) -> Message:
    """
    The message of somebody else than the model.

    >>> read_client({"role": "user", "content": "hi"}, "input[0]")
    Message(role='user', parts=(Text(text='hi'),), name=None, id=None, metadata=Json(text='{}'))
    """
    role = item["role"]
    if item.get("type", "message") not in (None, "message"):
        # such as tools that a developer adds
        shape = {} if is_item(item) else {"opaque": "item"}
        whole = quick_opaque(NAME, item_json(item, where))
        return quick_message(role, (whole,), None, None, NO_JSON, kept({}, shape, where))

    keys = item.copy()
    del keys["role"]
    parts, form = read_all(keys.pop("content", ...), f"{where}.content")
    if form == "missing":
        refuse_elsewhere(keys, f"{where}.content", "text or a list of parts")
    shape = {"content": form} if form else {}
    if role not in CLIENT:
        shape["role"] = "kept"
    if any(isinstance(part, Opaque) and is_item(part.data.value) for part in parts):
        shape["opaque"] = "content"

    return quick_message(role, parts, None, None, NO_JSON, kept(keys, shape, where))


def write_message(message: Message, wanted: dict[str, str]) -> list[dict[str, Any]]:
    """
    The items of a message, fresh dicts; *wanted* learns what answers its calls want.

    >>> from unabridged.messages import assistant
    >>> write_message(assistant("Looking.", calls=[ToolCall("c1", "now")]), {})[0]
    {'role': 'assistant', 'content': 'Looking.'}
    """
    hints = own(message.extra) if message.extra else {}
    if hints.get("as") == "instructions":
        return []
    items = _Items(message, hints)
    for part in message.parts:
        if left_out(part, message.role):
            continue
        match part:
            case ToolCall():
                item = write_call(part)
                id_, kind = answer_to(item)
                wanted[id_] = kind
                items.add(item)
            case ToolResult():
                items.add(write_result(part, wanted))
            case Reasoning():
                items.add(write_reasoning(part))
            case Opaque():
                items.add_opaque(part)
            case _:
                items.say(part)

    return items.done()


class _Items:
    """
    Items on their way: words join the item that is open.
    """

    def __init__(self, message: Message, hints: dict[str, Any]) -> None:
        role = message.role
        is_model = role == "assistant" or (role not in {*CLIENT, "tool"} and message.tool_calls)
        self._is_model = bool(is_model) and hints.get("role") != "kept"
        self._role = role if role in CLIENT or hints.get("role") == "kept" else "user"
        self._message = message
        self._hints = hints
        self._keys = hints.get("keys", {})
        self._items: list[dict[str, Any]] = []
        self._words: list[Words] = []
        self._open: list[Any] | None = None  # the content of the model's message item

    def add(self, item: dict[str, Any]) -> None:
        """
        Put in an item.
        """
        self._close()
        self._items.append(item)

    def add_opaque(self, part: Opaque) -> None:
        """
        Put in an opaque item, or an opaque part of a content.
        """
        data = part.data.value
        stands = self._hints.get("opaque")
        if stands == "item" or (stands != "content" and is_item(data)):
            self.add(data)
        elif self._is_model:
            self._content().append(data)
        else:
            self._words.append(part)

    def say(self, part: Words) -> None:
        """
        Put in words, of the model where they are its own.
        """
        if not self._is_model:
            self._words.append(part)
        elif isinstance(part, Text):
            self._say_as_model(part)
        elif isinstance(part, Document) and part.text:
            self.add({"role": "assistant", "content": part.text})
        else:
            self.add({"role": "user", "content": [write(part)]})

    def done(self) -> list[dict[str, Any]]:
        """
        All items.
        """
        self._close()
        form = self._hints.get("content", "")
        if form and not self._message.parts:
            item = {**self._keys, "role": self._role}
            if form != "missing":
                item["content"] = [] if form == "list" else None
            self._items.append(item)

        return self._items

    def _say_as_model(self, part: Text) -> None:
        shape = own(part.extra) if part.extra else {}
        kind = shape.get("as")
        if kind not in _TEXTS:
            self.add({**shape.get("inner", {}), "role": "assistant", "content": part.text})
            return
        content = {**shape.get("keys", {}), "type": kind, _TEXTS[kind]: part.text}
        if shape.get("item") == "same":
            self._content().append(content)
            return
        said: list[Any] = [content]
        self.add({**shape.get("inner", {}), "role": "assistant", "content": said})
        self._open = said

    def _content(self) -> list[Any]:
        if self._open is None:
            said: list[Any] = []
            self.add({"type": "message", "role": "assistant", "content": said})
            self._open = said

        return self._open

    def _close(self) -> None:
        self._open = None
        if self._words:
            content = write_all(self._words, self._hints.get("content", ""))
            self._items.append({**self._keys, "role": self._role, "content": content})
            self._words, self._keys = [], {}
