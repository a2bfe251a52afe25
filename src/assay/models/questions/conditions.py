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
_MAX_VALUE_WORDS = 5
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


def _phrases(text: str) -> dict[str, object]:
    """The phrases to look for: several phrases if "and", "or" or a comma separates them outside quotation marks."""
    quoted_spans = [match.span() for match in _QUOTED.finditer(text)]
    parts, joins, start = list[str](), set[str](), 0
    for match in _JOIN.finditer(text):
        if not any(low < match.start() < high for low, high in quoted_spans):
            parts.append(text[start : match.start()])
            joins.add((match["join"] or "").lower())
            start = match.end()
    cleaned = [_clean_phrase(part) for piece in (*parts, text[start:]) if (part := _BOTH.sub("", piece).strip())]
    phrases = list(dict.fromkeys(cleaned))
    return {"phrases": phrases} | ({"together": True} if len(phrases) > 1 and "or" not in joins else {})


def _clean_phrase(phrase: str) -> str:
    """The words to look for, without articles of the question; in quotation marks every word counts."""
    unquoted = phrase.strip("\"'“”„«»` ")
    return unquoted if phrase[0] in "\"'“„«`" else _ARTICLE.sub("", unquoted) or unquoted


_SERIES = regex(r"\b[A-Z]{2,6}s\b")
_CREATED = frozenset(map(stem, ("created", "written", "published", "proposed", "submitted", "opened")))
_PART, _LAST = r"[A-Z][\w.'’-]{1,40}", r"[A-Z][\w'’-]{1,40}"
_NAME = regex(rf"(?<!^)\b{_PART}(?:\s{{1,3}}(?:van|von|de|der|la|le|da|di|{_PART})){{0,3}}\s{{1,3}}{_LAST}\b")
"""A name of several words, the last one capitalized. All parts are bounded: a question may be a page long."""


def conditions(question: ParsedQuestion, headers: Sequence[HeaderKey]) -> list[str]:
    """The conditions that a question makes; none if one of its topic words is not accounted for.

    The series that it names ("PEPs") makes one of them: its documents have a number in the series.
    """
    keys = {" ".join(words(header.key)): header.key for header in headers}
    series = dict.fromkeys(word.lower().removesuffix("s") for word in _SERIES.findall(question.text))
    header_stems = {stem(form) for key in keys for word in key.split() for form in (word, f"{word}s")} | _ASKING
    unexplained = {stem(word) for word in question.words if carries_topic(word)} - header_stems
    author_conditions, used = _author_conditions(question, keys)
    values_by_key = _value_conditions(question, headers, used)
    date_conditions = _date_conditions(question, keys)
    unexplained -= used | {key for parts in values_by_key.values() for part in parts for key in stems(part)}
    unexplained -= question.concept_terms if values_by_key or date_conditions or author_conditions else frozenset()
    unexplained -= (
        _CREATED | {stem(match["year"]) for match in _YEAR.finditer(question.text)} if date_conditions else frozenset()
    )
    clauses = (
        [f"{key} = {' | '.join(values)}" for key, values in values_by_key.items()] + date_conditions + author_conditions
    )
    kinds = [f"{keys[name]} = *" for name in series if name in keys]
    return [*kinds, *clauses] if len(kinds) == len(series) and not unexplained else []


def _value_conditions(question: ParsedQuestion, headers: Sequence[HeaderKey], names: set[str]) -> dict[str, list[str]]:
    """For each key, its values that occur in the question: the longest first, and those of a key that is asked for."""
    remaining = f" {' '.join(question.words)} "
    asked_keys = {key for name in question.concepts for key in CONCEPTS[name].keys}
    candidates = [
        (-len(parts), " ".join(words(header.key)) not in asked_keys, header.key, value, f" {' '.join(parts)} ")
        for header in headers
        for value in header.values
        if 0 < len(parts := words(value)) <= _MAX_VALUE_WORDS and not all(map(str.isdecimal, parts))
        if any(carries_topic(part) or part in asked_keys for part in parts) and not names.issuperset(map(stem, parts))
    ]
    values_by_key, key_by_phrase = dict[str, list[str]](), dict[str, str]()
    for _, _, key, value, phrase in sorted(candidates, key=lambda candidate: candidate[:2]):
        if phrase in remaining or key_by_phrase.get(phrase) == key:
            remaining, key_by_phrase[phrase] = remaining.replace(phrase, "  "), key
            values_by_key.setdefault(key, []).append(value)
    return values_by_key


def _date_conditions(question: ParsedQuestion, keys: Mapping[str, str]) -> list[str]:
    """A condition on when a document was created."""
    match = _YEAR.search(question.text)
    dates = [key for name, key in keys.items() if name in CONCEPTS["date"].keys]
    return [f"{dates[0]} {_OPERATORS[match['word'].lower()]} {match['year']}"] if match and dates else []


def _author_conditions(question: ParsedQuestion, keys: Mapping[str, str]) -> tuple[list[str], set[str]]:
    """A condition on who wrote a document (a name of several words, if an author is asked for), and its words."""
    creators = [key for name, key in keys.items() if name in CONCEPTS["creator"].keys]
    names = _NAME.findall(question.text)[-1:]
    if not creators or not names or not ("creator" in question.concepts or "write" in question.words):
        return [], set()
    return [f"{creators[0]} ~ {names[0]}"], {*stems(names[0]), stem("write")}
