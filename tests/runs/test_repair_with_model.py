"""Whole runs whose writer lies and whose model judges: what it denies is narrowed, re-cited or taken out."""

from __future__ import annotations

from collections.abc import Sequence
from operator import mul

import msgspec
import pytest
from concepts import vectors
from judging import rules
from repair_runs import CLEVER, FOUND, HARBOURS, HISTORY, LIES, TASK, run, view_of
from research import ONE_STEP, Log, Sea, agent, planned, report_wanted, sends, whole

from assay.core import events as e
from assay.core.brief import Section
from assay.core.claims import HOLDING, RepairName
from assay.core.ports import Cosines, TextKind, World
from assay.core.usage import Budget, Usage
from assay.core.view import fold_events
from assay.models.script import Scene, Scripted, fails, says

# with a model which judges and revises


def revised(text: str, **scene: object) -> Scene:
    return says(text, task="revise", **scene)


async def test_what_a_judge_denies_is_narrowed_and_judged_again() -> None:
    report = "The northern harbour of Brest gives work to many of the 400 people of the town. [S1001.1]"
    log = await run(
        report,
        rules("unsupported", "nothing on the town", A="400"),
        revised("The northern harbour of Brest employs 400 people. [S1001.1]"),
        clever=True,
        repairs_off=("recite", "retrieve"),
    )
    view = view_of(log)
    assert log.written == FOUND
    assert (view.claims[0].verdict, view.claims[0].id) == ("quoted", "c1")
    assert view.versions["c1"][0].text.startswith("The northern harbour of Brest gives work")


@pytest.mark.parametrize(
    "reply",
    [
        "NOTHING",
        "The northern harbour may employ 900 people. [S1001.1]",
        "The northern harbour reportedly employs 900 people. [S1001.1]",
        "The northern harbour of Brest employs 900 people. [S1001.1]",
        "The northern harbour of Brest employs 900 people. [S9.9]",
        "The northern harbour of Brest employs 901 people. [S1001.1]",
        "Sure! Here it is. The northern harbour of Brest employs 900 people. [S1001.1]",
        "",
    ],
)
async def test_a_revision_which_is_none_does_not_save_a_lie(reply: str) -> None:
    log = await run(f"{FOUND} {LIES[0]}", revised(reply), clever=True, checks_off=("judge",), repairs_off=("retrieve",))
    assert log.written == FOUND
    view_of(log)


async def test_a_failing_writer_and_a_failing_judge_lose_nothing() -> None:
    broken = [fails("broken", transient=False, task=task, repeat=True) for task in ("revise", "judge")]
    log = await run(f"{FOUND} {LIES[0]} Trade there went down a lot that spring. [S1001.3]", *broken, clever=True)
    view = view_of(log)
    assert "900" not in log.text
    assert [claim.verdict for claim in view.claims] == ["quoted", "unchecked"]
    assert log.last(e.RunCompleted).stop_reason == "done"


@pytest.mark.parametrize("off", [(), ("recite",), ("narrow",), ("retrieve",), ("recite", "narrow", "retrieve")])
async def test_every_stage_may_be_left_out(off: Sequence[RepairName]) -> None:
    log = await run(" ".join([FOUND, *LIES]), repairs_off=tuple(off))
    view = view_of(log)
    assert {claim.verdict for claim in view.claims} == {"quoted"}
    assert log.written == FOUND


async def test_what_is_said_while_it_streams_and_what_is_stored_is_one_text() -> None:
    log = await run(" ".join([FOUND, *LIES]))
    last = log.last(e.ReportRevised)
    assert last.text == log.text
    assert last.spans == {claim.id: (claim.start, claim.end) for claim in fold_events(log.envelopes).claims}
    kinds = log.types("claim", "report")
    assert kinds.index("claim.removed") < len(kinds) - 1 - kinds[::-1].index("report.revised")


async def test_what_no_document_read_says_is_searched_for() -> None:
    lorient = "# Lorient\n\nThe quays of Lorient give 7,000 fishermen their work.\n\nLorient was founded in 1666.\n"
    sea = Sea({"harbours.md": HARBOURS, "lorient.md": lorient})
    script = [
        *planned(ONE_STEP),
        sends(TASK),
        *agent(TASK, "northern harbour children", FOUND),
        report_wanted(),
        says(f"{FOUND} Lorient was founded in 1666.", task="write"),
    ]
    log = await sea.run(script)
    view = view_of(log)
    claim = view.claims[1]
    assert (claim.verdict, claim.text) == ("quoted", "Lorient was founded in 1666.")
    source = view.sources[view.passages[claim.passages[0]].source]
    assert source.title == "Lorient"
    searched = [row for row in log.paths(e.SearchPerformed) if row[0] == "verify"]
    assert searched, "it was found by verification's own search"
    assert whole(log)
    log = await Sea({"harbours.md": HARBOURS, "lorient.md": lorient}).run(script, repairs_off=("retrieve",))
    assert "1666" not in log.text


async def test_the_headings_of_a_template_stay() -> None:
    template = (Section(level=2, title="Answer"), Section(level=2, title="Trade"))
    report = f"## Answer\n\n{FOUND}\n\n## Trade\n\n{LIES[3]}"
    log = await run(report, template=template)
    view_of(log)
    assert log.written == f"## Answer\n\n{FOUND}\n\n## Trade\n\nNothing about this was found."


async def test_of_when_the_answer_is_follows_the_sources_left() -> None:
    log = await run(f"{FOUND} {LIES[7]}")
    assert "*As of 2026-01-01, the day of this research: no source cited states a date.*" in log.text
    log = await run(f"{LIES[7]} [S1001.1]")
    assert "As of" not in log.text


async def test_what_a_search_was_told_not_to_do_is_not_done() -> None:
    log = await run(f"{FOUND} {LIES[7]}", tools=("open", "recall", "search"), repairs_off=("retrieve",))
    assert not [path for path in log.paths(e.SearchPerformed) if path[0] == "verify"]
    view_of(log)


@pytest.mark.parametrize("tokens", [40_000, 20_000, 12_000, 9_000])
async def test_a_budget_which_ends_degrades_and_loses_no_report(tokens: int) -> None:
    report = " ".join([FOUND, *LIES])
    judged = msgspec.structs.replace(rules("unsupported"), repeat=True)
    revision = revised("The northern harbour of Brest has 900 workers. [S1001.1]", repeat=True)
    sea = Sea({"harbours.md": HARBOURS, "history.md": HISTORY})
    script = [
        *planned(ONE_STEP),
        sends(TASK),
        *agent(TASK, "harbour Brest employ people children trade", FOUND),
        report_wanted(),
        says(report, task="write", repeat=True),  # its ids are unknown where the agent was cut short: asked once more
        judged,
        revision,
    ]
    handle = sea.start(Scripted(script, profile=CLEVER), budget=Budget(tokens=tokens))
    log = Log([envelope async for envelope in handle], Scripted([]))
    await handle.wait()
    view = view_of(log)
    assert view.status == "completed"
    for claim in view.claims:
        assert claim.verdict not in HOLDING or claim.text in HARBOURS + HISTORY


async def test_a_follow_up_cites_what_it_took_over_and_its_log_shows_it() -> None:
    sea = Sea({"harbours.md": HARBOURS})
    script = [
        *planned(ONE_STEP),
        sends(TASK),
        *agent(TASK, "harbour Brest employ people children trade", FOUND),
        report_wanted(),
        says(FOUND, task="write"),
    ]
    first = await sea.run(script)
    parent = first.envelopes[0].run_id
    wrong = "Trade in the northern harbour fell by 12 percent on 4 March 2021. [S1001.1]"
    again = [
        *planned(ONE_STEP, follow_up="clarification"),
        sends(TASK),
        *agent(TASK, "harbour Brest employ people", "The northern harbour of Brest employs 400 people. [S3001.1]"),
        report_wanted(),
        says(f"{FOUND} {wrong}", task="write"),
    ]
    second = await sea.run(again, parent=parent, lane=2)
    view = view_of(second)
    claim = view.claims[1]
    assert claim.verdict == "quoted"
    assert {view.passages[id].source for id in claim.passages} <= set(view.sources)


async def test_a_judge_decides_on_a_new_citation_where_code_does_not() -> None:
    report = f"{FOUND} About 400 persons work at the northern quays of Brest. [S1001.3]"
    log = await run(report, rules("supported", "it says so", A="400"), clever=True, repairs_off=("narrow", "retrieve"))
    view = view_of(log)
    assert [(claim.verdict, claim.passages) for claim in view.claims] == [
        ("quoted", ("S1001.1",)),
        ("supported", ("S1001.1",)),
    ]
    assert [check.rule for check in view.checks["c2"]] == ["judge"]
    assert view.versions["c2"][0].passages == ("S1001.3",)


async def test_a_partly_supported_sentence_is_narrowed_or_stays() -> None:
    report = "The northern harbour of Brest employs 400 people and is loved by sailors. [S1001.1]"
    partial = rules("partial", "nothing on sailors", A="400")
    off = ("recite", "retrieve")
    log = await run(report, partial, revised(FOUND), clever=True, repairs_off=off)
    assert (log.written, view_of(log).claims[0].verdict) == (FOUND, "quoted")
    log = await run(report, partial, revised("NOTHING"), clever=True, repairs_off=off)
    assert (log.written, view_of(log).claims[0].verdict) == (report, "partial")


async def test_what_contradicts_a_claim_another_source_supports_is_kept_against_it() -> None:
    older = "# The harbour in 1990\n\nThe northern harbour of Brest employs 900 people.\n"
    sea = Sea({"harbours.md": HARBOURS, "older.md": older})
    script = [
        *planned(ONE_STEP),
        sends(TASK),
        *agent(TASK, "northern harbour Brest employs people", FOUND),
        report_wanted(),
        says(LIES[0], task="write"),
    ]
    log = await sea.run(script)
    view = view_of(log)
    claim = next(claim for claim in view.claims if claim.id == "c1")
    assert claim.verdict == "quoted"
    assert view.passages[claim.passages[0]].text == "The northern harbour of Brest employs 900 people."
    assert [view.passages[id].text for id in claim.against] == ["The northern harbour of Brest employs 400 people."]


class ByConcepts:
    """Compares texts by the words of `concepts`; each costs a token."""

    name = "concepts:m"

    def max_usage(self, texts: Sequence[str]) -> Usage:
        return Usage(input_tokens=len(texts))

    async def cosines(self, texts: Sequence[str], others: Sequence[str], kind: TextKind = "passage") -> Cosines:
        rows = [[sum(map(mul, one, other)) for other in vectors(others)] for one in vectors(texts)]
        return Cosines(tuple(map(tuple, rows)), Usage(input_tokens=len(texts) + len(others)))


class SeaOfMeaning(Sea):
    """A sea whose runs compare texts by meaning."""

    def world(self, model: Scripted) -> World:
        return msgspec.structs.replace(super().world(model), similarity=ByConcepts())


PHYSICIAN = "The physician of the harbour of Brest is paid a salary in francs."
SURGEON = "A wage in francs went to the surgeon there."
APART = "".join(f"Rope number {n} lies on the quay and dries in the sun of the morning.\n\n" for n in range(9))
OTHERS = "".join(
    f"The boatman of the harbour of Brest is said to have {n} francs of debt.\n\n" for n in range(400, 409)
)


@pytest.mark.parametrize(("sea", "finds"), [(Sea, False), (SeaOfMeaning, True)])
async def test_another_citation_is_looked_for_by_meaning(sea: type[Sea], finds: bool) -> None:
    documents = {"harbours.md": HARBOURS, "pay.md": f"# Pay\n\n{OTHERS}{APART}{SURGEON}\n"}
    scenes = [
        *planned(ONE_STEP),
        sends(TASK),
        *agent(TASK, "harbour Brest employ people children trade", FOUND),
        report_wanted(),
        says(f"{FOUND} {PHYSICIAN} [S1001.3]", task="write"),
        msgspec.structs.replace(rules("unsupported", "it does not say so"), repeat=True),
    ]
    model = Scripted(scenes, profile=CLEVER)
    await sea(documents).run(model, repairs_off=("narrow", "retrieve"))
    judged = [message.text for request in model.requests if request.task == "judge" for message in request.messages]
    assert judged
    assert any(SURGEON in text for text in judged) is finds
