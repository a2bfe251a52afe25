"""How a question speaks of one document by way of another: "the PEP that took the place of PEP 5".

Read by grammar: of the words which relate documents the one nearest to the document that is numbered counts, with which
of the two is its subject. A verb's object stands behind it, its subject before it; in the passive voice it is the other
way round ("replaced by PEP 5", "PEP 5 was replaced"). English only.
"""

from __future__ import annotations

import re
from typing import Literal

import msgspec

Relation = Literal["requires", "replaces", "replaced"]
_Kind = Literal["replace", "yield", "need", "lacking", "successor", "predecessor", "prerequisite"]

FAR = 60
"""Code points between a document and the word which relates it to another."""

_BE = r"(?:is|are|was|were|be|been|being|got|gets)"
_CUES: tuple[tuple[_Kind, str], ...] = (
    ("successor", r"successors?|replacements?|heirs?|follow-ups?|next version|later version"),
    ("predecessor", r"predecessors?|forerunners?|precursors?|ancestors?|previous version|earlier version"),
    ("prerequisite", r"prerequisites?|requirements?|preconditions?|dependenc(?:y|ies)|foundations?|underpinnings?"),
    ("lacking", r"without\s+which"),
    (
        "yield",
        (
            r"(?:give|gave|given|giving|make|made|makes)s?\s+(?:way|room|place)(?:\s+(?:to|for))?|yield(?:s|ed)?(?:\s+to)?|"
            r"(?:came|comes|come)\s+before|preced(?:e|es|ed|ing)|(?:lost|loses)\s+(?:its|their)\s+place\s+to"
        ),
    ),
    (
        "replace",
        (
            r"(?:replac|supersed|obsolet|displac|supplant|succeed|deprecat|retir|outdat|overrid|abolish|annul|revok)"
            r"(?:e|es|ed|ing|s)?|t(?:ake|akes|ook|aken)\s+(?:the\s+place\s+of|over\s+from|its\s+place)|"
            r"(?:stand|stands|stood|standing|step|steps|stepped|stepping)\s+in\s+(?:for|place\s+of)|in\s+(?:the\s+)?place\s+of|"
            r"(?:come|comes|came|follow|follows|followed)\s+after|follow(?:s|ed|ing)?(?:\s+on\s+from)?|"
            r"(?:do|does|did|done)\s+away\s+with|ma(?:ke|kes|de)\s+obsolete|render(?:s|ed)?\s+obsolete|"
            r"(?:put|puts)\s+an\s+end\s+to"
        ),
    ),
    (
        "need",
        (
            r"requir(?:e|es|ed|ing)|need(?:s|ed|ing)?|depend(?:s|ed|ing|ent)?(?:\s+(?:up)?on)?|"
            r"rel(?:y|ies|ied|ying)(?:\s+(?:up)?on)?|buil(?:d|ds|t|ding)(?:\s+(?:up)?on)?|rest(?:s|ed|ing)?\s+(?:up)?on|"
            r"bas(?:es|ed)(?:\s+(?:up)?on)?|presuppos(?:e|es|ed|ing)|presum(?:e|es|ed)|assum(?:e|es|ed|ing)|"
            r"cannot\s+do\s+without|(?:has|have)\s+to\s+be\s+(?:there|implemented|in\s+place)\s+(?:before|for)|"
            r"counts?\s+on|draws?\s+(?:up)?on|extend(?:s|ed|ing)?|call(?:s|ed)?\s+for"
        ),
    ),
)
_CUE = re.compile(rf"(?<!\w)(?:{'|'.join(f'(?P<{kind}>{words})' for kind, words in _CUES)})(?!\w)", re.IGNORECASE)
_BREAK = re.compile(r"[,;:.?!](?:\s|$)|\band\b", re.IGNORECASE)
_ASIDE = re.compile(r"\s*(?:which|that|who)\b", re.IGNORECASE)
"""After a document this says something of itself: "PEP 5, which replaced PEP 4"."""
_BY = re.compile(r"\bby\s+(?:the\s+)?(?:[\w-]+\s+)?$", re.IGNORECASE)
_PASSIVE = re.compile(rf"(?<!\w){_BE}(?:\s+\w+){{0,2}}\s*$", re.IGNORECASE)
_ASKED = re.compile(rf"(?<!\w){_BE}\s+(?:the\s+)?$", re.IGNORECASE)
"""Before a document: "by which PEP was PEP 5 replaced?"."""
_PLACED = re.compile(r"\s*(?:by|for|in|before|within|of)?\s*(?:the\s+)?(?:[\w-]+\s+)?", re.IGNORECASE)
_CAUSED = re.compile(r"\b(?:ma(?:de|ke|kes|king)|render(?:s|ed|ing)?)\s+$", re.IGNORECASE)
"""Before a document: "which makes PEP 5 obsolete"."""
_LEADING_IN = re.compile(
    rf"(?:\b(?:that|which)\s+{_BE}\s+\w+\s+to|\b\w+(?:ed|en)\s+(?:as|in|among|under)(?:\s+(?:a|an|the|its))?)\s*$",
    re.IGNORECASE,
)
"""What leads up to the relation: "that was written to", "named as a"."""


class RelationMention(msgspec.Struct, frozen=True):
    """A relation to the document at a place in a text; `[start, end)` holds both.

    `noun` says that a noun told it, `cue` holds the words which did.
    """

    relation: Relation
    start: int
    end: int
    noun: bool
    cue: str = ""


def described(text: str, start: int, end: int) -> RelationMention | None:
    """What is said of another document by its relation to the one at `[start, end)`; None where nothing is."""
    cues = sorted((_gap(cue, start, end), cue.start(), cue) for cue in _CUE.finditer(text))
    for gap, _, cue in cues:
        if gap > FAR:
            break
        between = text[end : cue.start()] if cue.start() >= end else text[cue.end() : start]
        overlaps = cue.start() < end and cue.end() > start
        if overlaps or _BREAK.search(between) or (cue.start() >= end and _ASIDE.match(between)):
            continue
        relation = _relation(text, cue, start, end, between)
        if relation is not None:
            first = min(start, cue.start())
            led = _LEADING_IN.search(text[max(0, first - FAR) : first])
            span = (first - len(led[0]) if led else first, max(end, cue.end()))
            noun = cue.lastgroup in ("successor", "predecessor", "prerequisite")
            return RelationMention(relation, *span, noun=noun, cue=cue[0])
    return None


def _gap(cue: re.Match[str], start: int, end: int) -> int:
    return cue.start() - end if cue.start() >= end else start - cue.end()


def _relation(text: str, cue: re.Match[str], start: int, end: int, between: str) -> Relation | None:
    """How the document found relates to the one numbered; None where that one is needed by it."""
    match cue.lastgroup:
        case "successor":
            return "replaced"
        case "predecessor":
            return "replaces"
        case "prerequisite" | "lacking":
            return "requires"
        case "need":
            return "requires" if _is_subject(text, cue, start, end, between) or _named(cue, between) else None
        case kind:
            return "replaces" if _is_subject(text, cue, start, end, between) == (kind == "replace") else "replaced"


def _named(cue: re.Match[str], between: str) -> bool:
    """Whether what is needed is said to stand in the document: "needed for EIP-5", "listed as required in EIP-5"."""
    passive = cue[0].casefold().endswith("ed") or "to be" in cue[0].casefold()
    return passive and _PLACED.fullmatch(between) is not None


def _is_subject(text: str, cue: re.Match[str], start: int, end: int, between: str) -> bool:
    """Whether the document at `[start, end)` does what the verb says, rather than having it done to it."""
    verb = cue[0].casefold()
    passive = verb.split()[0].endswith(("ed", "taken", "given", "built", "done", "made"))
    if start < cue.start():
        had = _PASSIVE.search(between) or _ASKED.search(text[:start])
        return not (passive and had) and not (verb == "obsolete" and _CAUSED.search(text[:start]))
    return passive and _BY.search(between) is not None
