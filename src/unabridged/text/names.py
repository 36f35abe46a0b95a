"""
The right name for a wrong one: in calls, and of attributes.

Other libraries have other words for the same things. Who writes one of theirs
is told ours, in an error of this library that is a `TypeError`, or an
`AttributeError`, all the same. Nothing is looked at before a call has failed.
"""

import difflib
import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from types import FunctionType
from typing import Any, TypeVar, cast

from unabridged.errors import CallError

__all__ = ["named", "right_name", "with_named_fields", "with_named_init", "with_named_methods"]

Thing = TypeVar("Thing", bound=Callable[..., Any])
Class = TypeVar("Class", bound=type)

_FIRST_WORD = re.compile(r"\w+")
_BY_ATTRS = "<attrs generated"  # the file of what attrs writes
_WORDS: dict[tuple[str, ...], str] = {
    ("limit", "keep_tokens", "tokens", "reply", "strategy=TokenBudget(…)"): (
        "max_tokens max_token_limit token_limit max_input_tokens num_tokens budget_tokens "
        "context_window max_context_tokens max_output_tokens max_completion_tokens token_budget"
    ),
    ("last", "keep_last", "limit", "length", "messages", "strategy=Window(…)"): (
        "n k num size count number top_k window window_size max_messages max_history "
        "message_limit num_messages n_messages buffer_size history_size keep keep_n last_n "
        "page_size max_size max_count newest recent"
    ),
    ("last", "keep_last", "messages", "length", "tokens"): "limit",
    ("limit", "last", "keep_last"): "max maximum most",
    ("last", "keep_rounds", "rounds", "strategy=MaxRounds(…)"): (
        "turns max_turns max_rounds keep_turns exchanges num_turns rounds"
    ),
    ("limit", "keep_tokens", "budget"): "tokens",
    ("last", "keep_last"): "messages",
    ("share",): "ratio fraction percent percentage portion",
    ("down_to",): "low low_mark target trim_to keep_to downto low_water_mark",
    ("at_least", "min_gain"): "min_tokens clear_at_least minimum min_savings least",
    ("count",): (
        "token_counter tokenizer counter encoding count_tokens length_function len_fn "
        "count_fn token_count get_num_tokens"
    ),
    ("opening",): "start_on starts_on align start",
    ("call_id",): "tool_call_id tool_use_id toolUseId tool_id callId",
    ("calls", "call_id"): "tool_calls tool_call function_call function_calls call",
    ("is_error",): "error isError failed is_failure status",
    ("id",): "message_id msg_id uuid key idempotency_key call_id tool_call_id",
    ("metadata",): "meta extra_metadata additional_kwargs info tags data extra",
    ("content", "parts", "text", "query"): (
        "content text message body value msg result output words"
    ),
    ("function",): "fn func callback callable",
    ("handle",): "entry id seq key marker",
    ("name",): (
        "username speaker author sender tool tool_name function_name title filename "
        "session session_id thread thread_id conversation"
    ),
    ("arguments",): "args input parameters params kwargs",
    ("data",): "base64 b64 bytes image source",
    ("url",): "uri href link image_url",
    ("media_type",): "mime mime_type mimeType mediaType content_type format",
    ("file",): "file_id fileId",
    ("pin",): "pinned protect protected sticky permanent",
    ("expect",): "version expected etag if_match expected_version",
    ("start", "before"): "offset position begin",
    ("before",): "after until cursor before_id to end",
    ("find", "query"): "pattern term needle q keyword keywords search",
    ("exclude", "matching"): "ignore skip without excluding exclude_tools exclude_tool",
    ("retracted",): "include_retracted deleted include_deleted",
    ("at",): "rec record revision as_of time version",
    ("rec",): "record revision id number",
    ("seq",): "entry id number index message_id",
    ("system",): "system_prompt system_message instructions preamble prompt",
    ("query",): "question input user_input",
    ("replace",): "write write_back writeback persist commit inplace save",
    ("wait",): "background block blocking sync",
    ("thread",): (
        "session session_id thread_id conversation conversation_id chat_id user_id name key"
    ),
    ("store",): "storage backend db database persistence checkpointer",
    ("path",): "filename file db_path location url",
    ("strategy",): "trimmer policy compaction steps pipeline compactor trim",
    ("ask", "model"): "llm summarizer summarize_fn summarize summarizer_fn client complete model",
    ("search",): "retriever embedder index vector_store",
    ("retry_after",): "retries max_retries retry",
    ("input_tokens",): "prompt_tokens tokens_in inputTokens",
    ("cached_tokens",): "cache_read_input_tokens cached cachedTokens",
    ("reply",): "output max_output completion",
    ("window",): "max_tokens context_window size limit context context_size",
    ("max_tokens",): "limit tokens",
    ("first",): "head keep_first",
    ("tail", "last"): "keep_tail",
}


def right_name(wrong: str, names: Iterable[str], words: Mapping[tuple[str, ...], str]) -> str:
    """
    Which of these *names* was meant; "" if there is no telling.

    *words* are those of others, by what they may mean here: the first that is
    among the names. One that goes on after its name is an example of how to give it.

    >>> words = {("last", "limit"): "n max_messages", ("strategy=Window(…)",): "window"}
    >>> right_name("n", ["limit"], words), right_name("window", ["strategy"], words)
    ('limit', 'strategy=Window(…)')
    >>> right_name("downto", ["last", "down_to"], {}), right_name("colour", ["last"], {})
    ('down_to', '')
    """
    known = tuple(names)
    for meant, others in words.items():
        if wrong in others.split():
            for name in meant:
                if _FIRST_WORD.match(name)[0] in known:  # type: ignore[index]  # each begins with one
                    return name
    close = difflib.get_close_matches(wrong, known, 1)

    return close[0] if close else ""


def named(function: Thing, shown: str = "") -> Thing:
    """
    The function; called with arguments that it does not take, it says which it takes.

    Raises:
        CallError: when it is called so.

    >>> @named
    ... def newest(*, last: int = 10) -> int:
    ...     return last
    >>> newest(limit=3)
    Traceback (most recent call last):
    unabridged.errors.CallError: newest: there is no `limit`; write `last`
    """
    name = shown or function.__name__
    told = _told

    if inspect.iscoroutinefunction(function):

        async def awaited(*given: Any, **options: Any) -> Any:
            try:
                coming = function(*given, **options)
            except TypeError as error:
                if error.__traceback__ is None or error.__traceback__.tb_next is not None:
                    raise  # of what it does, not of how it was called
                wrong = told(function, name, given, options, error)
            else:
                return await coming
            raise wrong

        return _as(function, awaited)

    def call(*given: Any, **options: Any) -> Any:
        try:
            return function(*given, **options)
        except TypeError as error:
            if error.__traceback__ is None or error.__traceback__.tb_next is not None:
                raise
            wrong = told(function, name, given, options, error)
        raise wrong

    return _as(function, call)


def _as(function: Thing, call: Any) -> Thing:
    """
    What is called, passing for the function, with whose globals its doctests are found.
    """
    own: Any = function
    made: Any = FunctionType(call.__code__, own.__globals__, own.__name__, None, call.__closure__)
    for kept in ("__module__", "__qualname__", "__doc__", "__annotations__"):
        setattr(made, kept, getattr(function, kept))
    made.__dict__.update(vars(function))
    made.__wrapped__ = function

    return cast("Thing", made)


def with_named_methods(kind: Class) -> Class:
    """
    The class, whose public methods and construction say which arguments they take.

    >>> @with_named_methods
    ... class Screen:
    ...     def entries(self, *, last: int = 10) -> int:
    ...         return last
    >>> Screen().entries(limit=3)
    Traceback (most recent call last):
    unabridged.errors.CallError: Screen.entries: there is no `limit`; write `last`
    """
    for name, value in list(vars(kind).items()):
        shown = f"{kind.__name__}.{name}"
        if name == "__init__":
            setattr(kind, name, named(value, kind.__name__))
        elif name.startswith("_"):
            continue
        elif isinstance(value, classmethod):
            inner = cast("Callable[..., Any]", value.__func__)
            setattr(kind, name, classmethod(named(inner, shown)))
        elif inspect.isfunction(value):
            setattr(kind, name, named(value, shown))

    return kind


def with_named_init(kind: Class) -> Class:
    """
    The class, whose construction says which arguments it takes.

    >>> @with_named_init
    ... class Page:
    ...     def __init__(self, last: int) -> None: ...
    >>> Page(limit=3)
    Traceback (most recent call last):
    unabridged.errors.CallError: Page: there is no `limit`; write `last`
    """
    made: Any = kind
    made.__init__ = named(made.__init__, kind.__name__)

    return kind


def with_named_fields(kind: type) -> None:
    """
    Let a class say which fields it has, if attrs wrote its construction.

    One that was written by hand is left alone: attrs still has to find the class in it.

    >>> from attrs import frozen
    >>> @frozen
    ... class Newest:
    ...     last: int
    >>> with_named_fields(Newest)
    >>> Newest(limit=3)
    Traceback (most recent call last):
    unabridged.errors.CallError: Newest: there is no `limit`; write `last`
    """
    init = vars(kind).get("__init__")
    if isinstance(init, FunctionType) and init.__code__.co_filename.startswith(_BY_ATTRS):
        with_named_init(kind)


def _told(
    function: Callable[..., Any],
    shown: str,
    given: tuple[object, ...],
    options: Mapping[str, object],
    error: TypeError,
) -> CallError:
    """
    What is wrong with a call that failed, and what would be right.
    """
    parameters = list(inspect.signature(function).parameters.values())
    if parameters and parameters[0].name in {"self", "cls"}:
        parameters, given = parameters[1:], given[1:]
    names = [p.name for p in parameters if p.kind in {p.KEYWORD_ONLY, p.POSITIONAL_OR_KEYWORD}]
    positional = [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
    many = [f"*{p.name}" for p in parameters if p.kind is p.VAR_POSITIONAL]
    takes = f"it takes {', '.join([*many, *names]) or 'no arguments'}"
    for wrong in options:
        if wrong in names:
            continue
        free = [name for name in names if name not in options]
        right = right_name(wrong, free, _WORDS)
        do = f"write `{right}`" if right else takes
        return CallError(f"{shown}: there is no `{wrong:.80}`; {do}")
    if len(given) > len(positional) and not many:
        most = len(positional)
        first = {0: "none", 1: "only the first"}.get(most, f"the first {most}")
        return CallError(
            f"{shown}: {takes}, and {first} of them without a name; got {len(given)} so"
        )

    return CallError(f"{shown}: {str(error).partition('() ')[2] or error}")
