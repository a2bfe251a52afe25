"""The HTML page of a report with 200 claims: rendering time, size, and memory.

python bench/html_page.py [CLAIMS]    the report is generated from a seed: 60 sources, 240 passages, every verdict
"""

from __future__ import annotations

import random
import statistics
import sys
import time
import tracemalloc
from collections.abc import Iterator

import msgspec
from corpus import machine

from assay.core.brief import Brief
from assay.core.claims import VERDICTS, Check, Claim, summarize
from assay.core.sources import Passage, Source, Surroundings, sha256
from assay.core.view import Gate, RunView, Writing
from assay.export.html import render

SEED, ROUNDS = 11, 9
SOURCES, A_SOURCE = 60, 4
WORDS = (
    "tide port metre level rose fell year station record harbour gauge mean spring neap moon survey chart depth".split()
)


def main(arguments: list[str]) -> int:
    """Print the figures."""
    view = made_up(random.Random(SEED), int(arguments[0]) if arguments else 200)
    print(f"{len(view.claims)} claims, {len(view.sources)} sources, {len(view.report.text):,} characters; {machine()}")
    seconds = list(_timed(view))
    print(
        f"render: median {statistics.median(seconds) * 1000:.0f} ms of {ROUNDS}, slowest {max(seconds) * 1000:.0f} ms"
    )
    page, bare = len(render(view).encode()), len(render(_without_quotes(view)).encode())
    print(f"size: {page / 1000:.0f} kB, {bare / 1000:.0f} kB without the text of the quotes and their context")
    tracemalloc.start()
    render(view)
    print(f"memory: {tracemalloc.get_traced_memory()[1] / 1e6:.1f} MB at most")
    return 0


def made_up(chance: random.Random, claims: int) -> RunView:
    """A finished run with this many claims."""
    sources = {f"S{1000 + n}": _source(chance, f"S{1000 + n}") for n in range(1, SOURCES + 1)}
    passages = {
        (id := f"{source.id}.{n}"): _passage(chance, id, source) for source in sources.values() for n in range(A_SOURCE)
    }
    text, found = _report(chance, tuple(passages.values()), claims)
    checks = {
        claim.id: tuple(Check(rule=rule, verdict=claim.verdict, reason=claim.reason) for rule in ("numbers", "judge"))
        for claim in found
    }
    return RunView(
        run_id="bench00001",
        brief=Brief(question="How have tides changed at the ports of the channel?", date="2026-01-01"),
        status="completed",
        stop_reason="done",
        verified=True,
        mode="deep_research",
        depth="extended",
        sources=sources,
        passages=passages,
        surroundings={id: Surroundings(id=id, before=_words(chance, 50), after=_words(chance, 50)) for id in passages},
        report=Writing(text=text, state="finished", text_sha256=sha256(text.encode())),
        claims=found,
        checks=checks,
        gate=Gate(summary=summarize(found), passed=True),
    )


def _words(chance: random.Random, count: int) -> str:
    return " ".join(chance.choice(WORDS) for _ in range(count))


def _source(chance: random.Random, id: str) -> Source:
    return Source(
        id=id,
        document_sha256=sha256(id.encode()),
        snapshot_sha256=sha256(b"snapshot " + id.encode()),
        url=f"https://example.org/{_words(chance, 3).replace(' ', '-')}/{id}",
        title=_words(chance, 8).capitalize(),
        media_type="text/html",
        fetched_at="2026-01-01T00:00:00.000Z",
        author="A. Writer",
        published="2020-05-01",
    )


def _passage(chance: random.Random, id: str, source: Source) -> Passage:
    text, start = _words(chance, 45), chance.randrange(50_000)
    return Passage(
        id=id,
        source=source.id,
        document_sha256=source.document_sha256,
        start=start,
        end=start + len(text),
        text=text,
        text_sha256=sha256(text.encode()),
        heading=("Results", _words(chance, 3)),
    )


def _report(chance: random.Random, passages: tuple[Passage, ...], claims: int) -> tuple[str, tuple[Claim, ...]]:
    """Sections of paragraphs and lists, each sentence a claim with one to three passages."""
    text, found = "# Tides\n\n", []
    for number in range(1, claims + 1):
        if number % 20 == 1:
            text += f"\n\n## {_words(chance, 4).capitalize()}\n\n"
        cited = tuple(passage.id for passage in chance.sample(passages, chance.choice((1, 1, 2, 3))))
        sentence = f"At **port {number}** the {_words(chance, 12)} by {chance.randrange(90)} % [{'; '.join(cited)}]."
        verdict = chance.choices(VERDICTS, weights=(20, 50, 10, 8, 4, 8))[0]
        reason = "" if verdict == "supported" else f"the passage says {chance.randrange(90)} %"
        start = len(text)
        text += sentence
        found.append(
            Claim(
                id=f"c{number}",
                text=sentence,
                start=start,
                end=len(text),
                passages=cited,
                verdict=verdict,
                reason=reason,
            )
        )
        text += chance.choice((" ", " ", "\n\n", "\n- "))
    return text, tuple(found)


def _timed(view: RunView) -> Iterator[float]:
    render(view)
    for _ in range(ROUNDS):
        begun = time.perf_counter()
        render(view)
        yield time.perf_counter() - begun


def _without_quotes(view: RunView) -> RunView:
    bare = {id: msgspec.structs.replace(passage, text="") for id, passage in view.passages.items()}
    return msgspec.structs.replace(view, passages=bare, surroundings={})


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
