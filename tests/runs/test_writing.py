"""Whole runs in which the writer is watched: what it is told, what it may look at again, what it writes in parts."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from research import (
    BLEW,
    DOCUMENTS,
    MISTRAL,
    ONE_STEP,
    REPORT,
    ROSE,
    TIDE,
    Log,
    Sea,
    agent,
    both_agents,
    first_agent,
    planned,
    report_wanted,
    sends,
    whole,
)

import assay
from assay.core import events as e
from assay.core.blocks import read_template
from assay.core.errors import UsageError
from assay.core.messages import Profile, Reply, Request
from assay.core.view import fold_events
from assay.models.script import Scene, Scripted, calls, fails, says

MOON = "The moon causes most of it."


def up_to_the_writer() -> list[Scene]:
    """One agent, which was shown more than it cites."""
    return [*planned(ONE_STEP), sends(TIDE), *agent(TIDE, "tide moon Brest", ROSE), report_wanted()]


def written(log: Log) -> list[Request]:
    return [request for request in log.model.requests if request.task == "write"]


def rules(request: Request) -> dict[str, object]:
    found: dict[str, object] = msgspec.json.decode(request.values("rules")[-1])
    return found


def moon(request: Request) -> Scene:
    """The report, with what was recalled."""
    shown = next(message.text for message in request.messages if message.role == "tool")
    line = next(line for line in shown.splitlines() if MOON in line)
    return says(f"It rises seven metres. [S1001.1] {MOON} {line.split()[0]}")


def script(opening: list[Scene], *writer: Scene) -> Scripted:
    """Plays the opening, then the writer's scenes; the last of them says what was recalled."""
    scenes, replies = Scripted(opening), iter(writer)

    def play(request: Request) -> Scene:
        return next(replies, None) or moon(request) if request.task == "write" else scenes._next_scene(request)

    return Scripted(play)


async def test_the_date_stands_below_the_answer_and_what_was_streamed_is_what_is_stored() -> None:
    log = await Sea().run(
        [*planned(), sends(TIDE, MISTRAL), *both_agents(), report_wanted(), says(REPORT, task="write")]
    )
    dated = "*As of 2026-01-01, the day of this research: no source cited states a date.*"
    assert log.text == REPORT.replace("\n\n## Winds", f"\n\n{dated}\n\n## Winds")
    assert not any("As of" in event.text for event in log.of(e.ClaimFound))
    assert whole(log)


async def test_the_writer_may_look_again_at_what_no_finding_cites() -> None:
    log = await Sea().run(script(up_to_the_writer(), calls(("recall", {"query": "moon causes"}))))
    first, second = written(log)
    assert [tool.name for tool in first.tools] == ["recall"]
    assert (first.tool_choice, rules(first)["recalls"]) == ("auto", 3)
    assert rules(second)["recalls"] == 2
    assert [message.name for message in second.messages][-3:] == ["coverage", "rules", "plan"]
    assert MOON in log.text
    assert {event.verdict for event in log.of(e.ClaimChecked) if event.rule == "verbatim"} == {"quoted"}
    assert not log.last(e.VerifySummary).summary.dropped_markers
    assert [event.tool for event in log.of(e.ToolFinished)][-1] == "recall"
    (looked,) = [
        turn
        for phase in fold_events(log.envelopes).phases
        if phase.name == "write"
        for turn in phase.turns
        if turn.tools
    ]
    assert [(use.tool, use.outcome) for use in looked.tools] == [("recall", "done")]
    assert whole(log)


async def test_looking_again_has_a_limit() -> None:
    many = calls(*(("recall", {"query": f"moon {number}"}) for number in range(5)), text="Let me look.")
    log = await Sea().run(
        script(up_to_the_writer(), many, calls(("recall", {"query": "more"}), text="Seven. [S1001.1]"))
    )
    first, second = written(log)
    answers = [message.text for message in second.messages if message.role == "tool"]
    assert len(answers) == 5
    assert [text.startswith("Not carried out") for text in answers] == [False] * 3 + [True] * 2
    assert (second.tool_choice, rules(second)["recalls"]) == ("none", 0)
    assert log.written == "Seven. [S1001.1]"  # what stood beside the calls was taken back
    assert first.tool_choice == "auto"
    assert whole(log)


async def test_where_all_that_was_read_is_cited_there_is_nothing_to_look_at() -> None:
    log = await Sea().run(
        [*planned(), sends(TIDE, MISTRAL), *both_agents(), report_wanted(), says(REPORT, task="write")]
    )
    (request,) = written(log)
    assert (request.tools, request.tool_choice) == ((), "none")


async def test_a_model_which_takes_no_tools_writes_without() -> None:
    opening = Scripted(up_to_the_writer())

    def play(request: Request) -> Scene:
        if request.task != "write":
            return opening._next_scene(request)
        return fails("no tools here", transient=False, partial="It r") if request.tools else says(ROSE)

    log = await Sea().run(Scripted(play))
    assert log.written == ROSE
    assert log.last(e.RunCompleted).stop_reason == "done"
    assert [rules(request)["recalls"] for request in written(log)] == [3, 0]
    assert whole(log)


async def test_what_is_wanted_of_the_report_reaches_those_who_need_it() -> None:
    template = read_template("## Answer\nIn one line.\n\n## Winds")
    model = Scripted([*up_to_the_writer(), says(f"## Answer\n\n{ROSE}", task="write")])
    log = await Sea().run(model, length=300, language="de", instructions="For sailors.", template=template)
    (request,) = written(log)
    assert (rules(request)["words"], rules(request)["language"]) == (300, "German")
    for task in ("plan", "orchestrate", "write"):
        asked = next(request for request in model.requests if request.task == task)
        assert asked.user_texts("instructions") == ("For sailors.",)
        assert asked.user_texts("template") == ("## Answer\n\nIn one line.\n\n## Winds",)
    for task in ("research", "find"):
        asked = next(request for request in model.requests if request.task == task)
        assert "For sailors" not in repr(asked.messages)
    assert log.text == f"## Answer\n\n{ROSE}\n\n## Winds\n\nNothing about this was found."
    assert any(limit.startswith("As of 2026-01-01") for limit in log.last(e.ReportFinished).limits)
    assert whole(log)


# parts

SMALL = Profile(name="scripted", window=8_192, max_output=2_000)
LONG = {
    TIDE: " ".join(f"Fact {at} of the tide at Brest in the year of the great storm. [S1001.1]" for at in range(130)),
    MISTRAL: " ".join(f"Fact {at} of the mistral, of which sailors tell so much. [S2001.1]" for at in range(130)),
}
DISOBEYING = (
    "It rises seven metres. [S1001.1]\n\n## {title}\n\nHere it is. [{id}]\n\n"
    "## What could not be found\n\n- The sun ({part})."
)


def large(writer: list[Scene]) -> Scripted:
    agents = [*agent(TIDE, "tide Brest", LONG[TIDE]), *agent(MISTRAL, "mistral", LONG[MISTRAL])]
    return Scripted([*planned(), sends(TIDE, MISTRAL), *agents, report_wanted(), *writer], profile=SMALL)


OPENS = "only the beginning of the report"
UNOPENED = says("It depends.", task="write", contains=OPENS, repeat=True)
"""An opening that cites nothing is not used."""


def part(number: int, text: str) -> Scene:
    return says(text, task="write", contains=f"part {number} of 2")


async def test_in_a_small_window_all_sections_are_written_and_the_answer_stands_once() -> None:
    one = DISOBEYING.format(title="Tide at Brest", id="S1001.1", part=1)
    two = DISOBEYING.format(title="Winds of the mistral", id="S2001.1", part=2)
    log = await Sea().run(large([part(1, one), part(2, two), UNOPENED]), length="long")
    assert log.written == (
        "It rises seven metres. [S1001.1]\n\n## Tide at Brest\n\nHere it is. [S1001.1]\n\n"
        "## Winds of the mistral\n\nHere it is. [S2001.1]"  # all of it was found, whatever the writer says
    )
    first, second, _ = written(log)
    assert [rules(request)["words"] for request in (first, second)] == [300, 300]
    assert [msgspec.json.decode(request.user_texts("coverage")[-1]) == [] for request in (first, second)] == [
        True,
        False,
    ]
    assert whole(log)


async def test_a_report_in_parts_begins_with_an_answer_by_all_of_them() -> None:
    one = "It rises. [S1001.1]\n\n## Tide at Brest\n\nThe tide at Brest rises seven metres. [S1001.1]"
    both = f"{ROSE} {BLEW}"
    opens = says(f"{both}\n\n## Winds\n\nToo much.", task="write", contains=OPENS)
    log = await Sea().run(large([part(1, one), part(2, f"## Winds\n\n{BLEW}"), opens]))
    assert log.written == f"{both}\n\n## Tide at Brest\n\n{ROSE}\n\n## Winds\n\n{BLEW}"
    (*_, request) = written(log)
    assert request.user_texts("findings") == (f"Part 1 of 2\n{one}", f"Part 2 of 2\n## Winds\n\n{BLEW}")
    assert [event.verdict for event in log.of(e.ClaimChecked) if event.id in claims_of(log)] == ["quoted"] * 4
    assert whole(log)


async def test_its_parts_are_joined_by_sentences_of_the_same_call_which_are_checked() -> None:
    one = f"{ROSE}\n\n## Tide at Brest\n\n{ROSE}"
    opens = says(f"{ROSE}\n\n2: {BLEW}\n3: Nothing. [S1001.1]", task="write", contains=OPENS)
    log = await Sea().run(large([part(1, one), part(2, f"## Winds\n\n{BLEW}"), opens]))
    assert log.written == f"{ROSE}\n\n## Tide at Brest\n\n{ROSE}\n\n## Winds\n\n{BLEW}\n\n{BLEW}"
    assert [event.verdict for event in log.of(e.ClaimChecked) if event.id in claims_of(log)] == ["quoted"] * 4
    assert whole(log)


def claims_of(log: Log) -> set[str]:
    """The ids of the claims that stand in the report."""
    return {claim.id for claim in fold_events(log.envelopes).claims}


@pytest.mark.parametrize("fault", [fails("broken", transient=False), Scene(answer=Reply(text=ROSE, stop="length"))])
async def test_without_an_answer_by_all_parts_that_of_the_first_stays(fault: Scene) -> None:
    opens = msgspec.structs.replace(fault, task="write", contains=OPENS)
    log = await Sea().run(large([part(1, ROSE), part(2, BLEW), opens]))
    assert log.written == f"{ROSE}\n\n{BLEW}"
    assert whole(log)


async def test_what_was_written_before_the_writer_failed_is_kept() -> None:
    one = "It rises. [S1001.1]\n\n## Tide at Brest\n\nSeven metres. [S1001.1]"
    failing = fails("broken", transient=False, task="write", partial="## Win", contains="part 2 of")
    log = await Sea().run(large([part(1, one), failing]), repair=False)
    assert log.written.startswith(f"{one}\n\n## Winds of the mistral\n\nFact 0 of the mistral")
    assert log.last(e.RunCompleted).stop_reason == "unwritten"
    assert any("could finish" in limit for limit in log.last(e.ReportFinished).limits)
    assert whole(log)


async def test_a_part_cut_off_is_taken_back_alone() -> None:
    cut = Scene(answer=Reply(text="## Winds\n\nIt bl", stop="length"), task="write", contains="part 2 of 2")
    log = await Sea().run(large([part(1, ROSE), cut, part(2, BLEW), UNOPENED]))
    assert log.written == f"{ROSE}\n\n{BLEW}"
    assert whole(log)


async def test_a_report_is_told_the_length_of_its_depth_where_nobody_names_one() -> None:
    log = await Sea().run([*planned(ONE_STEP), sends(TIDE), *first_agent(), report_wanted(), says(ROSE, task="write")])
    (request,) = written(log)
    assert (rules(request)["words"], rules(request)["parts"], rules(request)["language"]) == (300, 1, "")


async def test_through_the_library(tmp_path: Path) -> None:
    (tmp_path / "tides.md").write_text(DOCUMENTS["tides.md"])
    question = "How far does the tide rise at Brest?"
    made = await assay.research(question, sources=tmp_path, length="short", template="## Tide\n\n## Volcanoes")
    assert made.markdown.startswith("## Tide\n\n- The tide at Brest rises seven metres. [1]")
    assert "## Volcanoes\n\nNothing about this was found." in made.markdown
    with pytest.raises(UsageError, match="not a length"):
        await assay.research(question, sources=tmp_path, length="endless")
