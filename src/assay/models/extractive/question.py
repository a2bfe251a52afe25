"""What a question asks: identifiers, fields, names, parts and the words that carry its topic."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

import msgspec

from assay.core.text import words
from assay.models.extractive import lexicon
from assay.models.extractive.lexicon import FACETS, FRAMES
from assay.models.extractive.shelf import Identifier
from assay.models.extractive.terms import carries_topic, is_cjk, is_german, stem, stems, topic_words

_IDENTIFIER = re.compile(
    r"(?<![^\W_])(?P<series>[^\W\d_]{2,12})(?P<join>[-–‑_ #]{0,2})(?:(?:number|no\.?|nr\.?|nummer|номер|#)\s*)?"
    r"0*(?P<number>\d{1,6})(?![^\W_])(?![.,]\d)",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"[\"“„«「『]([^\"”“»」』]{3,160})[\"”“»」』]|(?<!\w)['‘]([^'’]{3,160})['’](?!\w)")
NEAR = 16
"""Code points before a word in which the end of the sentence before it is looked for."""
_NAME = re.compile(r"(?<![^\W_])[^\W\d_][\w'’-]*")
_SENTENCE_START = re.compile(r"(?:^|[.!?:;]\s+|[\"“„«'‘(]\s*)$")
_CJK_ASKING = re.compile("|".join(lexicon.CJK_ASKING))
TITLE = "▯"
"""Stands where a title was taken out of a question; unlike an ellipsis, normalization leaves it alone."""
_FRAME_STEMS = frozenset(stem(word) for word in FRAMES)


class Mention(msgspec.Struct, frozen=True):
    """Letters with a number after them; `strong` when written as names are ("PEP 6", "eip-1559"), not "in 2001"."""

    identifier: Identifier
    text: str
    strong: bool


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """A question, taken apart without looking at any document.

    `words` are all its words, `terms` the keys of those which carry a topic, `names` those of them written as
    names; `facets` the header fields it asks for, in order of appearance, `facet_terms` the words which said so.
    """

    text: str
    words: tuple[str, ...]
    terms: tuple[str, ...]
    names: frozenset[str]
    mentions: tuple[Mention, ...]
    quoted: tuple[str, ...]
    facets: tuple[str, ...]
    facet_terms: frozenset[str]

    @property
    def rest(self) -> tuple[str, ...]:
        """Terms beyond those which ask for a field, number a document, or only frame the question."""
        numbering = {key for mention in self.mentions for key in stems(mention.text)}
        return tuple(term for term in self.terms if term not in self.facet_terms | numbering | _FRAME_STEMS)


@lru_cache(maxsize=256)
def analyze(text: str) -> Question:
    """Take a question apart."""
    text = unicodedata.normalize("NFKC", text).strip()
    bare = _QUOTED.sub(f" {TITLE} ", text)
    facets, used = _facets(bare, stems(bare))
    terms = _terms(text)
    return Question(
        text=text,
        words=tuple(words(text)),
        terms=terms,
        names=_names(text) & frozenset(terms),
        mentions=_mentions(text),
        quoted=tuple(first or second for first, second in _QUOTED.findall(text)),
        facets=facets,
        facet_terms=used,
    )


def _terms(text: str) -> tuple[str, ...]:
    """Keys of the words which carry the topic, without question words of unspaced scripts and "long" in "how long"."""
    plain = _CJK_ASKING.sub(" ", text) if is_cjk(text) else text
    asked = words(text)
    pairs = set(pairwise(asked))
    degrees = {b for a, b in pairs if a in lexicon.DEGREE_ASKERS and b in lexicon.DEGREES}
    degrees |= {b for a, b in pairs if a == "at" and b in {"least", "most"}}
    found = tuple(dict.fromkeys(stem(word) for word in topic_words(plain) if word not in degrees))
    return found or tuple(dict.fromkeys(stem(word) for word in topic_words(text)))


def without(question: Question, phrase: Sequence[str]) -> Question:
    """The question with the words of `phrase` (a title in it) taken out."""
    pattern = r"[\W_]+".join(re.escape(word) for word in phrase)
    return analyze(re.sub(rf"(?<![^\W_]){pattern}(?![^\W_])", TITLE, question.text, count=1, flags=re.IGNORECASE))


def _mentions(text: str) -> tuple[Mention, ...]:
    found: dict[Identifier, Mention] = {}
    for match in _IDENTIFIER.finditer(text):
        series = match["series"]
        if not carries_topic(series.casefold()) or is_cjk(series):
            continue
        identifier = Identifier(series.casefold(), match["number"].lstrip("0") or "0")
        strong = series.isupper() or "-" in match["join"]
        found.setdefault(identifier, Mention(identifier, match[0], strong))
    return tuple(found.values())


def _names(text: str) -> frozenset[str]:
    """Keys of words written with a capital where grammar does not ask for one; none where every noun has one."""
    german = is_german(text)
    found: set[str] = set()
    for match in _NAME.finditer(text):
        word = match[0]
        inner = any(letter.isupper() for letter in word[1:])
        starts = _SENTENCE_START.search(text[max(0, match.start() - NEAR) : match.start()]) is not None
        if (word[0].isupper() and not starts and not german) or inner:
            found.update(key for key in stems(word) if key)
    return frozenset(found)


# fields


def _facets(text: str, keys: Sequence[str]) -> tuple[tuple[str, ...], frozenset[str]]:
    """The fields asked for, in order, and the word keys which asked."""
    found: dict[str, int] = {}
    used: set[str] = set()
    folded = text.casefold()
    for name, facet in FACETS.items():
        for trigger in facet.triggers:
            place = _find(trigger, folded, keys)
            if place >= 0:
                found[name] = min(place, found.get(name, place))
                used.update(stems(trigger))
    _ask_state(found, used, text, keys)
    found = _settle(found, folded, keys)
    return tuple(sorted(found, key=lambda name: found[name])), frozenset(used)


_STATES = frozenset(stem(word) for word in lexicon.STATES)


def _ask_state(found: dict[str, int], used: set[str], text: str, keys: Sequence[str]) -> None:
    """Ask for the status in "is it active?", whatever the status says."""
    states = _STATES & set(keys[1:])
    if states and set(words(text)[:1]) & lexicon.YES_OR_NO and "superseded" not in found:
        found.setdefault("status", min(keys.index(state) for state in states))
        used.update(states)


def _find(trigger: str, folded: str, keys: Sequence[str]) -> int:
    """Where a trigger occurs: for unspaced scripts as it stands, else as consecutive word keys; -1 when nowhere."""
    if is_cjk(trigger):
        return folded.find(trigger)
    wanted = _trigger_stems(trigger)
    at = -1
    while wanted and wanted[0] in keys[at + 1 :]:
        at = keys.index(wanted[0], at + 1)
        if tuple(keys[at : at + len(wanted)]) == wanted:
            return at
    return -1


@lru_cache(maxsize=1024)
def _trigger_stems(trigger: str) -> tuple[str, ...]:
    return tuple(stems(trigger))


_WHEN = frozenset(
    stem(word) for word in ("when", "wann", "когда", "متى", "date", "day", "year", "month", "jahr", "datum")
)
_WHO = frozenset(
    stem(word) for word in ("who", "whom", "whose", "wer", "wem", "кто", "кем", "من", "people", "person", "author")
)


def _settle(found: dict[str, int], folded: str, keys: Sequence[str]) -> dict[str, int]:
    """Choose between fields which share words: who created and when created, superseded and superseding."""
    asked = set(keys)
    foreign = not folded.isascii()
    who, when = bool(asked & _WHO), bool(asked & _WHEN)
    drop: set[str] = set()
    if "created" in found and not foreign and not when and "creat" not in " ".join(keys):
        drop.add("created")
    if "created" in found and who and not when:
        drop.add("created")
    if "author" in found and when and not who and "created" in found and not _plainly(found, "author", keys):
        drop.add("author")
    if {"deadline", "resolution", "history", "withdrawal"} & found.keys():
        drop |= {"created", "status"}
    if "version" in found or "manager" in found:
        drop |= {"created", "status"} if "version" in found else {"author"}
    if "type" in found and _after("type", keys, ("annotation", "hint", "check", "system", "parameter")):
        drop.add("type")
    if {"delegate", "sponsor"} & found.keys():
        drop.add("author")
    if {"superseded", "replaces"} & found.keys():
        drop |= _direction(folded, found)
    return {name: place for name, place in found.items() if name not in drop}


def _plainly(found: dict[str, int], name: str, keys: Sequence[str]) -> bool:
    """Whether the field is asked for by its own name."""
    return bool({stem("author"), stem("authors"), stem("autor")} & set(keys))


def _after(word: str, keys: Sequence[str], followers: Sequence[str]) -> bool:
    key = stem(word)
    ends = {stem(follower) for follower in followers}
    return any(a == key and b in ends for a, b in pairwise(keys))


_NUMBERED = r"(?:[\w-]+\s+)?(?:[\w-]+[ -]?\d+|[^\w\s]?▯)"
_REPLACED_BY = re.compile(
    rf"(?:is|was|been|be|being|got|has|which)\b.*\b(?:supersed|replac|obsolet)\w*d\b(?!.*\bby\s+(?:the\s+)?{_NUMBERED})"
    rf"|\b(?:superseded|replaced|obsoleted|succeeded)[- ]by\b(?!\s+(?:the\s+)?{_NUMBERED})"
    rf"|\b(?:supersed|replac|obsolet|succeed)\w*\s+(?:the\s+)?{_NUMBERED}"
    r"|successor|nachfolger|abgelöst|ersetzt|замен[её]н\b|вытеснен|被.*(?:取代|替代)|後継"
)
_REPLACES = re.compile(
    rf"\b(?:did|does|do)\b.*\b(?:supersede|replace|obsolete|succeed)\b"
    rf"|\b(?:superseded|replaced|obsoleted)[- ]by\s+(?:the\s+)?{_NUMBERED}"
    rf"|{_NUMBERED}\)?\s+(?:supersedes|replaces|obsoletes)|predecessor|vorgänger|предшественник|заменяет|前身|前任"
    r"|\bthe replaces\b|replaces (?:field|header)"
)


def _direction(folded: str, found: dict[str, int]) -> set[str]:
    """Which of "superseded by" and "replaces" is not meant."""
    if _REPLACES.search(folded):
        return {"superseded"}
    if _REPLACED_BY.search(folded) or "superseded" in found:
        return {"replaces"}
    return set()


# parts


def parts(text: str) -> tuple[str, ...]:
    """The questions in a question: one for each question mark, line, and join before a question word.

    A part keeps its words; one that is cut off a sentence's end keeps no subject, so `context` is read with it.
    """
    whole = [piece.strip() for piece in _pieces(text) if piece.strip()]
    found = [part for piece in whole for part in _joined(piece)]
    asking = [part for part in found if stems(part)]
    return tuple(dict.fromkeys(asking)) or (text.strip(),)


_PART_END = re.compile(r"(?<=[?？؟])\s*|\n+|(?<=[.;。；])\s+")


def _pieces(text: str) -> Iterator[str]:
    """The text, cut where a question or sentence ends outside quotation marks."""
    quoted = [match.span() for match in _QUOTED.finditer(text)]
    start = 0
    for match in _PART_END.finditer(text):
        if not any(low < match.start() < high for low, high in quoted):
            yield text[start : match.start()]
            start = match.end()
    yield text[start:]


def _joined(piece: str) -> list[str]:
    for join in lexicon.JOINS:
        left, found, right = piece.partition(join)
        first = words(right)[:2]
        if found and stems(left) and (set(first[:1]) & lexicon.OPENERS or is_cjk(join) or join.strip().startswith("و")):
            if len(words(left)) < 3 and not is_cjk(left):
                continue
            return [left.strip(" ,;"), *_joined(right.strip(" ,;"))]
    return [piece]


def is_comparison(text: str) -> bool:
    """Whether a question compares things."""
    return bool(set(words(text)) & lexicon.COMPARING) or any(sign in text for sign in lexicon.COMPARING_CJK)


def is_explanation(text: str) -> bool:
    """Whether a question asks how or why."""
    asked = words(text)
    many = {"many", "much", "old", "long", "viele", "viel"}
    how = any(word in lexicon.EXPLAINING and not set(asked[at + 1 : at + 2]) & many for at, word in enumerate(asked))
    return how or any(sign in text for sign in lexicon.EXPLAINING_CJK)


def asks_why(question: Question) -> bool:
    """Whether a reason is asked for."""
    return bool(set(question.words) & lexicon.WHY) or any(sign in question.text for sign in lexicon.WHY_CJK)


def is_phrase(question: Question, context: Question) -> bool:
    """Whether a part of a question is only some words out of it, and no question of its own."""
    whole = {" ".join(analyze(part).words) for part in parts(context.text)} | {" ".join(context.words)}
    plain = " ".join(question.words)
    return plain not in whole and f" {plain} " in f" {' '.join(context.words)} "


def points_back(question: Question) -> bool:
    """Whether a pronoun stands for what another part of the question names."""
    return bool(set(question.words) & lexicon.PRONOUNS)


def is_about(question: Question) -> bool:
    """Whether a question asks what a document is about."""
    return bool(set(question.words) & lexicon.ABOUT)


_DO_VERB = re.compile(
    r"(\b(?:do|does|did)\s+(?:\w+\s+){0,3}?\w+)\s+[a-z]+"
    r"(?=\s*[?,;]|\s*$|\s+(?:when|if|after|in|on|for|to|with|from|as|at|by|a|the)\b)",
    re.IGNORECASE,
)
"""What is asked of a subject, with the verb after it, which is no part of the subject's name."""


def phrases(text: str) -> tuple[str, ...]:
    """Runs of words which carry a topic, in the question's own spelling, longest first."""
    text = _DO_VERB.sub(r"\1", text)
    found: list[str] = []
    for piece in re.split(r"[\s,;:?!.，。？！、]+(?=\S)|[?？!！.。]+$", text):
        topical = any(carries_topic(word) for word in words(piece))
        if not topical:
            found.append("")
        elif found and found[-1]:
            found[-1] += f" {piece}"
        else:
            found.append(piece)
    distinct = dict.fromkeys(phrase.strip("()\"'“”") for phrase in found if phrase)
    return tuple(sorted(distinct, key=lambda phrase: -len(phrase)))
