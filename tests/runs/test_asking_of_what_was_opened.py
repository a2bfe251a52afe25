"""Questions asked of a run are answered from all it has opened, also from what none of its agents was shown."""

from __future__ import annotations

import asyncio

import msgspec
from local_web import LocalWeb
from research import ONE_STEP, ROSE, TIDE, WINDS, Log, Sea, agent, report_wanted, sends
from web import site

from assay import Assay
from assay.core import events as e
from assay.core.brief import ROLES, Brief, Scope
from assay.core.report import build_report
from assay.core.sources import SNIPPET, UNSORTED
from assay.core.view import fold_events
from assay.models.script import Scene, Scripted, calls, says
from assay.phases.background import GONE
from assay.services.threads import add_thread

KEEPER = "The keeper of the light was called Perrine Kermorgant."
FILLER = "\n\n".join(f"Entry {number} of the log records calm water and no ship in sight." for number in range(60))
LONG = f"# Tides\n\nThe tide at Brest rises seven metres.\n\n{FILLER}\n\n{KEEPER}\n"
ASKED = "Who was the keeper of the light?"


def first_script() -> list[Scene]:
    return [
        calls(("generate_plan", {"complexity": "simple"}), task="triage"),
        calls(("search", {"query": "tide Brest"}), task="background"),
        says(ONE_STEP, task="plan"),
        sends(TIDE),
        *agent(TIDE, "tide Brest rises", ROSE),
        report_wanted(),
        says("Seven. [S1001.1]", task="write"),
    ]


async def asked(sea: Sea, first: Log, script: list[Scene]) -> Log:
    at = await add_thread(
        sea.journal, Brief(question=ASKED, date="2026-01-01", parent=first.envelopes[0].run_id, mode="simple")
    )
    fields = {name: getattr(at, name) for name in ("question", "thread", "conversation", "parent", "lane", "mode")}
    return await sea.run(script, tools=("recall",), scope=Scope(collections=(), label="the evidence"), **fields)


def answers(text: str) -> list[Scene]:
    return [calls(("generate_plan", {"follow_up": "clarification"}), task="triage"), says(text, task="answer")]


def shown_to(log: Log) -> str:
    return "\n".join(message.text for request in log.model.requests for message in request.messages)


async def test_what_stands_in_an_opened_document_and_was_never_shown_answers() -> None:
    sea = Sea({"log.md": LONG, "winds.md": WINDS})
    first = await sea.run(first_script())
    assert "Perrine" not in shown_to(first)
    place = next(
        span.ordinal for span in sea.reader.spans(sea.store.library.documents(["default"])[0]) if "Perrine" in span.text
    )
    second = await asked(sea, first, answers(f"{KEEPER} [S1.{place}]"))
    report = build_report(fold_events(second.envelopes))
    assert [(claim.verdict, claim.text) for claim in report.claims] == [("quoted", KEEPER)]
    assert [passage.id for passage in report.passages] == [f"S1.{place}"]
    assert second.last(e.RunCompleted) == e.RunCompleted(stop_reason="done", verified=True)
    assert not second.of(e.SearchPerformed)
    assert not report.limits


async def read_ahead(assay: Assay, url: str, then: asyncio.Event) -> None:
    """Let a run go on when the page at `url` is in the library."""
    library = assay._context.store.library
    while not any(each.url == url and each.media_type != SNIPPET for each in library.documents([UNSORTED])):
        await asyncio.sleep(0.02)
    then.set()


async def test_a_page_which_was_read_ahead_and_never_opened_answers_offline() -> None:
    then = asyncio.Event()
    # what is read ahead goes on as long as an agent works
    scenes = [msgspec.structs.replace(each, hang=then) if each.task == "find" else each for each in first_script()]
    model = Scripted([msgspec.structs.replace(each, repeat=True) for each in scenes])
    async with site() as there:
        web = LocalWeb(there)
        async with Assay(web.settings(), models={"scripted": model}) as assay:
            waiting = asyncio.ensure_future(read_ahead(assay, there.url("/tides"), then))
            roles = dict.fromkeys(ROLES, ("scripted",))
            run = assay.start("How far does it rise?", web=True, models=roles, checks_off=["judge"])
            first = await run.view()
            await waiting
            assert {source.media_type for source in first.sources.values()} == {SNIPPET}
            asked = len(there.asked)
            run = assay.ask(first.run_id, "How high was the highest tide on record in the old harbor?")
            report = await run.report()
            assert len(there.asked) == asked
    assert "the highest tide on record was 5.2 metres" in report.markdown
    assert {claim.verdict for claim in report.claims} == {"quoted"}
    assert there.url("/tides") in {source.url for source in report.sources if source.number}


async def test_documents_which_are_gone_are_said_to_be() -> None:
    sea = Sea({"log.md": LONG, "winds.md": WINDS})
    first = await sea.run(first_script())
    found = sea.store.library.document
    sea.store.library.document = lambda sha256: None  # type: ignore[method-assign]
    script = answers("The documents do not say who it was.")
    second = await asked(sea, first, script)
    sea.store.library.document = found  # type: ignore[method-assign]
    assert GONE.format(count=2) in second.last(e.ReportFinished).limits
    assert KEEPER not in shown_to(second)
