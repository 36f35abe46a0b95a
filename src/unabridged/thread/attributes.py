"""
Attributes of a memory that are not there: each is an error that says what to write.

A value that was set on a memory and that nobody reads would be a mistake
without a word. A subclass of your own may have more: it names them in its
body, as in `tenant: str`, or begins them with an underscore.
"""

from abc import ABCMeta
from typing import TYPE_CHECKING, Any

from unabridged.errors import UnknownNameError
from unabridged.text.names import right_name

__all__ = ["Attributes"]

_WORDS: dict[tuple[str, ...], str] = {
    ("append",): (
        "add add_message add_messages add_user_message add_ai_message push insert record put "
        "save_context extend log post remember send write"
    ),
    ("entries",): (
        "messages get_messages all_messages transcript get read items list chat_history get_all"
    ),
    ("context",): (
        "load_memory_variables get_context buffer prompt to_messages trim get_history window "
        "build load_memory get_memory render"
    ),
    ("compact",): "summarize compress condense prune consolidate shrink",
    ("find",): "search query grep lookup recall",
    ("fetch",): "get_message get_entry original expand",
    ("retract",): "remove delete pop discard delete_message remove_message forget",
    ("rewind",): "truncate rollback reset_to rewind_to",
    ("clear",): "reset wipe empty flush clear_messages",
    ("revert",): "undo",
    ("fork",): "branch copy clone",
    ("history",): "events log_records records changes",
    ("to_dict",): "save dump export serialize as_dict to_json model_dump dict json snapshot",
    ("from_dict",): "load restore deserialize",
    ("threads",): "sessions conversations list_threads list_sessions",
    ("report_usage",): "usage add_usage track_usage",
    ("store.delete(thread)",): "delete_thread delete_session destroy erase drop purge",
    ("context().tokens",): "tokens token_count num_tokens count_tokens get_num_tokens",
    ("thread",): "session with_session switch_thread get_thread",
    ("context().text()",): "text as_text to_text buffer_as_str to_string",
}
_GIVEN = ("store", "thread", "budget", "count", "ask", "search", "retry_after")


def _missing(kind: type, name: str) -> UnknownNameError:
    """
    What to raise where *kind* has no attribute *name*.
    """
    names = [known for known in dir(kind) if not known.startswith("_")]
    right = right_name(name, names, _WORDS)
    do = f"write `{right}`" if right else f"help({kind.__name__}) lists what there is"
    if name in _GIVEN and not any(name in others.split() for others in _WORDS.values()):
        do = f"`{name}=` is given when a memory is made, and not read from it"

    return UnknownNameError(f"{kind.__name__}: there is no `{name:.80}`; {do}")


class _Named(ABCMeta):
    """
    Of a class as well; it goes together with the metaclasses of ABC and Protocol.
    """

    if not TYPE_CHECKING:  # or checkers would take any name for an attribute

        def __getattr__(cls, name: str) -> Any:
            if name.startswith("_"):
                raise AttributeError(name)
            raise _missing(cls, name)


class Attributes(metaclass=_Named):
    """
    What both memories inherit: unknown attributes are refused, read or set.

    >>> from unabridged import Memory
    >>> Memory().add
    Traceback (most recent call last):
    unabridged.errors.UnknownNameError: Memory: there is no `add`; write `append`
    """

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if name.startswith("_"):
                msg = f"{type(self).__name__!r} object has no attribute {name!r}"
                raise AttributeError(msg)
            raise _missing(type(self), name)

        def __setattr__(self, name: str, value: object) -> None:
            if name[0] != "_" and not _may_be_set(type(self), name):
                raise _unsettable(type(self), name)
            object.__setattr__(self, name, value)


def _may_be_set(kind: type, name: str) -> bool:
    if name in _GIVEN:
        known = vars(next((c for c in kind.__mro__ if name in vars(c)), object)).get(name)
        return isinstance(known, property) and known.fset is not None
    if any(name in vars(base).get("__annotations__", ()) for base in kind.__mro__):
        return True
    found = next((vars(base)[name] for base in kind.__mro__ if name in vars(base)), None)

    return found is not None


def _unsettable(kind: type, name: str) -> UnknownNameError:
    what = f"{kind.__name__}: `{name:.80}` cannot be set"
    if name in _GIVEN:
        return UnknownNameError(
            f"{what}; give it when the memory is made, as in {kind.__name__}(…, {name}=…); "
            "only `strategy` may be assigned"
        )
    if right_name(name, ["strategy"], {}):
        return UnknownNameError(f"{what}; write `strategy`")

    return UnknownNameError(
        f"{what}: there is no such attribute, and only `strategy` may be assigned; "
        f"a subclass has more if its body names them, as in `{name:.80}: str`"
    )
