"""Questions about a whole collection: every document is looked at, by code or in batches, and counted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from research import ONE_STEP, TIDE, Log, Sea, agent, planned, report_wanted, sends, whole

from assay.core import events as e
from assay.core.errors import ContextTooLong
from assay.core.messages import Price, Profile, Reply
from assay.core.report import build_report
from assay.core.usage import Budget, Usage
from assay.core.view import fold_events
from assay.models.script import Scene, Scripted, calls, says
from assay.store.sql import open_store

STATUSES = ("Final", "Draft", "Final", "Rejected", "Final")


def pep(number: int, status: str, more: str = "") -> str:
    header = f"PEP: {number}\nTitle: Thing {number}\nStatus: {status}\n"
    return f"{header}\nAbstract\n========\n\nThe thing is number {number}. {more}\n"


PEPS = {f"pep-{number}.md": pep(number, status) for number, status in enumerate(STATUSES, 8)}
WHOLE = {"complexity": "simple", "whole_collection": True}


def triaged() -> Scene:
    return calls(("generate_plan", WHOLE), task="triage")


def way(name: str, **arguments: Any) -> Scene:
    return calls((name, arguments), task="survey")


def rows(*found: tuple[str, str], **scene: Any) -> Scene:
    listed = [{"text": text, "passages": [id]} for text, id in found]
    return calls(("report_rows", {"rows": listed}), task="survey", **scene)


async def surveyed(*scenes: Scene, documents: Any = PEPS, **changes: Any) -> Log:
    return await Sea(documents).run([triaged(), *scenes], question="Which PEPs are Final?", **changes)


async def test_a_filter_is_exact_and_every_row_is_a_supported_claim() -> None:
    log = await surveyed(way("filter_documents", where=["Status = Final"]))
    assert log.written == (
        "3 documents match; the header fields of 5 of 5 documents were read.\n\n## Status = Final\n\n"
        "- Status of PEP 8 (Thing 8): Final [S1.2, S1.0, S1.1]\n"
        "- Status of PEP 10 (Thing 10): Final [S2.2, S2.0, S2.1]\n"
        "- Status of PEP 12 (Thing 12): Final [S3.2, S3.0, S3.1]"
    )
    assert whole(log)
    report = build_report(fold_events(log.envelopes))
    assert [claim.verdict for claim in report.claims] == ["supported"] * 3
    assert (report.verified, report.stop_reason, report.limits) == (True, "done", ())
    assert [each.status for each in report.coverage] == ["answered"]


DATED = "\n\n*As of 2026-01-01, the day of this research: no source cited states a date.*\n\n## "


async def test_what_was_counted_has_its_date_below_it() -> None:
    log = await surveyed(way("filter_documents", where=["Status = Final"]))
    assert f"documents were read.{DATED}Status = Final" in log.text
    assert len(log.of(e.ClaimFound)) == 3


async def test_all_documents_are_counted_and_named_by_code() -> None:
    log = await surveyed(way("count_documents"))
    assert log.text.startswith(f"5 documents are in scope, counted by code.{DATED}All documents\n\n")
    assert [line for line in log.text.splitlines() if line.startswith("- ")] == [
        f"- **PEP {number} (Thing {number})**" for number in range(8, 13)
    ]
    assert log.of(e.ClaimFound) == []
    assert log.last(e.RunCompleted).stop_reason == "done"
    assert whole(log)


async def test_what_was_asked_of_all_documents_is_cited() -> None:
    log = await surveyed(way("count_documents", show=["Status", "Sponsor"]))
    assert log.text.startswith("5 documents are in scope, counted by code.")
    assert [event.verdict for event in log.of(e.ClaimChecked)] == ["supported"] * 5
    assert "  - Status of PEP 9 (Thing 9): Draft [S2.2, S2.0, S2.1]" in log.text


async def test_words_may_have_to_stand_in_one_document() -> None:
    documents = PEPS | {"pep-20.md": pep(20, "Draft", "It needs a zebra. It needs a lion."), "a.md": "A zebra.\n"}
    log = await surveyed(way("find_phrase", phrases=["zebra", "lion"], together=True), documents=documents)
    assert log.written.startswith(
        "1 document matches; the words of 7 of 7 documents were read.\n\n## “zebra” and “lion”"
    )
    assert "It needs a zebra." in log.text
    assert "It needs a lion." in log.text
    either = await surveyed(way("find_phrase", phrases=["zebra", "lion"]), documents=documents)
    assert either.written.startswith("2 documents match;")
    assert {event.verdict for event in (*log.of(e.ClaimChecked), *either.of(e.ClaimChecked))} == {"quoted"}


async def test_the_model_is_told_which_fields_there_are() -> None:
    log = await surveyed(way("filter_documents", where=["Status = Final"], show=["Title"]))
    request = next(request for request in log.model.requests if request.task == "survey")
    keys = {each["key"]: each["values"] for each in json.loads(request.user_texts("headers")[0])}
    assert keys["Status"] == {"Final": 3, "Draft": 1, "Rejected": 1}
    assert "- Title of PEP 8 (Thing 8): Thing 8" in log.text
    assert {request.task for request in log.model.requests} == {"triage", "survey"}


async def test_no_match_is_an_answer() -> None:
    log = await surveyed(way("filter_documents", where=["Status = Withdrawn"]))
    assert (
        log.written
        == "0 documents match; the header fields of 5 of 5 documents were read.\n\n## Status = Withdrawn\n\nNone"
    )
    assert log.of(e.ClaimFound) == []
    assert log.last(e.RunCompleted).stop_reason == "done"


async def test_words_are_looked_for_in_every_text() -> None:
    documents = PEPS | {"pep-20.md": pep(20, "Draft", "It needs a Zebra crossing.")}
    log = await surveyed(way("find_phrase", phrases=["zebra crossing"]), documents=documents)
    assert log.written.startswith("1 document matches; the words of 6 of 6 documents were read.\n\n## “zebra crossing”")
    assert "- **PEP 20 (Thing 20)**\n  - It needs a Zebra crossing. [S1." in log.text
    assert [event.verdict for event in log.of(e.ClaimChecked)] == ["quoted"]


async def test_a_phrase_without_words_is_not_looked_for() -> None:
    documents = PEPS | {"pep-20.md": pep(20, "Draft", "It needs a Zebra crossing.")}
    log = await surveyed(way("find_phrase", phrases=["?", "zebra crossing"], together=True), documents=documents)
    assert log.written.startswith("1 document matches; the words of 6 of 6 documents were read.\n\n## “zebra crossing”")
    calls_both = calls(("find_phrase", {"phrases": ["", "?"]}), ("count_documents", {}), task="survey")
    other = await surveyed(calls_both, documents=documents)
    assert "find_phrase was called wrongly: there must be a phrase with words" in [
        w.message for w in other.of(e.Warned)
    ]
    assert other.text.startswith("6 documents are in scope, counted by code.")


async def test_documents_are_read_in_batches_and_what_they_say_is_merged() -> None:
    log = await surveyed(
        way("read_documents", look_for="which number the thing is"),
        rows(("The thing is number 8.", "S1.4"), ("The thing is number 9.", "S2.4"), ("Made up.", "S99.9")),
    )
    assert log.text.startswith("2 documents match; 5 of 5 documents were read.")
    assert "- **PEP 8 (Thing 8)**\n  - The thing is number 8. [S1.4]" in log.text
    assert "Made up" not in log.text
    assert [event.verdict for event in log.of(e.ClaimChecked)] == ["quoted", "quoted"]
    assert "batch 1 of 1: 5 documents, 2 rows" in [event.summary for event in log.of(e.ToolFinished)]


def long_peps(count: int) -> dict[str, str]:
    filler = "The sea is wide and the wind is cold. " * 180
    return {f"pep-{number}.md": pep(number, "Final", filler) for number in range(1, count + 1)}


def small(*scenes: Scene) -> Scripted:
    """A model with a small window."""
    price = Price(input=0.0, output=0.0)
    return Scripted(scenes, profile=Profile(name="small", window=16_000, price=price, deterministic=True))


async def test_batches_fit_the_window_and_two_are_read_at_once() -> None:
    model = small(triaged(), way("read_documents", look_for="the sea"), rows(repeat=True, delay=0.02))
    log = await Sea(long_peps(12)).run(model, question="For each document: what of the sea?")
    read = [request for request in model.requests if request.user_texts("evidence")]
    data = [json.loads(request.values("rules")[0]) for request in read]
    assert sorted(each["batch"] for each in data) == list(range(1, len(read) + 1))
    assert {each["batches"] for each in data} == {len(read)}
    assert log.text.startswith("0 documents match; 12 of 12 documents were read.")
    assert most_at_once(log) == 2


def most_at_once(log: Log) -> int:
    """How many batches were being read together; a light run may read two."""
    running = most = 0
    for envelope in log.envelopes:
        if len(envelope.path) > 1 and envelope.path[1].startswith("batch-"):
            running += (envelope.type == "tool.started") - (envelope.type == "tool.finished")
            most = max(most, running)
    return most


async def test_a_batch_that_fails_is_not_counted_as_read() -> None:
    log = await surveyed(
        way("read_documents", look_for="numbers"), says("nothing to say", task="survey"), documents=PEPS
    )
    assert log.written == "0 documents match; 0 of 5 documents were read.\n\n## numbers\n\nNone"
    assert log.last(e.ReportFinished).limits == (
        "5 of 5 documents were not read: the rows it reported could not be read.",
    )


async def test_a_batch_that_is_too_much_is_read_in_halves() -> None:
    log = await surveyed(
        way("read_documents", look_for="numbers"),
        Scene(answer=ContextTooLong("too long"), task="survey"),
        rows(("The thing is number 8.", "S1.4")),
        rows(("The thing is number 12.", "S3.4")),
    )
    assert log.text.startswith("2 documents match; 5 of 5 documents were read.")


async def test_without_a_way_research_goes_on_as_usual() -> None:
    finding = agent(TIDE, "thing number", "The thing is number 8. [S1001.4]")
    log = await surveyed(
        says("It is not about all of them.", task="survey"),
        *planned(ONE_STEP)[1:],
        sends(TIDE),
        *finding,
        report_wanted(),
        says("The thing is number 8. [S1001.4]", task="write"),
    )
    assert log.last(e.RunCompleted).stop_reason == "done"
    assert "The thing is number 8." in log.text


async def test_a_limit_leaves_the_rest_unread_and_says_so() -> None:
    costly = Reply(calls=rows().answer.calls, stop="calls", usage=Usage(input_tokens=12_000))  # type: ignore[union-attr]
    scenes = [triaged(), way("read_documents", look_for="the sea"), Scene(answer=costly, task="survey", repeat=True)]
    log = await Sea(long_peps(12)).run(
        small(*scenes), question="For each document: what?", budget=Budget(tokens=90_000)
    )
    assert "of 12 documents were read." in log.text
    assert "12 of 12" not in log.text
    assert any("documents were not read" in limit for limit in log.last(e.ReportFinished).limits)
    assert whole(log)


async def test_a_survey_goes_on_after_a_crash_without_reading_again(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    sea = Sea(PEPS, store=store)
    scenes = [triaged(), way("read_documents", look_for="numbers"), rows(("The thing is number 8.", "S1.4"))]
    first = await sea.run(scenes, question="Which PEPs?")
    again = Scripted([])
    handle = await sea.engine().resume(first.envelopes[0].run_id, lambda _: sea.world(again))
    await handle.wait()
    assert again.requests == []
    await store.close()
