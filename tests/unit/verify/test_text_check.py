"""Claims checked: in what order, how many at once, and that nothing depends on which comes first."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

import msgspec
from evidence_of import evidence, passage
from judging import verdict
from runtime import DONE, ready

from assay.core.claims import Check
from assay.core.messages import Delta, Profile, Reply, Request
from assay.core.ports import World
from assay.core.report_sentences import claims
from assay.core.sources import SNIPPET
from assay.models.script import Scripted
from assay.run.engine import Engine
from assay.run.process import SystemClock
from assay.run.run import Handle, Run
from assay.store.memory import memory_store
from assay.verify.claim_check import (
    CLAIMS_AT_ONCE,
    CheckRules,
    Checks,
    ClaimResult,
    PendingClaim,
    check_all,
    check_claim,
)
from assay.verify.evidence import ClaimEvidence

PIER = passage("S1001.1", "The old pier of Brest was built of oak by the Tanguy family.")


class Counting(Scripted):
    """A judge which supports everything; `most` is how many claims it had at a time."""

    def __init__(self) -> None:
        super().__init__(lambda _: verdict("supported"), profile=Profile(name="scripted"))
        self.now = self.most = 0

    async def stream(self, request: Request) -> AsyncGenerator[Delta | Reply, None]:
        self.now += 1
        self.most = max(self.most, self.now)
        try:
            async for item in super().stream(request):
                yield item
        finally:
            self.now -= 1


async def within(model: Scripted, body: object) -> None:
    store = memory_store()
    world = World(
        models={"scripted": model}, searches=(), library=store.library, blobs=store.blobs, clock=SystemClock()
    )

    async def pipeline(run: Run) -> object:
        await body(run.with_gate("write"))  # type: ignore[operator]
        return DONE

    await Engine(store.journal, pipeline).start(ready(world)).wait()  # type: ignore[arg-type]


def found(count: int) -> list[PendingClaim]:
    text = "\n\n".join(
        f"The old pier was once made of very good oak, people say {'so ' * at}there." for at in range(count)
    )
    return [PendingClaim(each.id, each, evidence(PIER)) for each in claims(text)]


async def test_so_many_claims_are_with_the_judge_at_once_and_come_back_in_order() -> None:
    model, lines, done = Counting(), list[str](), list[ClaimResult]()

    async def body(run: Run) -> None:
        done.extend(await check_all(run, found(30), CheckRules(uses_judge=True), lambda _, each: lines.append(each.id)))

    await within(model, body)
    assert 1 < model.most <= CLAIMS_AT_ONCE
    assert [each.id for each in done] == [f"c{at}" for at in range(1, 31)]
    assert sorted(lines) == sorted(each.id for each in done)
    assert {each.check.rule for each in done} == {"judge"}


async def test_the_judge_is_asked_only_where_code_does_not_decide() -> None:
    model, seen = Counting(), dict[str, Check]()
    cases = {
        "verbatim": (PIER.text, evidence(PIER)),
        "citation": (PIER.text, evidence()),
        "number": ("The old pier of Brest was built of oak in 1700.", evidence(PIER)),
    }

    async def body(run: Run) -> None:
        for rule, (text, found) in cases.items():
            (sentence,) = claims(f"{text} [{PIER.id}]")
            seen[rule] = (await check_claim(run.child(rule), "c1", sentence, found, CheckRules(uses_judge=True))).check

    await within(model, body)
    assert {rule: check.rule for rule, check in seen.items()} == {
        "verbatim": "verbatim",
        "citation": "citation",
        "number": "date",
    }
    assert model.most == 0


async def test_what_only_a_search_says_of_a_page_is_hearsay_whoever_supports_it() -> None:
    shown = evidence(PIER)
    source = next(iter(shown.sources.values()))
    snippet = ClaimEvidence(
        passages=shown.passages, sources={source.id: type(source)(**{**fields(source), "media_type": SNIPPET})}
    )
    checks: list[Check] = []

    async def body(run: Run) -> None:
        for at, text in enumerate((PIER.text, found(1)[0].sentence.text)):
            (sentence,) = claims(text)
            checks.append(
                (await check_claim(run.child(str(at)), "c1", sentence, snippet, CheckRules(uses_judge=True))).check
            )

    await within(Counting(), body)
    assert [(check.rule, check.verdict) for check in checks] == [("snippet", "unchecked")] * 2


def fields(source: object) -> dict[str, object]:
    return {name: getattr(source, name) for name in source.__struct_fields__}  # type: ignore[attr-defined]


async def test_the_same_sentence_with_the_same_evidence_is_checked_once_and_another_is_not() -> None:
    model, done = Counting(), list[ClaimResult]()
    one, two = found(2)
    again = msgspec.structs.replace(one, id="c9", sentence=msgspec.structs.replace(one.sentence, start=500, end=560))
    other = msgspec.structs.replace(one, id="c10", evidence=evidence(passage("S1001.2", "The pier is of stone.")))

    async def body(run: Run) -> None:
        checks = Checks(run, CheckRules(uses_judge=True))
        for each in (one, again, two, other):
            done.append(await checks.check(each))

    await within(model, body)
    assert [each.id for each in done] == ["c1", "c9", "c2", "c10"]
    assert (done[1].check, done[1].sentence.start) == (done[0].check, 500)
    assert len(model.requests) == 3


class Held(Counting):
    """A judge which says nothing before it is let."""

    def __init__(self) -> None:
        super().__init__()
        self.let, self.full = asyncio.Event(), asyncio.Event()

    async def stream(self, request: Request) -> AsyncGenerator[Delta | Reply, None]:
        if len(self.requests) + 1 >= CLAIMS_AT_ONCE:
            self.full.set()
        async for item in super().stream(request):
            await self.let.wait()
            yield item


async def test_what_waits_for_its_turn_can_be_given_up_and_asked_for_later() -> None:
    model, done = Held(), list[ClaimResult]()
    claims = found(CLAIMS_AT_ONCE + 5)

    async def body(run: Run) -> None:
        checks = Checks(run, CheckRules(uses_judge=True))
        begun = [run.in_background(each.id, lambda _, each=each: checks.check(each)) for each in claims]
        await asyncio.wait_for(model.full.wait(), 60)
        checks.drop_waiting()
        model.let.set()
        await asyncio.wait([asyncio.ensure_future(_ended(each)) for each in begun], timeout=60)
        assert len(model.requests) == CLAIMS_AT_ONCE
        done.extend([await checks.check(each) for each in claims])

    await within(model, body)
    assert len(model.requests) == len(claims)
    assert [each.id for each in done] == [each.id for each in claims]


async def _ended(begun: Handle[ClaimResult]) -> None:
    while not begun.done:
        await asyncio.sleep(0.001)
