"""The bundle of a 200-claim report: time to build, size, time to verify in process and as a whole process."""

from __future__ import annotations

import argparse
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from assay.core import events as e
from assay.core.brief import Brief
from assay.core.claims import Claim, summarize
from assay.core.ports.exporters import Record
from assay.core.ports.store import Store
from assay.core.sources import Document, Passage, Snapshot, Source, sha256
from assay.core.view import fold_events
from assay.evidence.segment import segment
from assay.export.bundle import EXPORTER, check_bundle
from assay.store.memory import memory_store

AT = "2026-01-01T00:00:00.000Z"
WORDS = "harbour bridge toll tide keeper ledger stone engine winter river parish survey cost repair measure".split()


def sentence(dice: random.Random) -> str:
    """A sentence of 8 to 16 words and a number."""
    words = " ".join(dice.choices(WORDS, k=dice.randint(8, 16)))
    return f"{words.capitalize()} in {dice.randint(1700, 1900)}."


def library(store: Store, documents: int, sentences: int, dice: random.Random) -> list[tuple[Source, list[Passage]]]:
    """Documents in the store, each as a source with its passages."""
    made = []
    for number in range(1, documents + 1):
        paragraphs = (" ".join(sentence(dice) for _ in range(4)) for _ in range(sentences // 4))
        text = f"# Record {number}\n\n" + "\n\n".join(paragraphs) + "\n"
        hashed, url = store.blobs.put(text.encode()), f"https://example.org/records/{number}"
        size = len(text.encode())
        snapshot = Snapshot(sha256=hashed, url=url, media_type="text/markdown", size=size, fetched_at=AT)
        fields = {"url": url, "title": f"Record {number}", "media_type": "text/markdown", "fetched_at": AT}
        about = Document(
            sha256=hashed,
            snapshot_sha256=hashed,
            extractor="markdown/1",
            name=url,
            syntax="markdown",
            size=size,
            **fields,
        )
        store.library.add([(snapshot, about)], "default")
        source = Source(id=f"S{1000 + number}", document_sha256=hashed, snapshot_sha256=hashed, **fields)
        made.append(
            (source, [_passage(source, span) for span in segment(text, "markdown") if span.kind == "paragraph"])
        )
    return made


def _passage(source: Source, span: object) -> Passage:
    ordinal, start, end, text = (getattr(span, name) for name in ("ordinal", "start", "end", "text"))
    return Passage(
        id=f"{source.id}.{ordinal}",
        source=source.id,
        document_sha256=source.document_sha256,
        start=start,
        end=end,
        text=text,
        text_sha256=sha256(text.encode()),
    )


def run_events(sources: list[tuple[Source, list[Passage]]], claims: int, dice: random.Random) -> Iterator[e.Event]:
    """The events of a run whose report makes so many claims, three to a paragraph."""
    yield e.RunCreated(brief=Brief(question="What do the records say?", date="2026-01-01"))
    yield from (e.SourceAdded(source=source) for source, _ in sources)
    text, found = "", []
    for number in range(1, claims + 1):
        passage = dice.choice(dice.choice(sources)[1])
        start, sentence = len(text), passage.text.partition(". ")[0].rstrip(".") + "."
        text += f"{sentence} [{passage.id}]" + ("\n\n" if number % 3 == 0 else " ")
        claim = Claim(id=f"c{number}", text=sentence, start=start, end=start + len(sentence), passages=(passage.id,))
        found.append((msgspec.structs.replace(claim, verdict="quoted"), passage))
    yield from (e.ReportDelta(text=text[at : at + 200]) for at in range(0, len(text), 200))
    for claim, passage in found:
        yield e.ClaimFound(id=claim.id, text=claim.text, start=claim.start, end=claim.end, passages=(passage,))
        yield e.ClaimChecked(id=claim.id, rule="verbatim", verdict="quoted")
    yield e.VerifySummary(summary=summarize(claim for claim, _ in found), passed=True)
    yield e.ReportFinished(text_sha256=sha256(text.encode()))
    yield e.RunCompleted(stop_reason="done", verified=True)


def record(claims: int, documents: int, sentences: int, seed: int) -> Record:
    """The stored run."""
    dice, store = random.Random(seed), memory_store()
    events = run_events(library(store, documents, sentences, dice), claims, dice)
    log = tuple(
        e.Envelope(seq=seq, run_id="bench", at=AT, path=(), type=event.kind, data=msgspec.Raw(e.encode(event)))
        for seq, event in enumerate(events, 1)
    )
    return Record(view=fold_events(log), log=log, library=store.library, blobs=store.blobs)


def timed(work: Callable[[], object], rounds: int) -> float:
    """The median of the seconds it takes."""
    taken = []
    for _ in range(rounds):
        begun = time.perf_counter()
        work()
        taken.append(time.perf_counter() - begun)
    return statistics.median(taken)


def _process(path: Path) -> None:
    done = subprocess.run([sys.executable, "-m", "assay", "verify", str(path)], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stdout + done.stderr)


def main(claims: int, documents: int, sentences: int, rounds: int) -> None:
    """Build, verify in this process, verify in one of its own; print the medians."""
    made = record(claims, documents, sentences, seed=1)
    data = EXPORTER.render(made)
    if not check_bundle(data).ok:
        raise SystemExit("the bundle does not hold")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.zip"
        path.write_bytes(data)
        print(f"{claims} claims, {documents} documents of {sentences} sentences: {len(data) / 1e6:.2f} MB")
        print(f"build             {timed(lambda: EXPORTER.render(made), rounds):6.2f} s")
        print(f"verify            {timed(lambda: check_bundle(data), rounds):6.2f} s")
        print(f"`assay verify`    {timed(lambda: _process(path), rounds):6.2f} s  (aim: 2 s)")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--claims", type=int, default=200)
    parser.add_argument("--documents", type=int, default=40)
    parser.add_argument("--sentences", type=int, default=400)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    main(options.claims, options.documents, options.sentences, options.rounds)
