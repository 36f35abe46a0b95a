"""
The providers whose rules are known, each as one value: a table to read.

To add one, write its `left_out` and list its rules and menders here.
"""

import hashlib
import re
import string
from functools import partial

from unabridged.errors import ConfigError
from unabridged.formats import (
    anthropic_blocks,
    bedrock_blocks,
    chat_functions,
    chat_parts,
    gemini_parts,
    responses_parts,
)
from unabridged.formats.extras import Extras
from unabridged.formats.gemini_names import is_made
from unabridged.formats.menders_of_content import (
    fill_blanks,
    fill_unsent,
    fit_ids,
    fit_names,
    fit_speakers,
    mend_letters,
    tell_left_out,
    word_documents,
    wrap_arguments,
)
from unabridged.formats.menders_of_functions import (
    match_functions,
    modern_calls,
    stored_functions,
)
from unabridged.formats.menders_of_limits import few_marks, sound_media
from unabridged.formats.menders_of_openai import fill_content, fill_keys, fill_outputs
from unabridged.formats.menders_of_order import (
    bridge_results,
    home_results,
    join_neighbours,
    known_roles,
    open_on_user,
    results_to_tools,
    trim_the_end,
    word_system,
)
from unabridged.formats.menders_of_orphans import word_orphans
from unabridged.formats.menders_of_reasoning import free_items, sign_calls
from unabridged.formats.menders_of_thinking import leave_empty_thoughts, leave_unsigned
from unabridged.formats.provider import Provider
from unabridged.formats.rules_of_content import (
    arguments_are_objects,
    documents_have_words,
    ids_are_unique,
    ids_fit,
    names_fit,
    no_blank_text,
    no_empty_message,
    roles_are_known,
    speakers_fit,
    texts_are_sound,
)
from unabridged.formats.rules_of_functions import results_have_the_form
from unabridged.formats.rules_of_hosted import hosted_are_paired
from unabridged.formats.rules_of_limits import (
    arguments_are_short,
    few_media,
    few_pictures,
    marks_are_few,
    texts_are_short,
)
from unabridged.formats.rules_of_media import media_hold_data
from unabridged.formats.rules_of_openai import (
    content_is_there,
    ids_of_items_fit,
    keys_are_filled,
    outputs_are_there,
)
from unabridged.formats.rules_of_order import (
    alternates,
    assistant_after_tools,
    calls_after_user,
    ends_on_user,
    no_trailing_space,
    somebody_speaks,
    starts_on_user,
    system_comes_first,
)
from unabridged.formats.rules_of_pairs import paired, paired_anywhere, response_count, results_first
from unabridged.formats.rules_of_reasoning import (
    calls_are_signed,
    items_are_unique,
    reasoning_leads,
    thinking_is_whole,
    thinking_leads_the_loop,
    thoughts_hold_something,
)
from unabridged.messages import Message, ToolCall, ToolResult
from unabridged.text import brief

__all__ = ["PROVIDERS", "provider_of"]

_GEMINI = Extras("gemini")
_NINE = string.digits + string.ascii_letters


def _stood_there(ours: Extras, message: Message) -> bool:
    return ours.own(message.extra).get("as") == "turn"


def _has_id(part: ToolCall | ToolResult) -> bool:
    if isinstance(part, ToolResult):
        return True  # nothing that could be sent for an id is refused here

    return "id" not in _GEMINI.own(part.extra).get("lacks", ()) or not is_made(part.id, part.name)


def _nine(id_: str, number: int) -> str:
    """
    Nine letters or digits made of an id, as Mistral wants them.
    """
    digest = int.from_bytes(hashlib.sha256(f"{number} {id_}".encode(errors="replace")).digest())
    letters = ""
    while len(letters) < 9:  # noqa: PLR2004
        digest, letter = divmod(digest, len(_NINE))
        letters += _NINE[letter]

    return letters


_ANY_ID = re.compile(r"[^\ud800-\udfff]{1,64}")
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_CHAT_SPEAKER = re.compile(r"[^\s<|\\/>]{1,64}")

_EVERYWHERE = (
    roles_are_known,
    somebody_speaks,
    texts_are_sound,
    ids_are_unique,
    ids_fit,
    names_fit,
    media_hold_data,
)
_OPENAI = (arguments_are_short, texts_are_short)
_APART = (
    starts_on_user,
    system_comes_first,
    ends_on_user,
    no_blank_text,
    no_empty_message,
    arguments_are_objects,
    results_first,
    paired,
)
_FIRST = (stored_functions, sound_media, known_roles, fit_names, word_orphans, mend_letters)
_HOME = (*_FIRST, home_results, fill_unsent, fit_ids)
_ONE_PROMPT = (
    *_HOME,
    word_system,
    wrap_arguments,
    fill_blanks,
    join_neighbours,
    open_on_user,
)

PROVIDERS = {
    api.name: api
    for api in (
        Provider(
            "openai_chat",
            "Chat Completions",
            left_out=chat_parts.left_out,
            results="run",
            rules=(
                *_EVERYWHERE,
                *_OPENAI,
                keys_are_filled,
                content_is_there,
                speakers_fit,
                paired,
                results_have_the_form,
            ),
            menders=(
                *_HOME,
                match_functions,
                fit_speakers,
                fill_blanks,
                fill_keys,
                fill_content,
                tell_left_out,
            ),
            call_id=re.compile(r"[^\ud800-\udfff]{1,40}"),
            tool_name=_NAME,
            speaker=_CHAT_SPEAKER,
            sends_id=chat_functions.sends_id,
        ),
        Provider(
            "mistral",
            "Mistral",
            left_out=chat_parts.left_out,
            results="run",
            rules=(
                *_EVERYWHERE,
                no_blank_text,
                no_empty_message,
                starts_on_user,
                system_comes_first,
                alternates,
                assistant_after_tools,
                ends_on_user,
                paired,
                few_pictures,
                content_is_there,
            ),
            menders=(
                stored_functions,
                modern_calls,
                *_HOME,
                results_to_tools,
                fit_speakers,
                word_system,
                fill_blanks,
                join_neighbours,
                bridge_results,
                open_on_user,
                fill_keys,
                fill_content,
                tell_left_out,
            ),
            call_id=re.compile("[a-zA-Z0-9]{9}"),
            tool_name=_NAME,
            speaker=_CHAT_SPEAKER,
            joins=True,
            prompt=True,
            blank="empty",
            fit_id=_nine,
        ),
        Provider(
            "openai_responses",
            "Responses",
            left_out=responses_parts.left_out,
            results="anywhere",
            rules=(
                *_EVERYWHERE,
                *_OPENAI,
                no_empty_message,
                paired_anywhere,
                hosted_are_paired,
                reasoning_leads,
                items_are_unique,
                ids_of_items_fit,
                outputs_are_there,
            ),
            menders=(
                *_FIRST,
                fill_outputs,
                fill_unsent,
                fit_ids,
                fill_blanks,
                free_items,
                tell_left_out,
            ),
            call_id=_ANY_ID,
            tool_name=re.compile(r"[a-zA-Z0-9_-]{1,128}"),
            unique="whole",
            blank="nothing",
        ),
        Provider(
            "anthropic",
            "Anthropic",
            left_out=anthropic_blocks.left_out,
            results="next",
            rules=(
                *_EVERYWHERE,
                *_APART,
                no_trailing_space,
                hosted_are_paired,
                thinking_leads_the_loop,
                thinking_is_whole,
                marks_are_few,
            ),
            menders=(few_marks, leave_unsigned, *_ONE_PROMPT, trim_the_end, tell_left_out),
            call_id=re.compile("[a-zA-Z0-9_-]+"),
            tool_name=re.compile("[a-zA-Z0-9_-]{1,128}"),
            unique="whole",
            joins=True,
            merges=True,
            prompt=True,
            blank="white",
            tells_context=True,
            keeps_system=partial(_stood_there, Extras("anthropic")),
        ),
        Provider(
            "gemini",
            "Gemini",
            left_out=gemini_parts.left_out,
            results="next",
            rules=(
                *_EVERYWHERE,
                *_APART,
                response_count,
                hosted_are_paired,
                calls_after_user,
                calls_are_signed,
                thoughts_hold_something,
            ),
            menders=(leave_empty_thoughts, *_ONE_PROMPT, sign_calls, tell_left_out),
            call_id=re.compile(r"[^\ud800-\udfff]+"),
            tool_name=re.compile(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}"),
            prompt=True,
            joins=True,
            blank="empty",
            sends_id=_has_id,
        ),
        Provider(
            "bedrock",
            "Bedrock",
            left_out=bedrock_blocks.left_out,
            results="next",
            rules=(
                *_EVERYWHERE,
                *_APART,
                alternates,
                no_trailing_space,
                documents_have_words,
                few_media,
                marks_are_few,
                thoughts_hold_something,
            ),
            menders=(
                few_marks,
                leave_empty_thoughts,
                *_ONE_PROMPT,
                trim_the_end,
                word_documents,
                tell_left_out,
            ),
            call_id=re.compile("[a-zA-Z0-9_.:-]{1,64}"),
            tool_name=_NAME,
            joins=True,
            prompt=True,
            blank="white",
            tells_context=True,
            keeps_system=partial(_stood_there, Extras("bedrock")),
        ),
    )
}


def provider_of(name: str) -> Provider:
    """
    The provider of this name.

    Raises:
        ConfigError: there is none; the text lists those that are known.

    >>> provider_of("gemini").title
    'Gemini'
    """
    if not isinstance(name, str) or name not in PROVIDERS:
        msg = f"provider: expected one of {', '.join(sorted(PROVIDERS))}, got {brief(name)}"
        raise ConfigError(msg)

    return PROVIDERS[name]
