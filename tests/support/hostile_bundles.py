"""Bundles made to take long: each agrees with itself as far as it goes, and costs its maker little."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Iterable, Sequence

import msgspec
from bundles import bundle_of_two_agents, forged, members_of

from assay.core import events as e
from assay.core.events import Envelope, Event
from assay.core.events.envelope import decode
from assay.core.sources import Passage, sha256
from assay.export.bundle import check_bundle


@functools.cache
def honest() -> bytes:
    """The bundle of a whole run; made once."""
    return asyncio.run(bundle_of_two_agents())


def log_of(data: bytes) -> list[Envelope]:
    """A bundle's log."""
    return [msgspec.json.decode(line, type=Envelope) for line in members_of(data)["events.jsonl"].splitlines()]


def with_report(text: str, more: Iterable[Event] = ()) -> bytes:
    """The honest bundle with another report, and with more events after it; its hashes are right."""
    log = log_of(honest())
    first = next(at for at, each in enumerate(log) if each.type.startswith(("report.", "claim.")))
    found = [
        e.ReportStarted(title="A report"),
        e.ReportDelta(text=text),
        e.ReportFinished(text_sha256=sha256(text.encode())),
        *more,
    ]
    like = log[first]
    made = [
        msgspec.structs.replace(like, type=each.kind, data=msgspec.Raw(msgspec.json.encode(each))) for each in found
    ]
    numbered = [msgspec.structs.replace(each, seq=at) for at, each in enumerate([*log[:first], *made], 1)]
    return forged(honest(), {"events.jsonl": b"".join(msgspec.json.encode(each) + b"\n" for each in numbered)})


def passages() -> Sequence[Passage]:
    """Passages the honest run was shown."""
    found = [event for each in log_of(honest()) if isinstance(event := decode(each), e.ClaimFound)]
    return [passage for event in found for passage in event.passages]


TEXT = "The tide rises twice a day at the harbour [S1001.1]. "


def _claims(count: int, end: int) -> list[e.ClaimFound]:
    return [e.ClaimFound(id=f"c{at}", text="The tide.", start=0, end=end) for at in range(count)]


def long_claims(size: int) -> bytes:
    """Thousands of claims, each over the whole of one long text."""
    text = TEXT * (size // 2 // len(TEXT))
    return with_report(text, _claims(size // 2 // 200, len(text)))


def revisions(size: int) -> bytes:
    """Thousands of claims, and then thousands of revisions which keep them all."""
    return with_report(
        TEXT, [*_claims(size // 400, 5), *(e.ReportRevised(text=TEXT, why="r") for _ in range(size // 400))]
    )


def objections(size: int) -> bytes:
    """One claim, and thousands of checks which each name another passage against it."""
    like = passages()[0]
    checks = [
        e.ClaimChecked(
            id="c0",
            rule="r",
            verdict="contradicted",
            against=(msgspec.structs.replace(like, id=f"{like.source}.{at}"),),
        )
        for at in range(size // 600)
    ]
    return with_report(TEXT, [*_claims(1, 5), *checks])


def rewritings(size: int) -> bytes:
    """One claim with thousands of versions."""
    made = [e.ClaimRevised(id="c0", before="a", after="b", why="w") for _ in range(size // 200)]
    return with_report(TEXT, [*_claims(1, 5), *made])


def beginnings(size: int) -> bytes:
    """A report begun anew thousands of times."""
    again = [e.ReportStarted(), e.ReportDelta(text=TEXT)]
    return with_report(TEXT, [*again * (size // 400), *_claims(1, 5)])


def conflicts(size: int) -> bytes:
    """Thousands of conflicts between sources."""
    like = passages()[:1]
    return with_report(
        TEXT, [e.ConflictFound(text=f"They differ {at}.", passages=tuple(like)) for at in range(size // 700)]
    )


def markers(size: int) -> bytes:
    """A text of nothing but markers."""
    return with_report("[S1001.1]" * (size // 9))


def ranges(size: int) -> bytes:
    """A text of markers which each stand for many passages."""
    return with_report("[S1001.1-S1001.999] " * (size // 20))


def long_passage(size: int) -> bytes:
    """One long passage, cited thousands of times."""
    like = passages()[0]
    long = msgspec.structs.replace(like, text="tide " * (size // 20), end=like.start + size // 4)
    text = f"The tide [{like.id}]. " * (size // 40)
    step = len(text) // (size // 40)
    found = e.ClaimFound(id="c", text="The tide.", start=0, end=step, passages=(long,))
    again = [
        e.ClaimFound(id=f"c{at}", text="The tide.", start=at * step, end=at * step + step) for at in range(size // 400)
    ]
    return with_report(text, [found, *again])


def plain(unit: str) -> Callable[[int], bytes]:
    """A text which repeats something."""
    return lambda size: with_report(unit * (size // len(unit)))


TEXTS: dict[str, Callable[[int], bytes]] = {
    "stars": plain("*"),
    "emphasis": plain("*a "),
    "brackets": plain("["),
    "links": plain("[a](b"),
    "quotes": plain("> "),
    "lists": plain("- "),
    "numbers": plain("1. a\n"),
    "breaks": plain("<br>"),
    "tables": plain("|a"),
    "rows": lambda size: with_report("|a|b|\n|-|-|\n" + "|a|b|\n" * (size // 6)),
    "ticks": plain("`a``"),
    "fences": plain("```\n"),
    "entities": plain("&amp;"),
    "angles": plain("<a "),
    "comments": plain("<!--"),
    "headings": plain("# a\n"),
    "footnotes": plain("[^1]: a\n"),
    "references": plain("[a]: <b>\n"),
    "spaces": plain(" "),
    "lines": plain("\n"),
    "escapes": plain("\\["),
    "dollars": plain("$a"),
    "letters": plain("a\n\n"),
    "word": plain("a"),
    "sentences": plain("A b. "),
    "equals": plain("a\n=\n"),
}
"""Reports which repeat something; reading them is what drafts are tried with, too."""

KINDS: dict[str, Callable[[int], bytes]] = {
    **{
        make.__name__: make
        for make in (
            long_claims,
            revisions,
            objections,
            rewritings,
            beginnings,
            conflicts,
            markers,
            ranges,
            long_passage,
        )
    },
    **TEXTS,
}

if __name__ == "__main__":
    import sys
    import time

    sizes = [int(each) for each in sys.argv[1].split(",")]
    for name in sys.argv[2:] or KINDS:
        row = []
        for size in sizes:
            data = KINDS[name](size)
            began = time.process_time()
            check_bundle(data)
            row.append(f"{len(data) / 1e6:6.2f} MB {time.process_time() - began:7.2f} s")
        print(f"{name:12}", *row, flush=True)
