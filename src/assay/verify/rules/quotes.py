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
    """A quotation; `spans` are those of its parts: passage id and code points `[start, end)` of its text."""

    text: str
    spans: tuple[tuple[str, int, int], ...] = ()

    @property
    def is_found(self) -> bool:
        return bool(self.spans)


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
        start = max(0, claim.find(quote.text))
        yield SlotFinding(
            rule="quote",
            slot=ClaimSlot(quote.text, start, start + len(quote.text)),
            outcome="stated" if quote.is_found else "absent",
            passage=quote.spans[0][0] if quote.is_found else "",
            veto=not quote.is_found and not _is_title_of_work(quote.text, evidence),
        )


def _is_title_of_work(text: str, evidence: ClaimEvidence) -> bool:
    """True if it is the title of a film, a book or a case, which the evidence may call by another name.

    As with other names, absence alone says nothing. If the evidence has most of its words, but not all, one was
    changed; a single capitalized word may be a quotation.
    """
    content_words = [word for word in words(text) if word not in COMMON]
    capitals = sum(word[:1].isupper() for word in text.split())
    if not is_title(text) or _ENDS.search(text) or capitals < 2 or 2 * capitals < len(text.split()):
        return False
    evidence_words = {word for passage in evidence.passages for word in words(passage.text)}
    shared_count = sum(word in evidence_words for word in content_words)
    return shared_count == len(content_words) or 2 * shared_count < len(content_words)


def find_quotations(claim: str, passages: Sequence[Passage], names: Sequence[str] = ()) -> tuple[Quotation, ...]:
    """The quotations of `claim`, each with its place in one of `passages`.

    They are compared after Unicode normalization, without Markdown. Case counts, but a part may begin with a small
    letter where the evidence has a capital, to fit into a sentence, and a quotation that begins the claim with a
    capital. Omissions ("...") and insertions ("[sic]") divide a quotation into parts, which must follow one another in
    one passage. In a title, here or there, case does not count, "&" is "and", and one of `names` (the cited documents'
    titles) may be quoted too.
    """
    return tuple(
        _find(quote, passages, names, begins_claim=not claim[:start].strip()) for start, quote in _quotations(claim)
    )


def _quotations(claim: str) -> Iterator[tuple[int, str]]:
    """The text between quotation marks, ignoring marks in code and links, and where each opens."""
    marks = "".join(
        claim[token.start : token.end] if token.kind == "text" else "x" * (token.end - token.start)
        for token in scan(claim)
    )
    for match in _PAIRS.finditer(marks):
        group = next(group_number for group_number, text in enumerate(match.groups(), 1) if text is not None)
        quote = claim[match.start(group) : match.end(group)]
        if any(sign.isalnum() for sign in quote):
            yield match.start(), quote.strip()


def _find(quote: str, passages: Sequence[Passage], names: Sequence[str], *, begins_claim: bool) -> Quotation:
    parts = [part.strip(_EDGES) for part in _LEFT_OUT.split(fold_text(quote).text)]
    parts = [part for part in parts if any(sign.isalnum() for sign in part)]
    for passage in passages:
        spans = _places(parts, passage, begins_claim=begins_claim)
        if spans:
            return Quotation(quote, spans)
    title = " ".join(parts)
    for passage in passages:
        title_span = _find_title(title, fold_text(passage.text).text)
        if title_span is not None:
            return Quotation(quote, ((passage.id, *fold_text(passage.text).original_span(*title_span)),))
    is_named = any(title in fold_text(name).text for name in names)
    return Quotation(quote, ((passages[0].id, 0, 0),) if is_named and passages else ())


def _find_title(quote: str, text: str) -> tuple[int, int] | None:
    """The place of a quotation in `text` in other case, if one of both is a title."""
    parts = [r"(?:and|&)" if word.lower() in ("and", "&") else re.escape(word) for word in quote.split(" ")]
    match = re.search(rf"(?<!\w){' '.join(parts)}(?!\w)", text, re.IGNORECASE)
    return match.span() if match and (is_title(quote) or is_title(match[0])) else None


def is_title(text: str) -> bool:
    """True if it looks like a title: a few words, each capitalized except small ones."""
    word_list = re.sub(r"[^\w\s'’-]", " ", text).split()
    return len(word_list) <= 8 and any(word[:1].isupper() for word in word_list) and all(map(_is_titled, word_list))


def _is_titled(word: str) -> bool:
    return not word[:1].islower() or len(word) <= 3 or word in {"from", "with", "into", "over"}


def _places(parts: Sequence[str], passage: Passage, *, begins_claim: bool) -> tuple[tuple[str, int, int], ...]:
    """The places of `parts` in `passage`, in order and as whole words; empty if one is missing."""
    text = fold_text(passage.text)
    spans = []
    position = 0
    for part in parts:
        is_free = part[0].islower() or (begins_claim and position == 0)
        begins = f"(?i:{re.escape(part[0])})" if is_free else re.escape(part[0])
        pattern = begins + re.escape(part[1:])
        match = re.compile(rf"(?<!\w){pattern}(?!\w)" if part.isascii() else pattern).search(text.text, position)
        if match is None:
            return ()
        spans.append((passage.id, *text.original_span(match.start(), match.end())))
        position = match.end()
    return tuple(spans)


# Claims that say what a passage says, word for word.

_TRAILING = " .!?。！？؟۔।…,;:|\"')]"
_CLOSING = regex(r"(?:[.!?。！？؟۔।…,;:|\"')\]]| \|)*")
_LINE = regex(r"^[ \t]*(?:[-*+•|>]|\d{1,3}[.)]|#{1,6})[ \t]+", re.MULTILINE)


def verbatim_passage(claim: str, evidence: ClaimEvidence) -> Passage | None:
    """The passage that contains `claim` as one or several whole sentences, a whole row or item; else None.

    Compared without Markdown, list markers and final punctuation; case, digits and every word count. A part of a
    sentence is never enough: "the plan was approved" is not what "nobody said the plan was approved" says.
    """
    statement = fold_text(claim.strip().lstrip("|").strip("| ")).text.rstrip(_TRAILING)
    if not any(sign.isalnum() for sign in statement):
        return None
    return next((passage for passage in evidence.passages if _has_whole_sentences(statement, passage, evidence)), None)


def _has_whole_sentences(statement: str, passage: Passage, evidence: ClaimEvidence) -> bool:
    text = fold_text(passage.text)
    if statement not in text.text:
        return False
    starts, ends = _bounds(passage, text, evidence)
    for start in starts:
        if text.text.startswith(statement, start):
            ending = _CLOSING.match(text.text, start + len(statement))
            if ending and ending.end() in ends:
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
    positions = (text.index_at(end) for end in (*lasts, *(line for line in lines if line)))
    ends = {len(text.text[:position].rstrip(" ")) for position in positions}
    return starts, ends


def _skip_markup(text: str, start: int) -> int:
    """`start`, moved past the markup of a row or list."""
    match = re.compile(r"(?:[-*+•|>]|\d{1,3}[.)]|[ ])*[ ]|\|").match(text, start)
    return match.end() if match and not re.match(r"-?\d", text[start:]) else start
