"""Checks whether a quotation in the claim is in the evidence, word for word."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import msgspec

from assay.core.lazy import regex
from assay.core.plain_text import sections
from assay.core.scanner import scan
from assay.core.sources import Passage
from assay.core.text import sentences, separate_lines, words
from assay.verify.analyzed_text import COMMON, FoldedText, fold_text
from assay.verify.evidence import ClaimEvidence, ClaimSlot, SlotFinding


class Quotation(msgspec.Struct, frozen=True):
    """A quotation; `places` are those of its parts: passage id and code points `[start, end)` of its text."""

    text: str
    places: tuple[tuple[str, int, int], ...] = ()

    @property
    def is_found(self) -> bool:
        return bool(self.places)


_PAIRS = regex(
    r"“([^“”]+)”|„([^„“”]+)[“”]|«([^«»]+)»|»([^«»]+)«|「([^「」]+)」|『([^『』]+)』|"
    r"(?<![\w\d])\"([^\"]+)\"(?!\w)"
)
_LEFT_OUT = regex(r"\s*(?:\[[^\]]*\]|\(\.\.\.\)|\.\.\.)\s*")
_EDGES = " .,;:!?"
_ENDS = regex(r"[^\W\d_]{3}[.!?](?:\s|$)")
"""The end of a sentence, which a title does not have."""


def find(claim: str, evidence: ClaimEvidence) -> Iterator[SlotFinding]:
    """A finding for each quotation of the claim; one that is nowhere in the evidence is a veto."""
    for quote in find_quotations(claim, evidence.passages, evidence.names()):
        at = max(0, claim.find(quote.text))
        yield SlotFinding(
            rule="quote",
            slot=ClaimSlot(quote.text, at, at + len(quote.text)),
            outcome="stated" if quote.is_found else "absent",
            passage=quote.places[0][0] if quote.is_found else "",
            veto=not quote.is_found and not _is_title_of_work(quote.text, evidence),
        )


def _is_title_of_work(text: str, evidence: ClaimEvidence) -> bool:
    """True if it is the title of a film, a book or a case, which the evidence may call by another name.

    As with other names, absence alone says nothing. If the evidence has most of its words, but not all, one was
    changed; a single capitalized word may be a quotation.
    """
    found = [word for word in words(text) if word not in COMMON]
    capitals = sum(word[:1].isupper() for word in text.split())
    if not is_title(text) or _ENDS.search(text) or capitals < 2 or 2 * capitals < len(text.split()):
        return False
    known = {word for passage in evidence.passages for word in words(passage.text)}
    shared = sum(word in known for word in found)
    return shared == len(found) or 2 * shared < len(found)


def find_quotations(claim: str, passages: Sequence[Passage], names: Sequence[str] = ()) -> tuple[Quotation, ...]:
    """The quotations of `claim`, each with its place in one of `passages`.

    They are compared after Unicode normalization, without Markdown. Case counts, but a part may begin with a small
    letter where the evidence has a capital, to fit into a sentence. Omissions ("...") and insertions ("[sic]") divide a
    quotation into parts, which must follow one another in one passage. In a title, here or there, case does not count,
    "&" is "and", and one of `names` (the cited documents' titles) may be quoted too.
    """
    return tuple(_find(quote, passages, names) for quote in _quotations(claim))


def _quotations(claim: str) -> Iterator[str]:
    """The text between quotation marks, ignoring marks in code and links."""
    marks = "".join(
        claim[token.start : token.end] if token.kind == "text" else "x" * (token.end - token.start)
        for token in scan(claim)
    )
    for match in _PAIRS.finditer(marks):
        group = next(at for at, text in enumerate(match.groups(), 1) if text is not None)
        quote = claim[match.start(group) : match.end(group)]
        if any(sign.isalnum() for sign in quote):
            yield quote.strip()


def _find(quote: str, passages: Sequence[Passage], names: Sequence[str]) -> Quotation:
    parts = [part.strip(_EDGES) for part in _LEFT_OUT.split(fold_text(quote).text)]
    parts = [part for part in parts if any(sign.isalnum() for sign in part)]
    for passage in passages:
        places = _places(parts, passage)
        if places:
            return Quotation(quote, places)
    title = " ".join(parts)
    for passage in passages:
        at = _find_title(title, fold_text(passage.text).text)
        if at is not None:
            return Quotation(quote, ((passage.id, *fold_text(passage.text).original_span(*at)),))
    named = any(title in fold_text(name).text for name in names)
    return Quotation(quote, ((passages[0].id, 0, 0),) if named and passages else ())


def _find_title(quote: str, text: str) -> tuple[int, int] | None:
    """The place of a quotation in `text` in other case, if one of both is a title."""
    parts = [r"(?:and|&)" if word.lower() in ("and", "&") else re.escape(word) for word in quote.split(" ")]
    match = re.search(rf"(?<!\w){' '.join(parts)}(?!\w)", text, re.IGNORECASE)
    return match.span() if match and (is_title(quote) or is_title(match[0])) else None


def is_title(text: str) -> bool:
    """True if it looks like a title: a few words, each capitalized except small ones."""
    found = re.sub(r"[^\w\s'’-]", " ", text).split()
    return len(found) <= 8 and any(word[:1].isupper() for word in found) and all(map(_is_titled, found))


def _is_titled(word: str) -> bool:
    return not word[:1].islower() or len(word) <= 3 or word in {"from", "with", "into", "over"}


def _places(parts: Sequence[str], passage: Passage) -> tuple[tuple[str, int, int], ...]:
    """The places of `parts` in `passage`, in order and as whole words; empty if one is missing."""
    text = fold_text(passage.text)
    places = []
    at = 0
    for part in parts:
        begins = f"(?i:{re.escape(part[0])})" if part[0].islower() else re.escape(part[0])
        written = begins + re.escape(part[1:])
        match = re.compile(rf"(?<!\w){written}(?!\w)" if part.isascii() else written).search(text.text, at)
        if match is None:
            return ()
        places.append((passage.id, *text.original_span(match.start(), match.end())))
        at = match.end()
    return tuple(places)


# Claims that say what a passage says, word for word.

_TRAILING = " .!?。！？؟۔।…,;:|\"')]"
_CLOSING = regex(r"(?:[.!?。！？؟۔।…,;:|\"')\]]| \|)*")
_LINE = regex(r"^[ \t]*(?:[-*+•|>]|\d{1,3}[.)]|#{1,6})[ \t]+", re.MULTILINE)


def verbatim_passage(claim: str, evidence: ClaimEvidence) -> Passage | None:
    """The passage that contains `claim` as one or several whole sentences, a whole row or item; else None.

    Compared without Markdown, list markers and final punctuation; case, digits and every word count. A part of a
    sentence is never enough: "the plan was approved" is not what "nobody said the plan was approved" says.
    """
    wanted = fold_text(claim.strip().lstrip("|").strip("| ")).text.rstrip(_TRAILING)
    if not any(sign.isalnum() for sign in wanted):
        return None
    return next((passage for passage in evidence.passages if _has_whole_sentences(wanted, passage, evidence)), None)


def _has_whole_sentences(wanted: str, passage: Passage, evidence: ClaimEvidence) -> bool:
    text = fold_text(passage.text)
    if wanted not in text.text:
        return False
    starts, ends = _bounds(passage, text, evidence)
    for start in starts:
        if text.text.startswith(wanted, start):
            rest = _CLOSING.match(text.text, start + len(wanted))
            if rest and rest.end() in ends:
                return True
    return False


def _bounds(passage: Passage, text: FoldedText, evidence: ClaimEvidence) -> tuple[set[int], set[int]]:
    """Where whole sentences of the passage begin and end in its folded text."""
    lines = [match.start() for match in _LINE.finditer(passage.text)]
    lines += [start for title, start, _ in sections(passage.text) if title]
    firsts, lasts = list[int](), list[int]()
    for spans in (sentences(passage.text), separate_lines(passage.text)):
        firsts += [start for start, _ in spans][passage.id in evidence.cut_before :]
        lasts += [end for _, end in spans][: len(spans) - (passage.id in evidence.cut_after)]
    starts = {_skip_markup(text.text, text.index_at(start)) for start in (*firsts, *lines)}
    places = (text.index_at(end) for end in (*lasts, *(line for line in lines if line)))
    ends = {len(text.text[:at].rstrip(" ")) for at in places}
    return starts, ends


def _skip_markup(text: str, start: int) -> int:
    """`start`, moved past the markup of a row or list."""
    match = re.compile(r"(?:[-*+•|>]|\d{1,3}[.)]|[ ])*[ ]|\|").match(text, start)
    return match.end() if match and not re.match(r"-?\d", text[start:]) else start
