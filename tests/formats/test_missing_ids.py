"""
Calls and results without an id, as local servers write them and old logs hold them.
"""

import pytest

from unabridged import Memory, Repair, formats
from unabridged.errors import FormatError

ABSENT = {
    "missing": lambda key: {},
    "null": lambda key: {key: None},
    "empty": lambda key: {key: ""},
}
ASKED = {
    "openai_chat": {"role": "user", "content": "q"},
    "openai_responses": {"role": "user", "content": "q"},
    "anthropic": {"role": "user", "content": "q"},
    "bedrock": {"role": "user", "content": [{"text": "q"}]},
}


def chat_call(id_):
    """
    A call of Chat Completions.
    """
    call = {**id_("id"), "type": "function", "function": {"name": "now", "arguments": "{}"}}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


CALLS = {
    "openai_chat": chat_call,
    "openai_responses": lambda id_: {
        "type": "function_call",
        **id_("call_id"),
        "name": "now",
        "arguments": "{}",
    },
    "anthropic": lambda id_: {
        "role": "assistant",
        "content": [{"type": "tool_use", **id_("id"), "name": "now", "input": {}}],
    },
    "bedrock": lambda id_: {
        "role": "assistant",
        "content": [{"toolUse": {**id_("toolUseId"), "name": "now", "input": {}}}],
    },
}
RESULTS = {
    "openai_chat": lambda id_: {"role": "tool", **id_("tool_call_id"), "content": "noon"},
    "openai_responses": lambda id_: {
        "type": "function_call_output",
        **id_("call_id"),
        "output": "noon",
    },
    "anthropic": lambda id_: {
        "role": "user",
        "content": [
            {
                "type": "tool_result",
                **id_("tool_use_id"),
                "content": "noon",
                "cache_control": {"type": "ephemeral"},
            }
        ],
    },
    "bedrock": lambda id_: {
        "role": "user",
        "content": [{"toolResult": {**id_("toolUseId"), "content": [{"text": "noon"}]}}],
    },
}
NAMES = sorted(ASKED)


@pytest.mark.parametrize("how", sorted(ABSENT))
@pytest.mark.parametrize("name", NAMES)
class TestMissing:
    def test_comes_back_as_it_was(self, name, how):
        """
        A call, its result, and a result alone.
        """
        module, id_ = getattr(formats, name), ABSENT[how]
        call, result = CALLS[name](id_), RESULTS[name](id_)
        for turns in ([ASKED[name], call, result], [ASKED[name], result], [ASKED[name], call]):
            assert turns == module.dump(module.load(turns))

    def test_of_a_result_alone_is_an_orphan(self, name, how):
        """
        Which `problems` names, and which goes as words when it is mended.
        """
        module = getattr(formats, name)
        messages = module.load([ASKED[name], RESULTS[name](ABSENT[how])])

        assert "orphan result" in {p.rule for p in formats.problems(messages, name)}
        assert () == formats.problems(formats.mend(messages, name), name)
        assert "noon" in str(module.request(messages))

    @pytest.mark.parametrize("other", NAMES)
    def test_of_both_pairs_them_and_is_made_up(self, name, how, other):
        """
        Also for another API.
        """
        module = getattr(formats, name)
        id_ = ABSENT[how]
        messages = module.load([ASKED[name], CALLS[name](id_), RESULTS[name](id_)])
        sent = formats.mend(messages, other)
        (call,) = sent.messages[1].tool_calls
        (result,) = [part for message in sent.messages for part in message.tool_results]

        assert call.id == result.call_id != ""
        assert () == formats.problems(sent, other)
        assert {"bad id"} == {p.rule for p in formats.problems(messages, name)}

    def test_of_a_call_alone_is_closed_by_repair(self, name, how):
        """
        As that of any call.
        """
        memory = Memory(strategy=Repair())
        turns = [ASKED[name], CALLS[name](ABSENT[how]), ASKED[name]]
        memory.append(*getattr(formats, name).load(turns))
        mended = formats.mend(memory.context().view, name)

        assert () == formats.problems(mended, name)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("wrong", [5, ["c1"], {"a": 1}, True], ids=repr)
def test_ids_of_another_type_are_refused(name, wrong):
    """
    The text names the place.
    """
    with pytest.raises(FormatError, match="expected text, got "):
        getattr(formats, name).load([ASKED[name], CALLS[name](lambda key: {key: wrong})])
    if name != "openai_responses":  # there it is kept whole
        with pytest.raises(FormatError, match="expected text, got "):
            getattr(formats, name).load([RESULTS[name](lambda key: {key: wrong})])
