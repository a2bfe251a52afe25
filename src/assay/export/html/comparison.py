"""A claim beside the passages it cites: which words of each the other does not have."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from markupsafe import Markup

from assay.core.report import ReportPassage
from assay.core.translation import colon
from assay.core.translation import gettext as _
from assay.export.differences import DiffPiece, differing
from assay.export.html.markup import Child, el, join, safe

MOST = 3
"""Passages a claim is set beside."""


def comparisons(claim: str, passages: Sequence[ReportPassage], *, is_open: bool) -> Child:
    """The claim beside each passage; None where every word stands there, in its order.

    Words which only one of the two has are bold and underlined, and are read out as such.
    """
    said = " ".join(claim.split())
    found = [(passage, differing(said, " ".join(passage.text.split()))) for passage in passages[:MOST]]
    if not found or any(difference.is_none for _, difference in found):
        return None
    sides = (
        el(
            "div",
            _side(_("The report"), _("only in the report"), difference.claim),
            _side(_("Passage {id}").format(id=passage.id), _("only in the passage"), difference.passage),
            class_="compared",
        )
        for passage, difference in found
    )
    summary = el("summary", _("Where they differ: words only one of them has are underlined"))
    return el("details", summary, *sides, class_="compare", open=is_open)


def _side(name: str, only: str, pieces: Iterable[DiffPiece]) -> Markup:
    words = join(_word(piece, only) for piece in pieces)
    return el("p", el("span", name, colon(), class_="who"), el("q", el("bdi", words)))


def _word(piece: DiffPiece, only: str) -> Markup:
    if not piece.differs:
        return safe(piece.text)
    return el("em", el("span", "(", only, colon(), class_="unseen"), piece.text, el("span", ")", class_="unseen"))
