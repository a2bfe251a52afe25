"""One list out of several: what different search providers found, best first."""

from __future__ import annotations

from collections.abc import Sequence

from assay.core.sources import SNIPPET
from assay.core.web_addresses import canonical
from assay.run.protocols import DocumentPassages

DAMPING = 60
"""`k` of reciprocal-rank fusion, as its authors found it to work (see `fuse`)."""


def fuse(answers: Sequence[Sequence[DocumentPassages]]) -> list[DocumentPassages]:
    """What was found, best first, each document and each page of the web once.

    A place in a list counts 1 / (60 + rank), summed over the lists (reciprocal-rank fusion: Cormack, Clarke and
    Büttcher 2009); equal sums go by rank, then in the order of the lists. Of a page which several found, the words of
    the one which ranked it best are shown.
    """
    scores: dict[str, float] = {}
    best: dict[str, tuple[int, int, DocumentPassages]] = {}
    for place, answer in enumerate(answers):
        seen: set[str] = set()
        for rank, shown in enumerate(answer, 1):
            name = _name(shown)
            if name in seen:
                continue
            seen.add(name)
            scores[name] = scores.get(name, 0.0) + 1 / (DAMPING + rank)
            found = (rank, place, shown)
            best[name] = min(best.get(name, found), found, key=lambda each: each[:2])
    ordered = sorted(best, key=lambda name: (-scores[name], *best[name][:2]))
    return [best[name][2] for name in ordered]


def _name(shown: DocumentPassages) -> str:
    """What makes two results the same: the page's address, of other documents the text."""
    document = shown.document
    return canonical(document.url) if document.media_type == SNIPPET else document.sha256
