"""Claims which say what a passage says, word for word."""

from __future__ import annotations

import re

from assay.core.sources import Passage
from assay.core.text import sentences
from assay.verify.evidence import ClaimEvidence
from assay.verify.plain import FoldedText, plain

_TRAILING = " .!?。！？؟۔।…,;:|\"')]"
_CLOSING = re.compile(r"(?:[.!?。！？؟۔।…,;:|\"')\]]| \|)*")
_LINE = re.compile(r"^[ \t]*(?:[-*+•|>]|\d{1,3}[.)]|#{1,6})[ \t]+", re.MULTILINE)


def verbatim(claim: str, evidence: ClaimEvidence) -> Passage | None:
    """The passage in which `claim` stands as one or several whole sentences, a whole row or item; None without one.

    Compared without Markdown, list signs and punctuation at the end; case, digits and every word count. A part of a
    sentence never will do: "the plan was approved" is not what "nobody said the plan was approved" says.
    """
    wanted = plain(claim.strip().lstrip("|").strip("| ")).text.rstrip(_TRAILING)
    if not any(sign.isalnum() for sign in wanted):
        return None
    return next((passage for passage in evidence.passages if _stands(wanted, passage, evidence)), None)


def _stands(wanted: str, passage: Passage, evidence: ClaimEvidence) -> bool:
    text = plain(passage.text)
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
    spans = sentences(passage.text)
    lines = [match.start() for match in _LINE.finditer(passage.text)]
    firsts = [start for start, _ in spans][passage.id in evidence.cut_before :]
    lasts = [end for _, end in spans][: len(spans) - (passage.id in evidence.cut_after)]
    starts = {_skipped(text.text, text.index(start)) for start in (*firsts, *lines)}
    ends = {_trimmed(text.text, text.index(end)) for end in (*lasts, *(line for line in lines if line))}
    return starts, ends


def _skipped(text: str, start: int) -> int:
    """`start` past the signs of a row or list."""
    match = re.compile(r"(?:[-*+•|>]|\d{1,3}[.)]|[ ])*[ ]|\|").match(text, start)
    return match.end() if match and not re.match(r"-?\d", text[start:]) else start


def _trimmed(text: str, end: int) -> int:
    """`end` before white space; the signs which end a sentence stay."""
    return len(text[:end].rstrip(" "))
