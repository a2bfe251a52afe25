"""Questions about all documents: recognized by their words, and turned into conditions if every word is accounted for.

A condition is only made if it covers the whole question: "how many PEPs are rejected?" becomes one on the status, "how
many PEPs about typing are rejected?" becomes none, since no field says what a document is about.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import msgspec

from assay.core.lazy import regex
from assay.core.lexicon import stem
from assay.core.text import words
from assay.models.questions.question import ParsedQuestion
from assay.models.questions.words import CONCEPTS, carries_topic, stems

_THINGS = (
    r"(?:documents|files|pages|papers|articles|texts|reports|proposals|standards|records|notes|entries|"
    r"(?-i:[A-Z]{2,6}s))"
)
_WHOLE = regex(
    rf"^(?:please\s+)?(?:list|name|enumerate|show(?:\s+me)?|give\s+me|find|count)\s+(?:me\s+)?"
    rf"(?:all|every|each|the)\s+(?:of\s+the\s+)?(?:[\w-]+\s+){{0,3}}?{_THINGS}\b|"
    rf"\bhow\s+many\s+(?:of\s+the\s+)?(?:[\w-]+\s+){{0,3}}?{_THINGS}\b|"
    rf"^(?:which|what)\s+(?:of\s+the\s+)?(?:[\w-]+\s+){{0,3}}?{_THINGS}\s+"
    rf"(?:are|have|were|mention|contain|refer|with|of|do)\b|"
    rf"\bfor\s+(?:each|every)\s+(?:of\s+the\s+)?(?:document|file|page|paper|article|proposal|(?-i:[A-Z]{{2,6}}))\b",
    re.IGNORECASE,
)
_SEVERAL = regex(rf"(?:which|what)\s+(?:of\s+the\s+)?{_THINGS}\b", re.IGNORECASE)
_MENTION = regex(
    r"\b(?:mention(?:s|ing)?|contain(?:s|ing)?(?:\s+the\s+(?:words?|phrase))?|refer(?:s|ring)?\s+to|use\s+the\s+words?)\s+"
    r"(?P<phrase>[^?]{2,80}?)\s*[?.]*$",
    re.IGNORECASE,
)
_QUOTED = regex(r"“[^”]*”|„[^“”]*[“”]|«[^»]*»|\"[^\"]*\"|(?<!\w)'[^']*'(?!\w)|`[^`]*`")
_JOIN = regex(r"(?:,\s*)?(?<![^\s,])(?P<join>and|or)\s+(?:also\s+)?|(?P<comma>,)\s+", re.IGNORECASE)
_BOTH = regex(r"^\s*(?:both|either)\s+", re.IGNORECASE)
_ARTICLE = regex(r"^(?:(?:the\s+(?:word|phrase)|the|an?|any)\s+)?[\"'“„«`]?", re.IGNORECASE)
_LONGEST = 5
"""Words of a value that may occur in a question."""
_YEAR = regex(r"\b(?P<word>before|after|since|until|in|during)\s+(?P<year>(?:19|20)\d\d)\b", re.IGNORECASE)
_OPERATORS = {"before": "<", "after": ">", "since": ">=", "until": "<=", "in": "~", "during": "~"}
_ASKING = frozenset(
    stem(word)
    for word in (
        "list all every each count enumerate documents document files file texts text pages page papers articles "
        "reports proposals standards records notes entries total number collection there that have has had with "
        "whose or and not find show give name overall altogether value field header year date ever"
    ).split()
)


class HeaderKey(msgspec.Struct, frozen=True):
    """A key of header fields with its values, from the `headers` message."""

    key: str
    documents: int = 0
    values: dict[str, int] = {}


def is_whole(text: str) -> bool:
    """True if a question asks about all documents by its form."""
    return _WHOLE.search(text.strip()) is not None


def asks_for_several(question: ParsedQuestion) -> bool:
    """True if a question asks for documents and names none itself: one sentence of each answers it."""
    return not question.numbered_mentions and (is_whole(question.text) or _SEVERAL.match(question.text) is not None)


def find_phrase_arguments(text: str) -> dict[str, object] | None:
    """What the documents asked for must mention: the arguments of `find_phrase`; None if the question says nothing."""
    mention = _MENTION.search(text)
    return None if mention is None else _phrases(mention["phrase"])


def is_unconditional(question: ParsedQuestion) -> bool:
    """True if a question has no word that could be a condition."""
    return not {stem(word) for word in question.words if carries_topic(word)} - _ASKING


def _phrases(said: str) -> dict[str, object]:
    """The phrases to look for: several phrases if "and", "or" or a comma separates them outside quotation marks."""
    quoted = [match.span() for match in _QUOTED.finditer(said)]
    parts, joins, start = list[str](), set[str](), 0
    for match in _JOIN.finditer(said):
        if not any(low < match.start() < high for low, high in quoted):
            parts.append(said[start : match.start()])
            joins.add((match["join"] or "").lower())
            start = match.end()
    found = [_clean_phrase(part) for each in (*parts, said[start:]) if (part := _BOTH.sub("", each).strip())]
    phrases = list(dict.fromkeys(found))
    return {"phrases": phrases} | ({"together": True} if len(phrases) > 1 and "or" not in joins else {})


def _clean_phrase(said: str) -> str:
    """The words to look for, without articles of the question; in quotation marks every word counts."""
    quoted = said.strip("\"'“”„«»` ")
    return quoted if said[0] in "\"'“„«`" else _ARTICLE.sub("", quoted) or quoted


_SERIES = regex(r"\b[A-Z]{2,6}s\b")
_CREATED = frozenset(map(stem, ("created", "written", "published", "proposed", "submitted", "opened")))
_PART, _LAST = r"[A-Z][\w.'’-]{1,40}", r"[A-Z][\w'’-]{1,40}"
_NAME = regex(rf"(?<!^)\b{_PART}(?:\s{{1,3}}(?:van|von|de|der|la|le|da|di|{_PART})){{0,3}}\s{{1,3}}{_LAST}\b")
"""A name of several words, the last one capitalized. All parts are bounded: a question may be a page long."""


def conditions(question: ParsedQuestion, headers: Sequence[HeaderKey]) -> list[str]:
    """The conditions that a question makes; none if one of its topic words is not accounted for.

    The series that it names ("PEPs") makes one of them: its documents have a number in the series.
    """
    keys = {" ".join(words(counted.key)): counted.key for counted in headers}
    series = dict.fromkeys(word.lower().removesuffix("s") for word in _SERIES.findall(question.text))
    told = {stem(form) for key in keys for word in key.split() for form in (word, f"{word}s")} | _ASKING
    left = {stem(word) for word in question.words if carries_topic(word)} - told
    written, used = _author_conditions(question, keys)
    valued = _value_conditions(question, headers, used)
    dated = _date_conditions(question, keys)
    left -= used | {key for parts in valued.values() for part in parts for key in stems(part)}
    left -= question.concept_terms if valued or dated or written else frozenset()
    left -= _CREATED | {stem(match["year"]) for match in _YEAR.finditer(question.text)} if dated else frozenset()
    where = [f"{key} = {' | '.join(values)}" for key, values in valued.items()] + dated + written
    kinds = [f"{keys[name]} = *" for name in series if name in keys]
    return [*kinds, *where] if len(kinds) == len(series) and not left else []


def _value_conditions(question: ParsedQuestion, headers: Sequence[HeaderKey], names: set[str]) -> dict[str, list[str]]:
    """For each key, its values that occur in the question: the longest first, and those of a key that is asked for."""
    said = f" {' '.join(question.words)} "
    asked = {key for name in question.concepts for key in CONCEPTS[name].keys}
    places = [
        (-len(parts), " ".join(words(counted.key)) not in asked, counted.key, value, f" {' '.join(parts)} ")
        for counted in headers
        for value in counted.values
        if 0 < len(parts := words(value)) <= _LONGEST and not all(map(str.isdecimal, parts))
        if any(carries_topic(part) or part in asked for part in parts) and not names.issuperset(map(stem, parts))
    ]
    found, taken = dict[str, list[str]](), dict[str, str]()
    for _, _, key, value, phrase in sorted(places, key=lambda place: place[:2]):
        if phrase in said or taken.get(phrase) == key:
            said, taken[phrase] = said.replace(phrase, "  "), key
            found.setdefault(key, []).append(value)
    return found


def _date_conditions(question: ParsedQuestion, keys: Mapping[str, str]) -> list[str]:
    """A condition on when a document was created."""
    match = _YEAR.search(question.text)
    dates = [key for name, key in keys.items() if name in CONCEPTS["date"].keys]
    return [f"{dates[0]} {_OPERATORS[match['word'].lower()]} {match['year']}"] if match and dates else []


def _author_conditions(question: ParsedQuestion, keys: Mapping[str, str]) -> tuple[list[str], set[str]]:
    """A condition on who wrote a document (a name of several words, if an author is asked for), and its words."""
    creators = [key for name, key in keys.items() if name in CONCEPTS["creator"].keys]
    named = _NAME.findall(question.text)[-1:]
    if not creators or not named or not ("creator" in question.concepts or "write" in question.words):
        return [], set()
    return [f"{creators[0]} ~ {named[0]}"], {*stems(named[0]), stem("write")}
