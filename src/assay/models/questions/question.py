"""Takes a question apart: the documents it names and how it relates them, what it asks, its parts, its topic words."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Literal

import msgspec

from assay.core.lazy import regex
from assay.core.lexicon import stem
from assay.core.periods import periods_in
from assay.core.relevance.asking_words import UNSPACED_ASKING
from assay.core.text import is_unspaced, words
from assay.models.questions.words import (
    COMPARING,
    COMPARING_CJK,
    CONCEPTS,
    CONJUNCTIONS,
    FIELD_STEMS,
    INVERSE_RELATIONS,
    MAKING_STEMS,
    OPENERS,
    PRONOUNS,
    STATE_STEMS,
    YES_OR_NO,
    carries_topic,
    stems,
    topic_keys,
)

# How a question refers to one document through another: "the PEP that took the place of PEP 5".
#
# Of the words that relate documents, the one nearest to the numbered document counts. Its subject is the document
# before it, or the one after its passive and "by". English only.

Relation = Literal["requires", "replaces", "replaced"]

MAX_CUE_DISTANCE = 60
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


def find_relation(text: str, start: int, end: int) -> RelationMention | None:
    """The relation of another document to the one at `[start, end)`; None if the text states none."""
    cues = [cue for cue in _CUE.finditer(text) if cue.start() >= end or cue.end() <= start]
    for cue in sorted(cues, key=lambda cue: max(cue.start() - end, start - cue.end())):
        gap = text[end : cue.start()] if cue.start() >= end else text[cue.end() : start]
        if len(gap) > MAX_CUE_DISTANCE or _BREAK.search(gap):
            continue
        if (relation := _relation(text, cue, start, gap)) is not None:
            return RelationMention(relation, min(start, cue.start()), max(end, cue.end()), cue=cue[0])
    return None


def _relation(text: str, cue: re.Match[str], start: int, gap: str) -> Relation | None:
    """How the found document relates to the numbered one; None if the found one needs the numbered one."""
    subject = _is_subject(text, cue, start, gap)
    match cue.lastgroup:
        case "successor":
            return "replaced"
        case "predecessor":
            return "replaces"
        case "prerequisite":
            return "requires"
        case "need":
            cue_text = cue[0].casefold()  # "needed for EIP-5", "which has to be there before EIP-5"
            is_prerequisite = (cue_text.endswith("ed") or "to be" in cue_text) and _PLACED.fullmatch(gap)
            return "requires" if subject or is_prerequisite else None
        case kind:
            return "replaces" if subject == (kind == "replace") else "replaced"


def _is_subject(text: str, cue: re.Match[str], start: int, gap: str) -> bool:
    """True if the document at `start` is the subject of the verb rather than its object."""
    passive = cue[0].casefold().split()[0].endswith(("ed", "taken", "given", "built", "made"))
    if start < cue.start():
        passive_question = _PASSIVE.search(text[:start])  # "by which PEP was PEP 5 replaced?"
        return not (
            passive
            and (_PASSIVE.search(gap) or (passive_question and passive_question[0].split()[1:] in ([], ["the"])))
        )
    return passive and _BY.search(gap) is not None


# What a question names, and what it asks about that.

_IDENTIFIER = regex(
    r"(?<![^\W_])(?P<series>[^\W\d_]{2,12})[-–‑_ #]{0,2}(?:(?:number|no\.?|nr\.?|nummer|номер|#)\s*)?"
    r"0*(?P<number>\d{1,6})(?![^\W_])(?![.,]\d)",
    re.IGNORECASE,
)
QUOTED = regex(r"[\"“„«「『]([^\"”“»」』]{3,160})[\"”“»」』]|(?<!\w)['‘]([^'’]{3,160})['’](?!\w)")
TITLE_PLACEHOLDER = "▯"
"""Replaces a title taken out of a question; unlike an ellipsis, normalization does not change it."""
_IT = regex(rf"[^\w\s]?{TITLE_PLACEHOLDER}|\b(?:it|this|that one)\b", re.IGNORECASE)
_WHO = frozenset(map(stem, "who whom whose wer wem wen кто кем author people person name names من".split()))
_WHEN = frozenset(map(stem, "when wann когда متى date day year month jahr datum".split()))


class Identifier(msgspec.Struct, frozen=True):
    """A document's number in a series, as in "PEP 6": the series casefolded, the number without leading zeros."""

    series: str
    number: str


class Mention(msgspec.Struct, frozen=True):
    """Letters with a number after them, as written."""

    identifier: Identifier
    text: str

    @property
    def is_one_word(self) -> bool:
        """True if it is one word, as `sqlite3`: the name of a thing, unless documents show a series of that name."""
        return self.text.casefold() == f"{self.identifier.series}{self.identifier.number}"


class ParsedQuestion(msgspec.Struct, frozen=True, kw_only=True):
    """A question, taken apart without looking at any document.

    `words` are all its words, `terms` the keys of the topic words, `concepts` what it asks about a document, in order,
    `concept_terms` the words that ask for these.
    """

    text: str
    words: tuple[str, ...]
    terms: tuple[str, ...]
    mentions: tuple[Mention, ...]
    quotations: tuple[str, ...]
    concepts: tuple[str, ...]
    concept_terms: frozenset[str]

    @property
    def numbered_mentions(self) -> tuple[Mention, ...]:
        """The mentions that number a document by their form."""
        return tuple(mention for mention in self.mentions if not mention.is_one_word)

    @property
    def other_terms(self) -> tuple[str, ...]:
        """The terms, without those that ask for a concept or number a document."""
        number_keys = {key for mention in self.numbered_mentions for key in stems(mention.text)}
        return tuple(term for term in self.terms if term not in self.concept_terms | number_keys | FIELD_STEMS)


@lru_cache(maxsize=256)
def analyze(text: str) -> ParsedQuestion:
    """Take a question apart."""
    text = unicodedata.normalize("NFKC", text).strip()
    mentions = _mentions(text)
    concepts, used = _concepts(QUOTED.sub(f" {TITLE_PLACEHOLDER} ", text), mentions)
    return ParsedQuestion(
        text=text,
        words=tuple(words(text)),
        terms=_terms(text),
        mentions=mentions,
        quotations=tuple(first or second for first, second in QUOTED.findall(text)),
        concepts=concepts,
        concept_terms=used,
    )


def _terms(text: str) -> tuple[str, ...]:
    """The keys of the topic words, without question words of unspaced scripts."""
    return topic_keys(UNSPACED_ASKING.sub(" ", text) if is_unspaced(text) else text) or topic_keys(text)


def remove_phrase(question: ParsedQuestion, phrase: Sequence[str]) -> ParsedQuestion:
    """The question without the words of `phrase` (a title in it)."""
    pattern = r"[\W_]+".join(re.escape(word) for word in phrase)
    return analyze(
        re.sub(rf"(?<![^\W_]){pattern}(?![^\W_])", TITLE_PLACEHOLDER, question.text, count=1, flags=re.IGNORECASE)
    )


def _mentions(text: str) -> tuple[Mention, ...]:
    mentions: dict[Identifier, Mention] = {}
    periods = list(periods_in(text))
    for match in _IDENTIFIER.finditer(text):
        series = match["series"]
        if any(period.start < match.end() and match.start() < period.end for period in periods):
            continue  # "week 20" numbers no document
        if not carries_topic(series.casefold()) or is_unspaced(series):
            continue
        identifier = Identifier(series.casefold(), match["number"].lstrip("0") or "0")
        mentions.setdefault(identifier, Mention(identifier, match[0]))
    return tuple(mentions.values())


# what the question asks about a document


def _concepts(text: str, mentions: Sequence[Mention]) -> tuple[tuple[str, ...], frozenset[str]]:
    """The concepts asked for, in order, and the keys of the words that ask for them."""
    folded_text, keys = text.casefold(), stems(text)
    positions: dict[str, int] = {}
    used: set[str] = set()
    for name, concept in CONCEPTS.items():
        for cue in concept.phrases:
            if (position := _find_place(cue, folded_text, keys)) >= 0:
                positions[name] = min(position, positions.get(name, position))
                used.update(stems(cue))
    making_indexes = [index for index, key in enumerate(keys) if key in MAKING_STEMS]
    key_set = set(keys)
    asks_who, asks_when = (bool(key_set & cue) for cue in (_WHO, _WHEN))
    used.update(keys[index] for index in making_indexes)
    if making_indexes:
        positions.update(
            {name: making_indexes[0] for name, asks in (("creator", asks_who), ("date", asks_when)) if asks}
        )
    if asks_when and "creator" in positions and not asks_who:
        del positions["creator"]
    if key_set & STATE_STEMS and set(words(text)[:1]) & YES_OR_NO and "by" not in keys:
        positions.setdefault("status", min(keys.index(key) for key in key_set & STATE_STEMS))
        used.update(key_set & STATE_STEMS)
    _fix_direction(positions, used, text, mentions)
    return tuple(sorted(positions, key=lambda name: positions[name])), frozenset(used)


def _find_place(phrase: str, folded_text: str, keys: Sequence[str]) -> int:
    """The place of some words: as written in unspaced scripts, else as consecutive keys; -1 if they are absent."""
    if is_unspaced(phrase):
        return folded_text.find(phrase)
    phrase_keys = _keys_of(phrase)
    return next(
        (index for index in range(len(keys)) if tuple(keys[index : index + len(phrase_keys)]) == phrase_keys), -1
    )


@lru_cache(maxsize=1024)
def _keys_of(phrase: str) -> tuple[str, ...]:
    return tuple(stems(phrase))


def _fix_direction(positions: dict[str, int], used: set[str], text: str, mentions: Sequence[Mention]) -> None:
    """Which of two documents replaced the other, by the grammar of the question."""
    asked_relations = INVERSE_RELATIONS.keys() & positions.keys()
    matches = [match for mention in mentions if (match := re.search(re.escape(mention.text), text))]
    match = next(iter(matches), None) or _IT.search(text)
    relation = find_relation(text, *match.span()) if match else None
    if relation is not None and relation.relation in INVERSE_RELATIONS:
        position = min((positions.pop(name) for name in asked_relations), default=relation.start)
        positions[relation.relation] = position
        used.update(topic_keys(relation.cue))


# parts


def question_parts(text: str) -> tuple[str, ...]:
    """The questions in a question: one for each question mark, line, and conjunction before a question word.

    A part keeps its words. A part from a sentence's end has lost its subject, so `context` is read with it.
    """
    sentences = [piece.strip() for piece in _pieces(text) if piece.strip()]
    parts = [part for piece in sentences for part in _split_at_conjunctions(piece)]
    questions = [part for part in parts if stems(part)]
    return tuple(dict.fromkeys(questions)) or (text.strip(),)


_PART_END = regex(
    r"(?<=[?？؟])\s*|\n+|(?<=[.;。；])(?<!\b\d\.)(?<!\b\d\d\.)(?<!\b(?i:abs|art)\.)(?<!\b(?i:nr|no)\.)\s+"
)
"""The end of a part; none is after an ordinal ("ab dem 1. März") or in "§ 5 Abs. 2"."""


def _pieces(text: str) -> Iterator[str]:
    """The text, split where a question or sentence ends outside quotation marks."""
    quoted_spans = [match.span() for match in QUOTED.finditer(text)]
    start = 0
    for match in _PART_END.finditer(text):
        if not any(low < match.start() < high for low, high in quoted_spans):
            yield text[start : match.start()]
            start = match.end()
    yield text[start:]


def _split_at_conjunctions(piece: str) -> list[str]:
    for join in CONJUNCTIONS:
        left, separator, right = piece.partition(join)
        first, *more = words(right) or [""]
        asks_more = first in OPENERS and not OPENERS.issuperset(more)  # ", and when?" alone asks nothing
        if separator and stems(left) and (asks_more or is_unspaced(join) or join.strip().startswith("و")):
            if len(words(left)) < 3 and not is_unspaced(left):
                continue
            return [left.strip(" ,;"), *_split_at_conjunctions(right.strip(" ,;"))]
    return [piece]


def is_comparison(text: str) -> bool:
    """True if a question compares things."""
    return bool(set(words(text)) & COMPARING) or any(sign in text for sign in COMPARING_CJK)


def has_pronoun(question: ParsedQuestion) -> bool:
    """True if a pronoun stands for something that another part of the question names."""
    return bool(set(question.words) & PRONOUNS)
