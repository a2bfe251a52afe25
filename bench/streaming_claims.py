"""What checking costs a 200-claim report: embedded, and by a judge while the report streams.

python bench/streaming_claims.py [--claims 200] [--speed 100] [--judge 0.5] [--embedded]

The writer streams at the given speed; the judge takes the given time for each claim, and calls it supported. The wall
time of writing and verifying is compared with writing alone: with checks while the report streams, and only afterwards.
The claims are sentences of generated documents with a word left out: not verbatim, and no rule objects to them.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import re
import statistics
import time
from collections.abc import AsyncGenerator, Sequence
from typing import NamedTuple

import bundle
from corpus import machine

from assay.core.brief import ROLES, Brief
from assay.core.events import ReportDelta, ReportStarted
from assay.core.messages import Delta, Message, Price, Profile, Reply, Request, TextDelta, ToolCall
from assay.core.ports import World
from assay.core.ports.store import Store
from assay.core.sources import Passage, Source
from assay.evidence.documents import DocumentReader
from assay.evidence.ledger import Ledger
from assay.evidence.segment import segment
from assay.models.script import Scripted
from assay.run.engine import Engine, Outcome
from assay.run.process import SystemClock
from assay.run.protocols import DocumentPassages
from assay.run.run import Run
from assay.run.voice import StreamHooks
from assay.store.memory import memory_store
from assay.verify.claim_check import CheckRules
from assay.verify.evidence_index import EvidenceIndex
from assay.verify.pipeline import VerifiedReport, WrittenReport, verify_report
from assay.verify.proofreader import Proofreader

WRITER = Profile(name="writer", price=Price(input=0.0, output=0.0))
BUILT_IN = Profile(name="writer", price=Price(input=0.0, output=0.0), deterministic=True)
_TOKEN = re.compile(r"\s*\S{1,6}")
"""About what tokenizers make of English."""
_HIDDEN = re.compile(r"\{([A-Z])\} is a (\w+)")


class Made(NamedTuple):
    """A store with documents, the ledger of a run which was shown them, and a report on them."""

    store: Store
    ledger: Ledger
    reader: DocumentReader
    report: str


class Spent(NamedTuple):
    """Wall and processor seconds of writing and verifying; how long after the last token it took; the judge's calls."""

    wall: float
    cpu: float
    after: float
    judged: int
    verified: VerifiedReport | None


def made_report(claims: int, seed: int = 7) -> Made:
    """40 documents of 60 sentences, and a report of so many claims in paragraphs, lists and a table."""
    dice, store = random.Random(seed), memory_store()
    bundle.library(store, 40, 60, dice)
    reader, ledger = DocumentReader(store.blobs), Ledger()
    documents = store.library.documents(["default"])
    shown = [
        DocumentPassages(document=each, spans=tuple(segment(reader.text(each).decode(), "markdown")))
        for each in documents
    ]
    ledger.apply(ledger.register(1, shown).rows)
    passages = [each for each in ledger.passages_and_sources()[0].values() if len(each.text) > 100]
    return Made(store, ledger, reader, _report([dice.choice(passages) for _ in range(claims)], dice))


def _report(passages: Sequence[Passage], dice: random.Random) -> str:
    sentences = [_claim(passage, dice) for passage in passages]
    groups = [sentences[at : at + 4] for at in range(0, len(sentences), 4)]
    blocks = [
        " ".join(group) if at % 3 else "\n".join(f"- {each}" for each in group) for at, group in enumerate(groups)
    ]
    return "\n\n".join(f"## Part {at // 5 + 1}\n\n{block}" if at % 5 == 0 else block for at, block in enumerate(blocks))


def _claim(passage: Passage, dice: random.Random) -> str:
    """A sentence of a passage without one of its words, and a marker."""
    words = dice.choice(re.findall(r"[A-Z][^.]+\.", passage.text)).split()
    del words[dice.randrange(1, len(words) - 2)]
    return f"{' '.join(words)} [{passage.id}]"


class Writer(Scripted):
    """Streams a report at so many tokens a second, 0 for at once; judges after a while."""

    def __init__(self, report: str, speed: float, judging: float, profile: Profile) -> None:
        super().__init__([], profile=profile)
        self._report, self._speed, self._judging = report, speed, judging
        self.judged, self.ended = 0, 0.0

    async def stream(self, request: Request) -> AsyncGenerator[Delta | Reply, None]:
        """Write, or judge."""
        if request.task == "judge":
            self.judged += 1
            await asyncio.sleep(self._judging)
            yield _supported(request)
            return
        began = time.perf_counter()
        for count, token in enumerate(_TOKEN.findall(self._report) if self._speed else [], 1):
            await asyncio.sleep(max(0.0, began + count / self._speed - time.perf_counter()))
            yield TextDelta(token)
        if not self._speed:
            yield TextDelta(self._report)
        self.ended = time.perf_counter()
        yield Reply(text=self._report, model=self.profile.name)


def _supported(request: Request) -> Reply:
    """A verdict; what is hidden is answered out of the evidence: its first year."""
    years = re.findall(r"\b1[78]\d\d\b", request.user_texts("evidence")[0])
    slots = [{"slot": letter, "value": years[0]} for letter, _ in _HIDDEN.findall(request.user_texts("sentence")[0])]
    arguments = {"slots": slots, "reason": "", "verdict": "supported"}
    return Reply(calls=(ToolCall(id="1", name="verdict", arguments=arguments),), stop="calls", model="writer")


async def run(at: Made, model: Writer, *, checks: bool, streaming: bool) -> Spent:
    """Write and verify once."""
    found: list[VerifiedReport] = []

    async def pipeline(run: Run) -> Outcome:
        proofreader = Proofreader(run, at.ledger, at.reader, "write", ()) if streaming else None
        async with run.with_gate("write").phase("write") as phase:
            phase.emit(ReportStarted())
            request = Request(task="write", system="", messages=(Message(role="user", text="Write."),))
            listener = proofreader.listener("") if proofreader else None
            hooks = StreamHooks(deltas=lambda text: ReportDelta(text=text), listener=listener)
            await phase.ask("complex", request, hooks)
        if checks:
            async with run.with_gate("verify").phase("verify") as phase:
                found.append(await _verified(phase, at, proofreader))
        return Outcome()

    async def prepare() -> tuple[Brief, World]:
        models = dict.fromkeys(ROLES, (model.profile.name,))
        brief = Brief(question="?", date="2026-01-01", models=models)
        store = at.store
        world = World(
            models={model.profile.name: model},
            searches=(),
            library=store.library,
            blobs=store.blobs,
            clock=SystemClock(),
        )
        return brief, world

    wall, cpu = time.perf_counter(), time.process_time()
    await Engine(memory_store().journal, pipeline).start(prepare).wait()
    ended = time.perf_counter()
    spent = time.process_time() - cpu
    return Spent(ended - wall, spent, ended - model.ended, model.judged, found[0] if found else None)


async def _verified(phase: Run, at: Made, proofreader: Proofreader | None) -> VerifiedReport:
    passages: dict[str, Passage]
    sources: dict[str, Source]
    passages, sources = at.ledger.passages_and_sources()
    streamed = at.report if proofreader else ""
    return await verify_report(
        phase,
        WrittenReport(text=at.report, streamed_text=streamed, proofreader=proofreader),
        EvidenceIndex(passages, sources, at.reader),
        CheckRules(),
    )


def embedded(claims: int, rounds: int) -> None:
    """Verifying without a model."""
    at = made_report(claims)
    spent = [
        asyncio.run(run(at, Writer(at.report, 0.0, 0.0, BUILT_IN), checks=True, streaming=False)) for _ in range(rounds)
    ]
    verified = spent[0].verified
    assert verified
    first, rest = spent[0].cpu, [each.cpu for each in spent[1:]]
    counts = verified.summary
    median, least, most = statistics.median(rest), min(rest), max(rest)
    print(
        f"embedded, {counts.claims} claims ({counts.grounded_count} quoted or supported, {counts.unchecked} unchecked):"
    )
    print(f"  {first:.2f} s of processor time the first time, then {median:.2f} ({least:.2f}-{most:.2f})")


def judged(claims: int, speed: float, judging: float) -> None:
    """Verifying with a judge, while streaming and after."""
    at = made_report(claims)

    def once(*, checks: bool, streaming: bool) -> Spent:
        return asyncio.run(run(at, Writer(at.report, speed, judging, WRITER), checks=checks, streaming=streaming))

    alone = once(checks=False, streaming=False)
    tokens = len(_TOKEN.findall(at.report))
    print(f"{tokens:,} tokens at {speed:g} a second: {alone.wall:.1f} s; {alone.cpu:.2f} s of processor time")
    for streaming in (True, False):
        spent = once(checks=True, streaming=streaming)
        assert spent.verified
        added, count = spent.wall - alone.wall, spent.verified.summary.claims
        print(f"checked {'while it streams' if streaming else 'afterwards'}: {spent.wall:.1f} s")
        print(f"  {added:+.2f} s ({added / alone.wall:+.1%}), {spent.after:.2f} s after the last token")
        print(f"  {spent.judged} calls of the judge for {count} claims; {spent.cpu:.2f} s of processor time")


def main() -> None:
    """Print the figures."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--claims", type=int, default=200)
    options.add_argument("--speed", type=float, default=100.0, help="tokens per second")
    options.add_argument("--judge", type=float, default=0.5, help="seconds per claim")
    options.add_argument("--rounds", type=int, default=6, help="rounds of the embedded check")
    options.add_argument("--embedded", action="store_true", help="only the embedded check")
    given = options.parse_args()
    print(machine())
    embedded(given.claims, given.rounds)
    if not given.embedded:
        judged(given.claims, given.speed, given.judge)


if __name__ == "__main__":
    main()
