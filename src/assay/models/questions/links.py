"""Questions about a document which another one names in its header: "who wrote the PEP that replaced PEP 5?".

The field which relates the two is followed. English only.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Literal

import msgspec

from assay.core import markers
from assay.core.patterns import regex
from assay.core.text import words
from assay.models.questions.question import QUOTED, analyze
from assay.models.questions.words import CONCEPTS, INVERSE

# How a question refers to one document through another: "the PEP that took the place of PEP 5".
#
# Of the words that relate documents, the one nearest to the numbered document counts. Its subject is the document
# before it, or the one after its passive and "by". English only.

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


# The question in the question.

Order = Literal["", "first", "last"]

_LED: dict[Relation, str] = {
    "requires": "What does {anchor} require?",
    "replaces": "Which document does {anchor} replace?",
    "replaced": "What was {anchor} superseded by?",
}
_ASKS = {"creator": "Who wrote {}?", "date": "When was {} created?"}
_MEANT = {
    "creator": frozenset("who whose whom people person persons names minds hands team".split()),
    "date": frozenset("when day date year old age began begin begun start".split()),
    "status": frozenset("state stage fate stand stands standing outcome happened become became".split()),
}
"""Words that ask for a field without naming it."""
LONGEST = 600
"""Code points above which a text is a document, not a question."""
_FIRST = frozenset(("first", "earliest", "oldest"))
_LAST = frozenset(("last", "latest", "newest", "youngest", "recent", "recently"))
_AT_FIRST = regex(r"\bwhen\b[^?]*?(?<!\bthe)(?<!\bwas)\s(?:first|last|recently)\s+(?=\w)", re.IGNORECASE)
"""Phrases such as "when did it first appear?", in which "first" does not choose among several documents."""
_FRAME = regex(r"(?P<key>[^:]{2,40}?) of (?P<series>[^\W\d_]{2,12})[- ]?0*(?P<number>\d{1,6})\b[^:]*?: (?P<value>.*)")


class Hop(msgspec.Struct, frozen=True, kw_only=True):
    """Such a question, taken apart: the document it starts from, the field to follow, and the rest of the question.

    `order` says which of several documents is meant: the one created first, or last.
    """

    anchor: str
    relation: Relation
    concepts: tuple[str, ...]
    order: Order = ""

    @property
    def inner(self) -> str:
        """The question to begin with."""
        return _LED[self.relation].format(anchor=self.anchor)

    def of(self, targets: Sequence[str]) -> str:
        """The question to ask about `targets` ("EIP 20")."""
        named = ", ".join(targets[:-1]) + (" and " if len(targets) > 1 else "") + targets[-1]
        asked = [_ASKS["date"]] if self.order else []
        asked += [_ASKS.get(concept, f"What is the {concept} of {{}}?") for concept in self.concepts]
        return " ".join(dict.fromkeys(asked)).replace("{}", named)


@lru_cache(maxsize=256)
def read(text: str) -> Hop | None:
    """The question as a hop; None if it does not name one document and ask about another that relates to it."""
    text = unicodedata.normalize("NFKC", text).strip()
    question = analyze(text) if len(text) <= LONGEST else None
    if question is None or len(question.mentions) > 1:
        return None
    quoted = QUOTED.search(text)
    anchor = question.mentions[0].text if question.mentions else quoted[0] if quoted else ""
    start = text.index(anchor)
    found = described(text, start, start + len(anchor)) if anchor else None
    if found is None:
        return None
    outer = f"{text[: found.start]} it {text[found.end :]}"
    said = set(words(_AT_FIRST.sub(" ", outer)))
    order: Order = "first" if said & _FIRST else "last" if said & _LAST else ""
    asked = [each for each in analyze(outer).concepts if each not in _LED and not (order and each == "date")]
    meant = [concept for concept, asking in _MEANT.items() if not order and asking & set(words(outer))]
    concepts = tuple(asked or meant[:1])
    return Hop(anchor=anchor, relation=found.relation, concepts=concepts, order=order) if concepts or order else None


# following a field through findings, which are text


def targets(hop: Hop, findings: Iterable[str]) -> list[str]:
    """The documents that findings name in the followed field, each as series and number."""
    number = re.search(r"[1-9]\d*", hop.anchor)
    lines = (markers.strip(line).strip().removeprefix("- ") for text in findings for line in text.splitlines())
    found = (_named(hop, number[0] if number else "", match) for line in lines if (match := _FRAME.match(line)))
    return list(dict.fromkeys(name for names in found for name in names))


def _named(hop: Hop, number: str, line: re.Match[str]) -> list[str]:
    key, series, mine = " ".join(words(line["key"])), line["series"], line["number"]
    plain = re.sub(r"\]\([^)]*\)", "]", line["value"])
    named = [each.lstrip("0") for each in re.findall(r"(?<![\d.])\d{1,6}(?![\d.]*\d)", plain)]
    if key in CONCEPTS[hop.relation].keys and number in ("", mine):
        return [f"{series} {each}" for each in named if each != mine]
    converse = CONCEPTS[INVERSE[hop.relation]].keys if hop.relation in INVERSE else ()
    return [f"{series} {mine}"] if key in converse and number in named else []
