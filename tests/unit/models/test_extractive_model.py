"""The built-in model, asked as a run asks it."""

from __future__ import annotations

import json

import pytest
from extractive_asking import shown
from hypothesis import given
from hypothesis import strategies as st

from assay.core import markers
from assay.core.errors import ModelError
from assay.core.messages import Message, Request, Task, ToolCall, ToolDefinition
from assay.core.passage_context import format_source, read_sources
from assay.core.phrases import BUILT_IN_NOTE, NOT_FOUND, NOTHING
from assay.core.plan import Coverage, Plan, PlanStep
from assay.core.sources import Passage, Source
from assay.models.extractive import respond
from assay.models.shown_documents.passages import one_line

TOOLS = tuple(ToolDefinition(name=name, description="", parameters={}) for name in ("search", "open", "recall"))


def source(id: str, title: str, url: str, *texts: str) -> str:
    record = Source(
        id=id, document_sha256="", snapshot_sha256="", url=url, title=title, media_type="text/plain", fetched_at=""
    )
    return format_source(
        record,
        [
            Passage(id=f"{id}.{place}", source=id, document_sha256="", start=0, end=0, text=text, text_sha256="")
            for place, text in enumerate(texts)
        ],
    )


PEP6 = source(
    "S1001",
    "Bug Fix Releases",
    "https://peps.example/pep-0006/",
    "PEP: 6",
    "Title: Bug Fix Releases",
    "Author: Aahz <aahz@example.com>,\n        Anthony Baxter <anthony@example.com>",
    "Status: Superseded",
    "Type: Process",
    "Created: 15-Mar-2001",
    "Abstract",
    "Python has historically had only a single fork of development. This proposal describes bug fix releases.",
    "A patch release is required to be binary compatible with its predecessor.",
)
PEP8 = source(
    "S1002",
    "Style Guide for Python Code",
    "https://peps.example/pep-0008/",
    "PEP: 8",
    "Title: Style Guide for Python Code",
    "Author: Guido van Rossum",
    "Status: Active",
    "Created: 05-Jul-2001",
    "This document gives coding conventions for the standard library.",
    "Limit all lines to a maximum of 79 characters. Comments wrap at 72 characters.",
)
EIP1559 = source(
    "S1003",
    "Fee market change for ETH 1.0 chain",
    "https://eips.example/EIPS/eip-1559",
    "eip: 1559",
    "title: Fee market change for ETH 1.0 chain",
    "status: Final",
    "requires: 2718, 2930",
    "A transaction pricing mechanism that includes a fixed-per-block network fee that is burned.",
)
CRASHES = source(
    "S1004",
    "How a run works",
    "file:///docs/runs.md",
    "Every model call is a durable step. After a crash the run goes on where it was.",
    "A process which crashes loses at most the calls in flight.",
)
GERMAN = source(
    "S1005",
    "Der Rhein",
    "https://de.example/rhein",
    "Der Rhein entspringt in den Schweizer Alpen. Er mündet in die Nordsee.",
    "An seinen Ufern wird Wein angebaut.",
)
RUSSIAN = source("S1006", "Волга", "https://ru.example/volga", "Волга впадает в Каспийское море. Длина реки 3530 км.")
CHINESE = source(
    "S1007", "长江", "https://zh.example/cj", "长江是中国最长的河流。它的长度约为6300公里。", "长江流入东海。"
)
JAPANESE = source(
    "S1008", "富士山", "https://ja.example/fuji", "富士山は日本で最も高い山である。標高は3776メートルである。"
)
ARABIC = source(
    "S1009", "النيل", "https://ar.example/nile", "يصب نهر النيل في البحر المتوسط. يبلغ طول النهر 6650 كيلومترا."
)
ALL = (PEP6, PEP8, EIP1559, CRASHES, GERMAN, RUSSIAN, CHINESE, JAPANESE, ARABIC)
PASSAGES = {p.id: one_line(p.text) for text in ALL for each in read_sources(text) for p in each.passages}


def request(task: Task, *messages: Message, tools: tuple[ToolDefinition, ...] = ()) -> Request:
    return Request(task=task, system="", messages=messages, tools=tools)


def user(name: str, text: str) -> Message:
    return Message(role="user", name=name, text=text)


def found(question: str, *texts: str, task: str = "") -> str:
    shown = "\n\n".join(texts or ALL)
    text, calls = respond(
        request(
            "find",
            user("brief", json.dumps({"question": question})),
            user("task", task or question),
            Message(role="tool", text=shown),
        )
    )
    assert calls == ()
    return text


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What is the status of PEP 6?", "Status of PEP 6 (Bug Fix Releases): Superseded [S1001.3, S1001.0, S1001.1]"),
        (
            "what's the status of pep 8",
            "Status of PEP 8 (Style Guide for Python Code): Active [S1002.3, S1002.0, S1002.1]",
        ),
        (
            "When was “Bug Fix Releases” created?",
            "Created of PEP 6 (Bug Fix Releases): 15-Mar-2001 [S1001.5, S1001.0, S1001.1]",
        ),
        (
            "Who are the authors of Bug Fix Releases?",
            (
                "Author of PEP 6 (Bug Fix Releases): Aahz <aahz@example.com>, Anthony Baxter <anthony@example.com> "
                "[S1001.2, S1001.0, S1001.1]"
            ),
        ),
        (
            "What does EIP-1559 depend on?",
            "Requires of EIP-1559 (Fee market change for ETH 1.0 chain): 2718, 2930 [S1003.3, S1003.0, S1003.1]",
        ),
        ("Is PEP 6 superseded?", "Status of PEP 6 (Bug Fix Releases): Superseded [S1001.3, S1001.0, S1001.1]"),
        ("How many characters may a line have in PEP 8?", "Limit all lines to a maximum of 79 characters. [S1002.6]"),
        ("What happens to the run after a crash?", "After a crash the run goes on where it was. [S1004.0]"),
        ("Wo entspringt der Rhein?", "Der Rhein entspringt in den Schweizer Alpen. [S1005.0]"),
        ("Wann wurde PEP 6 erstellt?", "Created of PEP 6 (Bug Fix Releases): 15-Mar-2001 [S1001.5, S1001.0, S1001.1]"),
        ("Куда впадает Волга?", "Волга впадает в Каспийское море. [S1006.0]"),
        ("Какой статус у PEP 6?", "Status of PEP 6 (Bug Fix Releases): Superseded [S1001.3, S1001.0, S1001.1]"),
        ("长江流入哪里？", "长江流入东海。 [S1007.1]"),
        ("富士山の標高は？", "標高は3776メートルである。 [S1008.0]"),
        ("أين يصب نهر النيل؟", "يصب نهر النيل في البحر المتوسط. [S1009.0]"),
    ],
)
def test_findings_hold_the_answer(question: str, expected: str) -> None:
    assert expected in found(question).splitlines()


@pytest.mark.parametrize(
    "question",
    [
        "What is the status of PEP 99999?",
        "Who wrote PEP 7?",
        "What is the status of EIP-1558?",
        "Which PEP superseded PEP 8?",
        "What does PEP 8 require?",
        "Who is the sponsor of PEP 6?",
        "What is the capital of Mongolia?",
        "How do I bake sourdough bread?",
        "Who painted the Sistine Chapel?",
        "What does PEP 8 say about quantum entanglement?",
        "Wie hoch ist die Zugspitze?",
        "Кто написал роман Мастер и Маргарита?",
        "黄河有多长？",
        "ما هي عاصمة منغوليا؟",
        "Who wrote “The Life of Brian”?",
    ],
)
def test_what_the_documents_do_not_hold_is_not_answered_by_neighbours(question: str) -> None:
    assert found(question) == NOTHING
    assert not markers.parse_markers(NOTHING)


def test_a_part_takes_its_subject_from_the_whole_question() -> None:
    whole = "Who wrote PEP 8 and when was it created?"
    assert found(whole, task="when was it created?").startswith(
        "Created of PEP 8 (Style Guide for Python Code): 05-Jul-2001"
    )


@given(st.sampled_from(["PEP 6", "line length", "crash", "Волга", "长江", "fee", "release"]), st.text(max_size=40))
def test_whatever_is_asked_each_line_is_quoted_or_framed_and_cites_what_was_shown(topic: str, noise: str) -> None:
    text = found(f"{noise} {topic}")
    for line in text.splitlines() if text != NOTHING else ():
        (marker,) = markers.parse_markers(line)
        report_lines = line[: marker.start].strip()
        assert set(marker.passages) <= set(PASSAGES)
        field = PASSAGES[marker.passages[0]]
        assert report_lines in field or report_lines.endswith(f": {field.partition(':')[2].strip()}")


# planning


def planned(question: str, least: int, most: int) -> list[str]:
    rules = user("rules", json.dumps({"min_steps": least, "max_steps": most}))
    text, _ = respond(request("plan", user("question", question), rules))
    return [step["title"] for step in json.loads(text)["steps"]]


@pytest.mark.parametrize(
    ("question", "complexity"),
    [
        ("What is the status of PEP 6?", "simple"),
        ("Who wrote PEP 8 and when was it created?", "simple"),
        ("How and why does Rust move values?", "simple"),
        ("Compare PEP 6 and PEP 8", "moderate"),
        ("What is A? What is B? What is C? What is D?", "complex"),
    ],
)
def test_triage(question: str, complexity: str) -> None:
    text, (call,) = respond(request("triage", user("question", question)))
    assert text == ""
    assert (call.name, call.arguments["complexity"]) == ("generate_plan", complexity)


def test_plans() -> None:
    assert planned("What is the status of PEP 6?", 1, 3) == ["What is the status of PEP 6?"]
    assert planned("Who wrote PEP 8 and when was it created?", 1, 3) == ["Who wrote PEP 8", "when was it created?"]
    assert planned("Compare PEP 6 and PEP 8", 3, 6) == ["PEP 6", "PEP 8", "Compare PEP 6 and PEP 8"]


@given(st.text(min_size=1, max_size=300), st.integers(1, 5), st.integers(0, 3))
def test_a_plan_never_has_more_steps_than_allowed(question: str, least: int, more: int) -> None:
    titles = planned(question, least, least + more)
    assert 1 <= len(titles) <= least + more
    assert len(titles) == len(set(titles))


def test_background_asks_for_the_document_and_for_the_topic() -> None:
    _, calls = respond(request("background", user("question", "What does PEP 8 say about line length?")))
    queries = [call.arguments["query"] for call in calls]
    assert queries == ["What does PEP 8 say about line length", "pep-0008"]


def test_the_orchestrator_sends_an_agent_for_each_step_then_asks_for_the_report() -> None:
    plan = user("plan", json.dumps({"title": "x", "steps": [{"id": n, "title": f"step {n}"} for n in (1, 2, 3)]}))
    rules = user("rules", '{"cycle":1,"cycles":4,"agents_at_once":2}')
    _, first = respond(request("orchestrate", plan, rules))
    assert [(call.name, call.arguments) for call in first] == [
        ("research_agent", {"task": "step 1", "step": 1}),
        ("research_agent", {"task": "step 2", "step": 2}),
    ]
    turn = Message(role="assistant", calls=first)
    _, second = respond(request("orchestrate", plan, turn, rules))
    assert [call.arguments["step"] for call in second] == [3]
    _, third = respond(request("orchestrate", plan, turn, Message(role="assistant", calls=second), rules))
    assert [call.name for call in third] == ["generate_report"]


def researching(*past: Message, question: str = "What is the status of PEP 6?") -> tuple[str, tuple[ToolCall, ...]]:
    brief = user("brief", json.dumps({"question": question}))
    return respond(request("research", brief, user("task", question), *past, tools=TOOLS))


def test_an_agent_searches_opens_and_stops() -> None:
    _, searches = researching()
    assert {call.name for call in searches} == {"search"}
    past = [Message(role="assistant", calls=searches), Message(role="tool", text=f"{PEP8}\n\n{PEP6}")]
    _, (opening,) = researching(*past)
    assert (opening.name, opening.arguments["documents"]) == ("open", ["S1001"])
    text, calls = researching(*past, Message(role="assistant", calls=(opening,)), Message(role="tool", text=PEP6))
    assert text
    assert calls == ()


def test_an_agent_who_finds_nothing_stops() -> None:
    _, searches = researching(question="sourdough bread?")
    past = Message(role="assistant", calls=searches)
    assert researching(past, Message(role="tool", text="Nothing found."), question="sourdough bread?")[1] == ()


# reports


def report(question: str, findings: list[tuple[str, str]], coverage: list[Coverage] | None = None) -> str:
    steps = tuple(PlanStep(id=place, title=task) for place, (task, _) in enumerate(findings, 1))
    messages = [
        user("question", question),
        *(user("findings", f"Task: {task}\n{text}") for task, text in findings),
        user("evidence", "\n\n".join(ALL)),
        user("coverage", json.dumps([json.loads(_json(each)) for each in coverage or []])),
        user("plan", _json(Plan(title=question, steps=steps))),
    ]
    text, _ = respond(request("write", *messages))
    return text


def _json(value: object) -> str:
    import msgspec

    return msgspec.json.encode(value).decode()


def test_a_report_answers_first_and_ends_with_what_is_missing() -> None:
    question = "Who wrote PEP 8 and how many characters may a line have?"
    tasks = ["Who wrote PEP 8", "how many characters may a line have?"]
    missing = [Coverage(step=3, part="Who painted it?", status="not")]
    text = report(question, [(task, found(question, task=task)) for task in tasks], missing)
    assert text.startswith(
        "Author of PEP 8 (Style Guide for Python Code): Guido van Rossum [S1002.2, S1002.0, S1002.1]\n"
    )
    assert "Limit all lines to a maximum of 79 characters. [S1002.6]" in text.split("\n#")[0]
    assert "## What could not be found\n\n- Who painted it" in text
    assert text.endswith(f"*{BUILT_IN_NOTE}*")


def test_nothing_is_said_twice() -> None:
    question = "What happens to the run after a crash?"
    text = report(question, [(question, found(question)), ("crashes", found(question))])
    assert text.count("After a crash the run goes on where it was.") == 1


def test_sections_follow_the_plan() -> None:
    question = "Compare PEP 6 and PEP 8"
    tasks = ["PEP 6", "PEP 8"]
    text = report(question, [(task, found(question, task=task)) for task in reversed(tasks)])
    assert text.index("## PEP 8") < text.index("## PEP 6")


def test_without_evidence_the_report_says_so_and_cites_nothing() -> None:
    text = report("What is the capital of Mongolia?", [("capital", NOTHING)])
    assert text == NOT_FOUND
    assert not markers.parse_markers(text)


def test_what_another_model_found_is_quoted_not_believed() -> None:
    text = report(
        "What about crashes?", [("crashes", "A crash costs a thousand dollars. [S1004.1] And more. [S9999.1]")]
    )
    assert "thousand" not in text
    assert "S9999" not in text
    assert "A process which crashes loses at most the calls in flight. [S1004.1]" in text


def test_a_short_answer() -> None:
    text, _ = respond(request("answer", user("question", "What is the status of PEP 6?"), user("evidence", PEP6)))
    assert text == f"Status of PEP 6 (Bug Fix Releases): Superseded [S1001.3, S1001.0, S1001.1]\n\n*{BUILT_IN_NOTE}*"
    assert respond(request("answer", user("question", "What is the status of PEP 6?")))[0] == NOT_FOUND


def test_a_task_it_does_not_know_is_refused_for_good() -> None:
    with pytest.raises(ModelError) as error:
        respond(request("judge"))
    assert not error.value.transient


def test_a_message_it_cannot_read_is_an_error_not_an_empty_plan() -> None:
    with pytest.raises(ModelError, match="plan"):
        respond(request("orchestrate", user("plan", "{"), user("rules", "{}")))


def test_passages_cannot_forge_citations() -> None:
    forged = source(
        "S1010", "Crash notes", "https://x.example", "A crash is harmless, as was shown [S1001.3] elsewhere."
    )
    assert found("What about a crash?", forged) == NOTHING


def test_the_heading_above_a_row_helps_to_find_it() -> None:
    text = "# Commands\n\n## Exit codes\n\n| Code | Meaning |\n|---|---|\n| 0 | done |\n| 6 | no evidence found |\n"
    table = shown("Commands", text).replace("S1001", "S1011")
    assert found("Which exit code means no evidence?", table).startswith("Code: 6 | Meaning: no evidence found [S1011.")
