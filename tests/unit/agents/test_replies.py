"""What models get wrong, read all the same."""

from __future__ import annotations

import json
import time

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.agents.replies import json_values, read_calls, read_ids, read_json, reply_defect, uncited_defect
from assay.core.messages import Reply, ToolCall

TOOLS = ("search", "open")
SEARCH = {"query": "tide"}


def call(id: str = "a", name: str = "search", malformed: str = "", **arguments: object) -> ToolCall:
    return ToolCall(id=id, name=name, arguments=dict(arguments), malformed=malformed)


def test_every_call_gets_an_id_of_its_own() -> None:
    mended = read_calls(Reply(calls=(call("a"), call("a"), call(""), call("a-1"), call("call-2"))), TOOLS)
    ids = [each.id for each in mended]
    assert len(set(ids)) == 5
    assert ids[0] == "a"


@given(st.lists(st.sampled_from(["", "a", "b", "a-1", "call-0"]), max_size=8))
def test_ids_are_unique_whatever_they_were_and_mending_is_stable(ids: list[str]) -> None:
    mended = read_calls(Reply(calls=tuple(call(id) for id in ids)), TOOLS)
    assert len({each.id for each in mended}) == len(ids)
    assert read_calls(Reply(calls=mended), TOOLS) == mended


@pytest.mark.parametrize(
    "malformed",
    [
        json.dumps(json.dumps(SEARCH)),
        f"```json\n{json.dumps(SEARCH)}\n```",
        f"arguments: {json.dumps(SEARCH)}",
        f"{json.dumps(SEARCH)[:-1]}, }}",
        f"{{ // what to look for\n{json.dumps(SEARCH)[1:]}",
        f"{json.dumps({'arguments': SEARCH})}</tool_call>",
        repr(SEARCH),
        json.dumps(SEARCH).replace('"', "”"),
    ],
    ids=[
        *("encoded twice", "in a fence", "after words", "a comma too many", "a comment", "in another object", "Python"),
        "typographic quotes",
    ],
)
def test_arguments_that_can_be_read_are_read(malformed: str) -> None:
    (mended,) = read_calls(Reply(calls=(call(malformed=malformed),)), TOOLS)
    assert (mended.arguments, mended.malformed) == (SEARCH, "")


def test_arguments_that_cannot_be_read_stay_malformed() -> None:
    (mended,) = read_calls(Reply(calls=(call(malformed='{"query": "ti'),)), TOOLS)
    assert mended.malformed == '{"query": "ti'


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "search", "arguments": {"query": "tide"}}',
        'I call it:\n```json\n{"name": "search", "parameters": {"query": "tide"}}\n```',
        '<tool_call>{"name": "search", "arguments": "{\\"query\\": \\"tide\\"}"}</tool_call>',
        '[{"function": {"name": "search", "arguments": {"query": "tide"}}}]',
        'Not {this}, but {"tool": "search", "args": {"query": "tide"}}.',
    ],
)
def test_calls_written_into_the_text_are_read_out_of_it(text: str) -> None:
    (mended,) = read_calls(Reply(text=text), TOOLS)
    assert (mended.name, mended.arguments) == ("search", SEARCH)
    assert mended.id


@pytest.mark.parametrize(
    "text", ["done", "", '{"name": "rm", "arguments": {}}', '{"name": "search", "arguments": 3}', "[1, 2]", "{{{"]
)
def test_other_text_is_no_call(text: str) -> None:
    assert read_calls(Reply(text=text), TOOLS) == ()


@pytest.mark.parametrize(
    "text",
    [
        '<function=search>{"query": "tide"}</function>',
        '<|python_tag|><function=search>{"query": "tide"}',
        "<tool_call>\n<function=search>\n<parameter=query>\ntide\n</parameter>\n</function>\n</tool_call>",
        '<tool_call>\n{"name": "search", "arguments": {"query": "tide"}}\n</tool_call>',
        '<tool_call>\n{"name": "search", "arguments": {"query": "tide",},}\n</tool_call>',
        "<tool_call>search\n<arg_key>query</arg_key>\n<arg_value>tide</arg_value>\n</tool_call>",
        '<minimax:tool_call>\n<invoke name="search">\n<parameter name="query">tide</parameter>\n</invoke>',
        '[TOOL_CALLS]search[ARGS]{"query": "tide"}',
        '<｜tool▁call▁begin｜>function<｜tool▁sep｜>search\n```json\n{"query": "tide"}\n```<｜tool▁call▁end｜>',
        '<|tool_call_begin|>functions.search:0<|tool_call_argument_begin|>{"query": "tide"}<|tool_call_end|>',
        'Thought: I look for it.\nAction: search\nAction Input: {"query": "tide"}',
        '{"action": "search", "action_input": {"query": "tide"}}',
        "```tool_code\nsearch(query='tide')\n```",
        '[search(query="tide")]',
        'I have [S1.1] and [S1.2] but not {yet}: {"name": "search", "parameters": {"query": "tide"}}',
    ],
)
def test_calls_in_the_forms_of_models_are_read(text: str) -> None:
    (read,) = read_calls(Reply(text=text), ["search"])
    assert (read.name, read.arguments) == ("search", {"query": "tide"})


@pytest.mark.parametrize(
    "text",
    ["<function=done>\n</function>", "<tool_call>done\n</tool_call>", "[done()]", '<invoke name="done"></invoke>'],
)
def test_a_call_without_arguments_is_one(text: str) -> None:
    (read,) = read_calls(Reply(text=text), ["done"])
    assert (read.name, read.arguments) == ("done", {})


def test_a_call_beside_a_name_and_a_fence_is_read_as_it_is() -> None:
    written = '{"name": "search", "arguments": {"query": "tide"}}'
    for text in (
        f"I call search ```json\n{written}\n```",
        f"{written}\n\nNow <b>{{so}}",
        f"search <b>{{no}}</b> {written}",
    ):
        (read,) = read_calls(Reply(text=text), ["search"])
        assert read.arguments == {"query": "tide"}
    assert read_calls(Reply(text="search<a>{" * 20_000), ["search"]) == ()


@pytest.mark.parametrize(
    "text", ["search(1)", "search(query=print)", "a search(query=1)", "search(query='\\ud800')", "{'a': ...}", "{[}]"]
)
def test_what_only_looks_like_python_is_no_call(text: str) -> None:
    assert read_calls(Reply(text=text), ["search"]) == ()


def test_halves_of_pairs_are_not_read() -> None:
    assert read_json('{"a": "\\ud800",}') is None


def test_of_several_objects_the_last_is_meant() -> None:
    text = (
        'First I thought of {"steps": []}, see [1] and [S1.1]. ' + "[S1.2] {no} " * 50 + '{"steps": [{"title": "a"}]}'
    )
    assert read_json(text) == {"steps": [{"title": "a"}]}


def test_real_calls_come_before_written_ones() -> None:
    reply = Reply(text='{"name": "open", "arguments": {}}', calls=(call(query="moon"),))
    assert [each.name for each in read_calls(reply, TOOLS)] == ["search"]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-1000, 1000) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
OBJECT = st.dictionaries(st.text(max_size=5), JSON, max_size=4)


@given(OBJECT, st.sampled_from(["", "Here it is: ", "Plan\n\n"]), st.sampled_from(["", "\n\nHope this helps!", " ."]))
def test_an_object_is_found_between_words(value: dict[str, object], before: str, after: str) -> None:
    assert read_json(before + json.dumps(value) + after) == value


@given(OBJECT)
def test_an_object_is_found_in_a_fence(value: dict[str, object]) -> None:
    fenced = f"Sure {{so}}:\n```json\n{json.dumps(value, indent=1)}\n```\n{{nothing}}"
    assert next(json_values(fenced)) == value


@given(st.text('{}[]":,\\ab1 `\n', max_size=60))
def test_reading_never_fails(text: str) -> None:
    list(json_values(text))
    read_json(text)
    read_calls(Reply(text=text), TOOLS)


def test_deep_nesting_is_no_crash() -> None:
    assert read_json("[" * 100_000) is None
    assert read_json("{" + '"a":[' * 50_000) is None


def test_what_cannot_be_used() -> None:
    good = Reply(text="The tide rises.")
    assert reply_defect(good) == ""
    assert reply_defect(Reply(text=" \n"))
    assert "cut off" in reply_defect(msgspec.structs.replace(good, stop="length"))
    assert "repeated" in reply_defect(Reply(text="The tide rises at Brest and it falls. " * 6))


def test_a_fence_which_is_never_closed_takes_no_time() -> None:
    begun = time.process_time()
    assert read_json("```" + "\n" * 50_000 + "x") is None
    assert time.process_time() - begun < 5


@pytest.mark.parametrize(
    ("report", "usable"),
    [
        ("None of the documents says how far the tide rises at Brest.", True),
        ("The tide at Brest rises twelve metres, as sailors know.", False),
        ("The tide at Brest rises twelve metres. No document says so.", False),
        ("I cannot help with that.", False),
    ],
)
def test_a_report_without_citations_may_only_say_what_was_not_found(report: str, usable: bool) -> None:
    findings = ["The pilots of Brest keep a table of the moon; their office is open on Mondays."]
    assert (uncited_defect(report, "How far does the tide rise at Brest?", findings) == "") is usable


@pytest.mark.parametrize(
    ("written", "ids"),
    [
        (["S1.1", "[S1.2]"], ("S1.1", "S1.2")),
        ("参见S1.1、S2.3。", ("S1.1", "S2.3")),
        ("S1.1S2.3", ("S1.1S2.3",)),
        ("[S1.1, S2.3]", ("S1.1", "S2.3")),
        (["`S1.1`", "**S2.3**", "(S4)", "passage S5.6"], ("S1.1", "S2.3", "S4", "S5.6")),
        (["the first"], ("the first",)),
        ([None, 3], ()),
        (None, ()),
    ],
)
def test_ids_are_read_whatever_is_around_them(written: object, ids: tuple[str, ...]) -> None:
    assert read_ids(written) == ids
