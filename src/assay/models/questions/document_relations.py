"""How a question refers to one document through another: "the PEP that took the place of PEP 5".

Of the words that relate documents, the one nearest to the numbered document counts. Its subject is the document before
it, or the one after its passive and "by". English only.
"""

from __future__ import annotations

import re
from typing import Literal

import msgspec

from assay.core.patterns import regex

Relation = Literal["requires", "replaces", "replaced"]

FAR = 60
"""The most code points between a document and the word that relates it to another."""

_BE = r"(?:is|are|was|were|be|been|being|got|gets)"
_CUES = {
    "successor": r"successors?|replacements?|heirs?|follow-ups?|(?:next|later) version",
    "predecessor": r"predecessors?|forerunners?|precursors?|ancestors?|(?:previous|earlier) version",
    "prerequisite": r"prerequisites?|requirements?|dependenc(?:y|ies)|foundations?|without which",
    "yield": r"(?:g[ai]v|mak|mad)\w+ (?:way|room|place)(?: (?:to|for))?|yield\w*(?: to)?|c[ao]mes? before|preced\w+",
    "replace": (
        r"(?:replac|supersed|displac|supplant|succeed|deprecat|retir)\w+|obsolet(?:e[sd]|ing)|"
        r"(?:ma[dk]|render)\w* obsolete|t(?:ak|ook)\w* (?:the place of|over from|its place)|do\w* away with|"
        r"st(?:an|oo|ep)\w+ in (?:for|place of)|(?:c[ao]mes?|follow\w*) after|follow(?:s|ed|ing)?(?: on from)?"
    ),
    "need": (
        r"requir(?:e|es|ed|ing)|need(?:s|ed|ing)?|(?:depend|rel[yi]|buil|bas)\w*(?: (?:up)?on)?|rest\w* (?:up)?on|"
        r"(?:presuppos|assum|extend)\w+|call\w* for|cannot do without|ha[sv]e? to be \w+ (?:in place )?(?:before|for)"
    ),
}
_CUE = regex(rf"\b(?:{'|'.join(f'(?P<{kind}>{words})' for kind, words in _CUES.items())})\b", re.IGNORECASE)
_BREAK = regex(r"[,;:.?!](?:\s|$)|\band\b|^\s*(?:which|that|who)\b", re.IGNORECASE)
"""Text between a document and such a word after which the word is about something else: "PEP 5, which replaced PEP 4".
"""
_BY = regex(r"\bby\s+(?:the\s+)?(?:[\w-]+\s+)?$", re.IGNORECASE)
_PASSIVE = regex(rf"\b{_BE}(?:\s+\w+){{0,2}}\s*$", re.IGNORECASE)
_PLACED = regex(r"\s*(?:by|for|in|before|within|of)?\s*(?:the\s+)?(?:[\w-]+\s+)?", re.IGNORECASE)


class RelationMention(msgspec.Struct, frozen=True):
    """A relation to the document at a place in a text; `[start, end)` covers both, `cue` are the words for it."""

    relation: Relation
    start: int
    end: int
    cue: str = ""


def described(text: str, start: int, end: int) -> RelationMention | None:
    """The relation of another document to the one at `[start, end)`; None if the text states none."""
    cues = [cue for cue in _CUE.finditer(text) if cue.start() >= end or cue.end() <= start]
    for cue in sorted(cues, key=lambda cue: max(cue.start() - end, start - cue.end())):
        between = text[end : cue.start()] if cue.start() >= end else text[cue.end() : start]
        if len(between) > FAR or _BREAK.search(between):
            continue
        if (relation := _relation(text, cue, start, between)) is not None:
            return RelationMention(relation, min(start, cue.start()), max(end, cue.end()), cue=cue[0])
    return None


def _relation(text: str, cue: re.Match[str], start: int, between: str) -> Relation | None:
    """How the found document relates to the numbered one; None if the found one needs the numbered one."""
    subject = _is_subject(text, cue, start, between)
    match cue.lastgroup:
        case "successor":
            return "replaced"
        case "predecessor":
            return "replaces"
        case "prerequisite":
            return "requires"
        case "need":
            said = cue[0].casefold()  # "needed for EIP-5", "which has to be there before EIP-5"
            named = (said.endswith("ed") or "to be" in said) and _PLACED.fullmatch(between)
            return "requires" if subject or named else None
        case kind:
            return "replaces" if subject == (kind == "replace") else "replaced"


def _is_subject(text: str, cue: re.Match[str], start: int, between: str) -> bool:
    """True if the document at `start` is the subject of the verb rather than its object."""
    passive = cue[0].casefold().split()[0].endswith(("ed", "taken", "given", "built", "made"))
    if start < cue.start():
        asked = _PASSIVE.search(text[:start])  # "by which PEP was PEP 5 replaced?"
        return not (passive and (_PASSIVE.search(between) or (asked and asked[0].split()[1:] in ([], ["the"]))))
    return passive and _BY.search(between) is not None
