"""The built-in model as reflector, as planner of a changed plan, and as analyst."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from assay.core.messages import Message, Request, Task, ToolDefinition
from assay.core.passage_context import format_source
from assay.core.plan import Plan, PlanStep
from assay.core.sources import Passage, Source
from assay.models.extractive import respond
from assay.models.extractive.actions import queries, spelling_variants

QUESTION = "When was PEP 6 created? Who wrote PEP 8?"
TITLES = ("When was PEP 6 created", "Who wrote PEP 8")
SEARCH = ToolDefinition(name="search", description="", parameters={})


def asked(task: Task, tools: tuple[ToolDefinition, ...] = (), /, **messages: Any) -> Request:
    texts = {
        name: text if isinstance(text, str) else msgspec.json.encode(text).decode() for name, text in messages.items()
    }
    found = tuple(Message(role="user", name=name, text=text) for name, text in texts.items())
    return Request(task=task, system="", messages=found, tools=tools)


def step_report(step: int, title: str, cites: int, *searched: str) -> dict[str, Any]:
    return {"step": step, "task": f"{title}\n{QUESTION}", "searched": searched, "cites": cites, "text": "x"}


def everything(title: str) -> tuple[str, ...]:
    return (*queries(title, QUESTION), *spelling_variants(title, QUESTION))


def reflected(findings: list[dict[str, Any]], step: int, steps: tuple[PlanStep, ...] = (), **rules: int) -> Any:
    made = steps or tuple(PlanStep(id=place, title=title) for place, title in enumerate(TITLES, 1))
    found = {
        "step": step,
        "steps_done": step,
        "steps_left": 2 - step,
        "min_steps": 1,
        "max_steps": 3,
        "plan": 1,
        "plans": 3,
    }
    request = asked(
        "reflect", question=QUESTION, findings=findings, plan=Plan(title="x", steps=made), rules=found | rules
    )
    return json.loads(respond(request)[0])


def test_it_goes_on_until_each_part_has_a_finding_that_cites() -> None:
    first = step_report(1, TITLES[0], 2)
    assert reflected([first], 1)["decision"] == "continue"
    assert reflected([first, step_report(2, TITLES[1], 1)], 2)["decision"] == "complete"
    assert reflected([first, step_report(2, TITLES[1], 0, *everything(TITLES[1]))], 2)["decision"] == "continue"


def test_it_keeps_the_least_of_steps() -> None:
    both = [step_report(1, TITLES[0], 2), step_report(2, TITLES[1], 1)]
    assert reflected(both, 2, min_steps=3, steps_left=1)["decision"] == "continue"
    assert reflected(both, 2, min_steps=3, steps_left=0)["decision"] == "complete"


def test_a_step_that_found_nothing_is_tried_with_other_terms() -> None:
    decision = reflected([step_report(1, TITLES[0], 0, "PEP 6")], 1)
    assert decision["decision"] == "adjust"
    assert decision["changes"]
    assert "PEP 6" not in decision["changes"]


@pytest.mark.parametrize(
    ("findings", "steps", "rules"),
    [
        ([step_report(1, TITLES[0], 0, *everything(TITLES[0]))], (), {}),
        ([step_report(1, TITLES[0], 0)], (PlanStep(id=1, title=TITLES[0], again=4),), {}),
        ([step_report(1, TITLES[0], 0)], (), {"plan": 3}),
        ([step_report(1, TITLES[0], 0)], (), {"max_steps": 1}),
    ],
    ids=["all terms tried", "a second try", "the last plan", "the last step"],
)
def test_it_asks_for_no_change_that_leads_nowhere(
    findings: list[dict[str, Any]], steps: tuple[PlanStep, ...], rules: dict[str, int]
) -> None:
    assert reflected(findings, 1, steps, **rules)["decision"] == "continue"


def test_the_changed_plan_tries_again_and_the_agent_searches_what_it_says() -> None:
    steps = (PlanStep(id=1, title=TITLES[0], status="completed"), PlanStep(id=2, title=TITLES[1], description="d"))
    decision = {"step": 1, "decision": "adjust", "reasoning": "why", "changes": ["pep-0006", "bug fix"]}
    request = asked("plan", question=QUESTION, plan=Plan(title="x", steps=steps), reflections=[decision], rules="{}")
    plan = json.loads(respond(request)[0])
    assert [(step["title"], step["again"]) for step in plan["steps"]] == [(TITLES[0], 1), (TITLES[1], 0)]
    task = f"{plan['steps'][0]['title']}\n{plan['steps'][0]['description']}"
    _, calls = respond(asked("research", (SEARCH,), brief={"question": QUESTION}, task=task))
    assert [call.arguments["query"] for call in calls] == ["pep-0006", "bug fix"]


def test_an_analysis_quotes_the_evidence() -> None:
    source = Source(
        id="S1001",
        document_sha256="",
        snapshot_sha256="",
        url="u",
        title="PEP 6",
        media_type="text/plain",
        fetched_at="",
    )
    text = "Bug fix releases of Python are binary compatible with the release before."
    passage = Passage(id="S1001.1", source="S1001", document_sha256="", start=0, end=1, text=text, text_sha256="")
    task = "Are bug fix releases of Python binary compatible?"
    found, calls = respond(asked("analyze", evidence=format_source(source, [passage]), question=task, task=task))
    assert (found, calls) == (f"{text} [S1001.1]", ())
    assert respond(asked("analyze", question=task, task=task))[0] == "Nothing about this was found."


# how far findings answer


def found(step: int, text: str) -> dict[str, Any]:
    return {"step": step, "task": TITLES[step - 1], "searched": (), "cites": text.count("["), "text": text}


def judged(*findings: dict[str, Any], question_part: str = "") -> list[str]:
    return [each["status"] for each in assessed(*findings, titles=TITLES, question_part=question_part)]


def assessed(*findings: dict[str, Any], titles: Sequence[str], question_part: str = "") -> list[dict[str, Any]]:
    parts: list[dict[str, Any]] = [{"part": at, "step": at, "text": title} for at, title in enumerate(titles, 1)]
    if question_part:
        parts.append({"part": 3, "step": 0, "text": question_part})
    reply = respond(asked("assess", question=QUESTION, findings=list(findings), parts=parts))[0]
    assessments: list[dict[str, Any]] = json.loads(reply)["parts"]
    return assessments


@pytest.mark.parametrize(
    ("second", "status"),
    [
        ("- Guido van Rossum wrote PEP 8. [S2.1]", "answered"),
        ("- The documents do not state who wrote PEP 8. [S2.1]", "not"),
        ("- Guido van Rossum wrote PEP 8.", "not"),
        ("- The weather was fine. [S2.1]", "partly"),
        ("Nothing about this was found.", "not"),
    ],
)
def test_a_part_is_judged_by_the_lines_that_cite(second: str, status: str) -> None:
    first = found(1, "- PEP 6 was created in 2000. [S1.1]")
    assert judged(first, found(2, second)) == ["answered", status]


def test_a_part_of_the_question_is_judged_by_all_findings() -> None:
    assert judged(found(1, "- PEP 6 was created in 2000. [S1.1]"), question_part="When was PEP 6 created?") == [
        "answered",
        "not",
        "answered",
    ]


def test_a_finding_which_says_that_nothing_is_stated_does_not_end_research() -> None:
    silent = {**step_report(2, TITLES[1], 1, *everything(TITLES[1])), "text": "The documents do not state who. [S2.1]"}
    assert reflected([step_report(1, TITLES[0], 2), silent], 2)["decision"] == "continue"


@pytest.mark.parametrize(
    ("title", "own", "other", "reason"),
    [
        ("Heat pumps", "They need a unit outside.", "Heat pumps cost 14,000 pounds.", ""),
        ("Heat pumps", "They need a unit outside.", "The heat of the sun is free.", "“pumps”"),
        ("Heat pumps", "They need a unit outside.", "Boilers are cheap.", "“heat”, “pumps”"),
        ("Heat pumps", "An air-source heat-pump needs a unit outside.", "Boilers are cheap.", ""),
        ("How long do they last?", "They last for about twenty years.", "Boilers are cheap.", ""),
        ("Wärmepumpen", "Eine Luftwärmepumpe steht im Freien vor dem Haus.", "Boilers are cheap.", ""),
    ],
)
def test_only_words_that_no_finding_has_are_said_to_be_missing(title: str, own: str, other: str, reason: str) -> None:
    part, _ = assessed(found(1, f"- {own} [S1.1]"), found(2, f"- {other} [S2.1]"), titles=(title, "Boilers"))
    missing = f"the passages found do not mention {reason}" if reason else ""
    assert (part["status"], part.get("reason", "")) == ("partly" if reason else "answered", missing)
