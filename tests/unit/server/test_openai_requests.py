"""What requests of OpenAI's protocols ask for, and which prompts of chat clients ask for no research."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

from assay.core.errors import UsageError
from assay.core.options import offered_options
from assay.core.run_options import RunOptions
from assay.server.openai.chat import help_answer
from assay.server.openai.requests import ChatRequest, ResponseRequest, chat_run, response_run
from assay.server.openai.text import ModelName
from assay.server.wire import decode_refusal

ANY = ModelName("auto")


def chat(*messages: tuple[str, Any], **more: Any) -> ChatRequest:
    found = [{"role": role, "content": content} for role, content in messages]
    return msgspec.convert({"model": "assay", "messages": found, **more}, ChatRequest)


def response(**body: Any) -> ResponseRequest:
    return msgspec.convert({"model": "assay", "input": "Why?", **body}, ResponseRequest)


def test_the_last_message_is_the_question_and_those_before_it_are_its_context() -> None:
    asked = chat_run(
        chat(
            ("system", "Be brief."),
            ("user", "I sail."),
            ("assistant", "Good."),
            ("user", [{"type": "text", "text": "Which tide?"}]),
        ),
        ANY,
    )
    assert asked.question == "Which tide?"
    assert asked.wanted["instructions"] == "Be brief."
    assert [(each.by, each.text) for each in asked.wanted["said"]] == [("user", "I sail."), ("assistant", "Good.")]
    assert asked.wanted["ask"] == asked.wanted["review_plan"] == "never"


def test_a_chat_goes_on_from_the_run_its_last_answer_names() -> None:
    foot = "Text.\n\n[Run abcdefghij: evidence and verdicts](http://here/api/v1/runs/abcdefghij/report?format=html)\n"
    asked = chat_run(chat(("user", "Why?"), ("assistant", foot), ("user", "And then?")), ANY)
    assert asked.named == "abcdefghij"
    assert len(asked.wanted["said"]) == 2, "for where there is no such run any more"


def test_a_response_goes_on_from_the_one_it_names_else_from_the_message_of_its_input() -> None:
    assert response_run(response(previous_response_id="resp_abcdefghij"), ANY).wanted["continues"] == "abcdefghij"
    found = [
        {"role": "user", "content": "Why?"},
        {
            "type": "message",
            "id": "msg_abcdefghij",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "So."}],
        },
        {"role": "user", "content": "And then?"},
    ]
    assert response_run(response(input=found), ANY).named == "abcdefghij"


@pytest.mark.parametrize(
    ("tools", "web", "sources"),
    [
        (None, None, None),
        ([{"type": "web_search"}], True, None),
        ([{"type": "web_search_preview"}], True, None),
        ([{"type": "web_search", "external_web_access": False}], False, None),
        ([{"type": "file_search", "vector_store_ids": ["a", "@b"]}], False, ["@a", "@b"]),
        ([{"type": "file_search", "vector_store_ids": ["a"]}, {"type": "web_search"}], True, ["@a"]),
        ([{"type": "function", "name": "f"}, {"type": "code_interpreter"}], None, None),
    ],
)
def test_tools_say_where_to_look(tools: Any, web: bool | None, sources: list[str] | None) -> None:
    asked = response_run(response(tools=tools), ANY)
    assert (asked.wanted.get("web"), asked.sources) == (web, sources)


def test_filters_of_the_web_search() -> None:
    tool = {
        "type": "web_search",
        "filters": {"allowed_domains": ["gov.uk"], "blocked_domains": ["x.org"]},
        "user_location": {"type": "approximate", "country": "GB"},
    }
    wanted = response_run(response(tools=[tool]), ANY).wanted
    assert (wanted["domains"], wanted["not_domains"], wanted["country"]) == (["gov.uk"], ["x.org"], "gb")


def test_depths_come_from_the_model_else_from_the_effort() -> None:
    efforts = {"effort": "high"}
    assert response_run(response(reasoning=efforts), ANY).wanted["depth"] == "extended"
    assert response_run(response(reasoning=efforts), ModelName("light")).wanted["depth"] == "light"
    assert response_run(response(reasoning=efforts, assay={"depth": "medium"}), ANY).wanted["depth"] == "medium"
    assert response_run(response(max_tool_calls=5), ANY).wanted["max_searches"] == 3
    assert response_run(response(max_tool_calls=5), ANY).wanted["max_pages"] == 2


@pytest.mark.parametrize(
    "body",
    [
        {"tool_choice": "required"},
        {"tool_choice": {"type": "function", "name": "f"}},
        {"tools": [{"type": "mcp", "server_url": "https://x"}]},
        {"tools": [{"type": "file_search", "vector_store_ids": ["a"], "filters": {"type": "eq", "key": "k"}}]},
        {"reasoning": {"effort": "extreme"}},
        {"input": []},
        {"input": [{"role": "user", "content": [{"type": "input_image", "image_url": "data:"}]}]},
        {"previous_response_id": "nonsense"},
    ],
)
def test_what_cannot_be_done_is_refused(body: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        response_run(response(**body), ANY)


def test_metadata_and_what_was_asked_become_labels() -> None:
    labels = response_run(response(metadata={"team": "ports"}, background=True, include=["a", "b"]), ANY).wanted[
        "labels"
    ]
    assert labels == {
        "team": "ports",
        "openai.model": "assay",
        "openai.background": "yes",
        "openai.include": "a,b",
    }


OPEN_WEBUI = """### Task:
Suggest 3-5 relevant follow-up questions or prompts that the user might naturally ask next in this conversation.
### Output:
JSON format: { "follow_ups": ["Question 1?", "Question 2?", "Question 3?"] }
### Chat History:
<chat_history>
USER: How does the tide work?
ASSISTANT: The moon.
</chat_history>"""
COMPLETION = """### Task:
You are an autocompletion system. Continue the text in `<text>` based on the **completion type** in `<type>`.
### **Output Rules**:
- Respond only in JSON format: `{ "text": "<your_completion>" }`."""
LIBRECHAT = """Provide a concise, 5-word-or-less title for the conversation, using its same language, with no
punctuation. Only return the title itself.

Conversation:
User: How does the tide work at Brest?
AI: The moon."""
NAMING = (
    "You are an assistant skilled in conversation. You need to summarize the user's conversation into a title within "
    "10 words. Do not use punctuation marks or other special symbols"
)


@pytest.mark.parametrize(
    ("messages", "answer"),
    [
        ([("user", OPEN_WEBUI)], '{"follow_ups":[]}'),
        ([("user", COMPLETION)], '{"text":""}'),
        ([("user", LIBRECHAT)], "How does the tide work at"),
        (
            [("system", NAMING), ("user", "user: How does the tide work?\nassistant: The moon.")],
            "How does the tide work",
        ),
    ],
)
def test_helpers_are_answered_without_research(messages: list[tuple[str, str]], answer: str) -> None:
    found = help_answer(chat(*messages))
    assert found is not None
    assert found.text == answer


def test_a_form_by_schema_is_filled() -> None:
    schema = {"properties": {"language": {"type": "string"}, "title": {"type": "string"}}}
    form = {"type": "json_schema", "json_schema": {"name": "t", "schema": schema}}
    found = help_answer(chat(("user", LIBRECHAT), response_format=form))
    assert found is not None
    assert found.text == '{"language":"","title":"How does the tide work at"}'


@pytest.mark.parametrize("properties", [["title"], "title", None])
def test_a_form_whose_schema_names_no_fields_is_the_title(properties: object) -> None:
    form = {"type": "json_schema", "json_schema": {"name": "t", "schema": {"properties": properties}}}
    found = help_answer(chat(("user", LIBRECHAT), response_format=form))
    assert found is not None
    assert found.text == "How does the tide work at"


@pytest.mark.parametrize(
    "question",
    [
        "How does the tide work?",
        "Which title did the duke of Brest hold in 1532?",
        "What is the title of the shortest novel with a chat between two ships?",
        "What tasks has a harbour master?",
        "Compare the conversation analysis of Sacks with that of Schegloff in about 900 words.",
    ],
)
def test_questions_are_no_helpers(question: str) -> None:
    assert help_answer(chat(("user", question))) is None


OPTIONS: dict[str, Any] = {
    "depth": "light",
    "mode": "web_search",
    "strategy": "reflective",
    "web": True,
    "domains": ["gov.uk"],
    "not_domains": ["spam.example"],
    "since": "2024",
    "until": "2025",
    "language": "de",
    "length": 300,
    "max_usd": 0.5,
    "max_time": 90.0,
    "max_tokens": 9_000,
    "thread": "tides",
}


def test_each_option_of_the_field_assay_reaches_the_run() -> None:
    assert OPTIONS.keys() == offered_options(RunOptions, "openai").keys()
    wanted = response_run(response(assay=OPTIONS), ANY).wanted
    assert {name: list(value) if isinstance(value, tuple) else value for name, value in wanted.items()} == {
        **OPTIONS,
        "ask": "never",
        "review_plan": "never",
        "labels": {"openai.model": "assay"},
    }


def test_the_page_names_the_options_of_the_field_assay() -> None:
    page = (Path(__file__).parents[3] / "docs" / "openai.md").read_text(encoding="utf-8")
    listed = page.partition("## Options of a run")[2].partition("They mean")[0].partition("cover:")[2]
    assert set(re.findall(r"`(\w+)`", listed)) == {*offered_options(RunOptions, "openai"), "collections"}


def test_a_misspelt_option_is_told_the_nearest() -> None:
    with pytest.raises(msgspec.ValidationError) as wrong:
        response(assay={"dept": "light"})
    found = decode_refusal(wrong.value, ResponseRequest, "the body")
    assert str(found) == "the body does not fit: Object contains unknown field `dept`; did you mean 'depth'?"


@pytest.mark.parametrize(
    "form",
    [{"type": "json_object"}, {"type": "json_schema"}, {"type": "json_schema", "json_schema": {"name": "n"}}],
)
def test_a_format_that_names_no_fields_is_refused_and_not_answered_in_prose(form: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="'json_schema'"):
        chat_run(chat(("user", "Why?"), response_format=form), ANY)
    with pytest.raises(UsageError, match="'json_schema'"):
        response_run(response(text={"format": form}), ANY)


def test_the_format_text_is_a_report() -> None:
    assert "schema" not in chat_run(chat(("user", "Why?"), response_format={"type": "text"}), ANY).wanted
    assert "schema" not in response_run(response(text={"format": {"type": "text"}}), ANY).wanted


def test_a_limit_of_calls_that_leaves_nothing_to_find_is_refused_in_the_words_of_the_request() -> None:
    with pytest.raises(UsageError, match=r"'max_tool_calls'.* at least 2"):
        response_run(response(max_tool_calls=1), ANY)
    assert response_run(response(max_tool_calls=2), ANY).wanted["max_pages"] == 1


@pytest.mark.parametrize("field", [{"conversation": "conv_1"}, {"conversation": {"id": "c"}}, {"prompt": {"id": "p"}}])
def test_a_context_that_is_not_stored_here_is_refused_and_not_left_out(field: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="'previous_response_id'"):
        response_run(response(**field), ANY)
    assert response_run(response(**dict.fromkeys(field)), ANY).question == "Why?"


@pytest.mark.parametrize("cap", [0, -1, 49])
@pytest.mark.parametrize("name", ["max_tokens", "max_completion_tokens"])
def test_a_limit_in_which_nothing_fits_starts_no_research(name: str, cap: int) -> None:
    assert help_answer(chat(("user", "Why?"), **{name: cap})) is not None
