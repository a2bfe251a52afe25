"""What prompts say of what is sent with them, held against the requests of whole runs; and how they are written."""

from __future__ import annotations

import re

import generate_prompts
import pytest
from research import ONE_STEP, ROSE, TIDE, Sea, first_agent, planned, report_wanted, sends

from assay import agents, phases, verify
from assay.core.brief import Section
from assay.core.messages import MESSAGE_NAMES, Request
from assay.models.script import says
from assay.run.prompt_files import prompt

ALL = sorted({*agents.prompts(), *phases.prompts(), *verify.prompts()})
ADDED = ("phases.think", "phases.explore")
"""Added to another prompt, which has the inputs and the example."""
WRITTEN = says(ROSE, task="write")
EXPLAINED = {"note", "report_findings"}
"""Messages which say themselves what they are."""
TAG = re.compile(r"`<(\w+)>`")


def prompt_text(name: str) -> str:
    package, _, short = name.partition(".")
    return prompt(f"assay.{package}", short)


def names(request: Request) -> set[str]:
    return {message.name for message in request.messages if message.role == "user" and message.name}


async def test_a_prompt_names_every_message_that_is_sent_with_it() -> None:
    wishes = {"instructions": "For sailors.", "template": (Section(level=2, title="Tide"),)}
    sent = [*await generate_prompts.requests(), *await generate_prompts.requests(**wishes)]
    assert {request.task for request in sent} >= {"triage", "plan", "research", "find", "write", "judge", "revise"}
    for request in sent:
        never = {"template"} if request.user_texts("fields") else set()  # no brief has both
        unsaid = names(request) - set(TAG.findall(request.system)) - never
        assert unsaid <= EXPLAINED, (request.task, unsaid)


async def test_a_prompt_names_no_message_which_is_never_sent() -> None:
    sent = {name for request in await generate_prompts.requests() for name in names(request)}
    optional = {"answers", "assumptions", "conversation", "instructions", "seen", "steering", "template"}
    for name in ALL:
        found = set(TAG.findall(prompt_text(name)))
        assert found <= set(MESSAGE_NAMES), name
        assert found <= sent | optional, name


@pytest.mark.parametrize("name", [name for name in ALL if name not in ADDED])
def test_a_prompt_has_an_example_with_plain_ids(name: str) -> None:
    text = prompt_text(name)
    assert "Example" in text
    assert re.findall(r"\bS\d{4}\b", text) == []


@pytest.mark.parametrize("name", ALL)
def test_a_prompt_is_written_in_lines_that_can_be_read(name: str) -> None:
    assert max(map(len, prompt_text(name).splitlines())) <= 120


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("phases.triage", "decide and write down what you assume"),
        ("phases.plan", "Plan as many steps as the question needs, and no more."),
        ("phases.plan", "How the report is divided is decided later, by the writer."),
        ("phases.think", "Call it before every new decision"),
        ("phases.write", "You may compare, infer and weigh where every premise is cited"),
        ("phases.write", "say what follows from the evidence and what speaks against it"),
        ("agents.findings", "What you leave out is lost."),
        ("agents.research", "Start broad"),
        ("agents.research", "Prefer primary sources"),
        ("agents.research", "second, independent source for every point that matters"),
        ("agents.research", "Call `done` as soon as"),
        ("verify.judge", "Evidence about another subject, time or place is unsupported, never contradicted."),
        ("verify.judge", "or says it more weakly"),
    ],
)
def test_what_each_is_told(name: str, rule: str) -> None:
    assert rule in " ".join(prompt_text(name).split())


async def test_the_planner_sees_titles_and_passages_and_no_word_on_what_was_left_out() -> None:
    """A window in which not all that was found fits."""
    long = "# Tides of Brest\n\n" + "\n\n".join(f"The tide of Brest was {number} metres high." for number in range(40))
    log = await Sea({"tides.md": long}).run([*planned(ONE_STEP), sends(TIDE), *first_agent(), report_wanted(), WRITTEN])
    (request,) = [request for request in log.model.requests if request.task == "plan"]
    (seen,) = request.user_texts("background")
    header, *passages = seen.splitlines()
    assert header == "## S1 Tides of Brest <file:///tides.md>"
    assert 1 <= len(passages) <= 4
    assert all(re.match(r"\[S1\.\d+\] The tide of Brest", line) for line in passages)
