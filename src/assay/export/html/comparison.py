"""A claim beside the passages it cites, with the words that only one of them has."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import SequenceMatcher

import msgspec
from markupsafe import Markup

from assay.core.lazy import regex
from assay.core.report import ReportClaim
from assay.core.translation import colon_text
from assay.core.translation import gettext as _
from assay.export import report_parts
from assay.export.html.evidence_section import passage_label
from assay.export.html.markup import (
    Child,
    PageMaterial,
    el,
    escape_text,
    join,
)

_TOKEN = regex(r"\w+(?:[.,'’]\w+)*|\W+?")
_MAX_COMPARED_CHARS = 4_000
"""The most characters of a text that are compared: the time grows with the square."""


class DiffPiece(msgspec.Struct, frozen=True):
    """A span of one of the texts; `differs` means that the other lacks it."""

    text: str
    differs: bool


class TextDifference(msgspec.Struct, frozen=True):
    """Both texts in pieces; the joined pieces are the texts."""

    claim: tuple[DiffPiece, ...]
    passage: tuple[DiffPiece, ...]

    @property
    def is_none(self) -> bool:
        """True if the passage has every word of the claim, in its order."""
        return not any(piece.differs for piece in (*self.claim, *self.passage))


def compare_texts(claim: str, passage: str) -> TextDifference:
    """The words of `claim` that `passage` lacks, and the words that the passage has instead.

    Case and punctuation do not count. The passage's text before the first common word and after the last is context,
    not difference. Longest matching blocks (Ratcliff and Metzener 1988).
    """
    ours, theirs = _tokens(claim[:_MAX_COMPARED_CHARS]), _tokens(passage[:_MAX_COMPARED_CHARS])
    a, b = _words(ours), _words(theirs)
    blocks = SequenceMatcher(None, [word for word, _ in a], [word for word, _ in b], autojunk=False)
    matches = [(index, other_index, size) for index, other_index, size in blocks.get_matching_blocks() if size]
    same = {a[index + step][1] for index, _, size in matches for step in range(size)}
    alike = {b[other_index + step][1] for _, other_index, size in matches for step in range(size)}
    first, last = (min(alike), max(alike)) if alike else (len(theirs), -1)
    missing = {index for _, index in a} - same
    instead = {index for _, index in b if first < index < last} - alike
    return TextDifference(
        (*_pieces(ours, missing), *_unmarked_piece(claim)),
        (*_pieces(theirs, instead), *_unmarked_piece(passage)),
    )


def _tokens(text: str) -> list[str]:
    return _TOKEN.findall(text)


def _words(tokens: list[str]) -> list[tuple[str, int]]:
    """The words in the compared form, and the place of each among the tokens."""
    return [(token.casefold(), at) for at, token in enumerate(tokens) if token[0].isalnum()]


def _unmarked_piece(text: str) -> tuple[DiffPiece, ...]:
    return (DiffPiece(text[_MAX_COMPARED_CHARS:], differs=False),) if len(text) > _MAX_COMPARED_CHARS else ()


def _pieces(tokens: list[str], marked: set[int]) -> list[DiffPiece]:
    """Joined tokens; white space between two marked words is marked too."""
    pieces: list[DiffPiece] = []
    pending = ""
    for index, token in enumerate(tokens):
        if index in marked:
            joins = bool(pieces) and pieces[-1].differs and not pending.strip()
            if joins:
                pieces[-1] = DiffPiece(f"{pieces[-1].text}{pending}{token}", differs=True)
            else:
                pieces += [DiffPiece(pending, differs=False), DiffPiece(token, differs=True)]
            pending = ""
        else:
            pending += token
    pieces.append(DiffPiece(pending, differs=False))
    return [piece for piece in pieces if piece.text]


# A claim next to the passages it cites, with the words that the other side lacks.

MAX_COMPARISONS = 3
"""The most passages that a claim is compared with."""


def passage_comparisons(material: PageMaterial, claim: ReportClaim) -> Child:
    """The claim next to each passage it cites; None if a passage has all its words in order.

    Words which only one of the two has are bold and underlined, and are read out as such.
    """
    text, passages = " ".join(claim.text.split()), material.passages_of(claim)[:MAX_COMPARISONS]
    comparisons = [(passage, compare_texts(text, " ".join(passage.text.split()))) for passage in passages]
    if not comparisons or any(difference.is_none for _, difference in comparisons):
        return None
    sides = (
        el(
            "div",
            _side(_("The report"), _("only in the report"), difference.claim),
            _side(passage_label(material, passage.id), _("only in the passage"), difference.passage),
            class_="compared",
        )
        for passage, difference in comparisons
    )
    summary = el("summary", _("Where they differ: words only one of them has are underlined"))
    return el("details", summary, *sides, class_="compare", open=claim.verdict in report_parts.TO_CHECK)


def _side(name: str, only: str, pieces: Iterable[DiffPiece]) -> Markup:
    words = join(_word(piece, only) for piece in pieces)
    return el("p", el("span", name, colon_text(), class_="who"), el("q", el("bdi", words)))


def _word(piece: DiffPiece, only: str) -> Markup:
    if not piece.differs:
        return escape_text(piece.text)
    return el("em", el("b", "(", only, colon_text()), piece.text, el("b", ")"))
