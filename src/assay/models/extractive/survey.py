"""Questions about all documents: recognised by their words, and made conditions where every word is accounted for.

A condition is only made where the whole question says nothing else: "how many PEPs are rejected?" is one on the status,
"how many PEPs about typing are rejected?" is none, since no field says what a document is about.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from assay.core.lexicon.analysis import stem
from assay.core.messages import Request, ToolCall
from assay.core.text import words
from assay.models.extractive.question import ParsedQuestion, analyze, question_of
from assay.models.extractive.words import CONCEPTS, FRAMES, carries_topic

_THINGS = (
    r"(?:documents|files|pages|papers|articles|texts|reports|proposals|standards|records|notes|entries|"
    r"(?-i:[A-Z]{2,6}s))"
)
_WHOLE = re.compile(
    rf"^(?:please\s+)?(?:list|name|enumerate|show(?:\s+me)?|give\s+me|find|count)\s+(?:me\s+)?"
    rf"(?:all|every|each|the)\s+(?:of\s+the\s+)?(?:[\w-]+\s+){{0,3}}?{_THINGS}\b|"
    rf"\bhow\s+many\s+(?:of\s+the\s+)?(?:[\w-]+\s+){{0,3}}?{_THINGS}\b|"
    rf"^(?:which|what)\s+(?:of\s+the\s+)?(?:[\w-]+\s+){{0,3}}?{_THINGS}\s+"
    rf"(?:are|have|were|mention|contain|refer|with|of|do)\b|"
    rf"\bfor\s+(?:each|every)\s+(?:of\s+the\s+)?(?:document|file|page|paper|article|proposal|(?-i:[A-Z]{{2,6}}))\b",
    re.IGNORECASE,
)
_SEVERAL = re.compile(rf"(?:which|what)\s+(?:of\s+the\s+)?{_THINGS}\b", re.IGNORECASE)
_MENTION = re.compile(
    r"\b(?:mention(?:s|ing)?|contain(?:s|ing)?(?:\s+the\s+(?:words?|phrase))?|refer(?:s|ring)?\s+to|use\s+the\s+words?)\s+"
    r"(?P<phrase>[^?]{2,80}?)\s*[?.]*$",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"“[^”]*”|„[^“”]*[“”]|«[^»]*»|\"[^\"]*\"|(?<!\w)'[^']*'(?!\w)|`[^`]*`")
_JOIN = re.compile(r"(?:,\s*)?(?<![^\s,])(?P<join>and|or)\s+(?:also\s+)?|(?P<comma>,)\s+", re.IGNORECASE)
_BOTH = re.compile(r"^\s*(?:both|either)\s+", re.IGNORECASE)
_ARTICLE = re.compile(r"^(?:(?:the\s+(?:word|phrase)|the|an?|any)\s+)?[\"'“„«`]?", re.IGNORECASE)
_LONGEST = 5
"""Words of a value which may stand in a question."""
_YEAR = re.compile(r"\b(?P<word>before|after|since|until|in|during)\s+(?P<year>(?:19|20)\d\d)\b", re.IGNORECASE)
_OPERATORS = {"before": "<", "after": ">", "since": ">=", "until": "<=", "in": "~", "during": "~"}
_ASKING = frozenset(
    stem(word)
    for word in (
        "list all every each count enumerate documents document files file texts text pages page papers articles "
        "reports proposals standards records notes entries total number collection there that have has had with "
        "whose or and not find show give name overall altogether"
    ).split()
)


class HeaderKey(msgspec.Struct, frozen=True):
    """A key of header fields with its values, as the `headers` message tells it."""

    key: str
    documents: int = 0
    values: dict[str, int] = {}


class FieldCondition(msgspec.Struct, frozen=True):
    """A condition on one field: values it may have, and the words of the question which said so."""

    key: str
    values: tuple[str, ...]
    words: frozenset[str]


def is_whole(text: str) -> bool:
    """Whether a question asks about all documents by its form."""
    return _WHOLE.search(text.strip()) is not None


def asks_several(question: ParsedQuestion) -> bool:
    """Whether a question asks for documents, and names none itself: one sentence of each answers it."""
    return not question.mentions and (is_whole(question.text) or _SEVERAL.match(question.text) is not None)


def survey(request: Request) -> tuple[ToolCall, ...]:
    """How to go over all documents; nothing where that is not certain. Batches of them it cannot read."""
    if not request.named("headers"):
        return (ToolCall(id="survey-1", name="report_rows", arguments={"rows": []}),)
    text = question_of(request)
    mention = _MENTION.search(text)
    if mention is not None:
        return (ToolCall(id="survey-1", name="find_phrase", arguments=_phrases(mention["phrase"])),)
    question = analyze(text)
    if where := _conditions(question, _headers(request)):
        return (ToolCall(id="survey-1", name="filter_documents", arguments={"where": where}),)
    return (ToolCall(id="survey-1", name="count_documents"),) if _asks_for_all(question) else ()


def _asks_for_all(question: ParsedQuestion) -> bool:
    """Whether a question sets no condition at all: every word of it asks, or stands for documents."""
    return not {stem(word) for word in question.words if carries_topic(word)} - _ASKING


def _phrases(said: str) -> dict[str, object]:
    """What to look for: several phrases where "and", "or" or a comma stands between them outside quotation marks."""
    quoted = [match.span() for match in _QUOTED.finditer(said)]
    parts, joins, start = list[str](), set[str](), 0
    for match in _JOIN.finditer(said):
        if not any(low < match.start() < high for low, high in quoted):
            parts.append(said[start : match.start()])
            joins.add((match["join"] or "").lower())
            start = match.end()
    found = [_phrase(part) for each in (*parts, said[start:]) if (part := _BOTH.sub("", each).strip())]
    phrases = list(dict.fromkeys(found))
    return {"phrases": phrases} | ({"together": True} if len(phrases) > 1 and "or" not in joins else {})


def _phrase(said: str) -> str:
    """What to look for: an article is the question's own, but in quotation marks every word counts."""
    quoted = said.strip("\"'“”„«»` ")
    return quoted if said[0] in "\"'“„«`" else _ARTICLE.sub("", quoted) or quoted


def _headers(request: Request) -> list[HeaderKey]:
    try:
        return msgspec.json.decode(request.named("headers")[-1], type=list[HeaderKey])
    except msgspec.DecodeError:
        return []


def _conditions(question: ParsedQuestion, headers: Sequence[HeaderKey]) -> list[str]:
    """The conditions a question makes; none where a word of it that carries a topic is not accounted for."""
    dated, known = _dated(question, headers)
    written, names = _authored(question, headers)
    found = [each for each in _valued(question, headers) if not {stem(word) for word in each.words} <= names]
    known |= names
    known |= {stem(word) for wanted in found for word in wanted.words}
    if found:
        known |= {stem(word) for wanted in found for word in words(wanted.key)} | question.concept_terms
    series = {stem(form) for counted in headers for word in words(counted.key) for form in (word, f"{word}s")}
    left = {stem(word) for word in question.words if carries_topic(word)} - known - series - _ASKING - FRAMES
    where = [f"{wanted.key} = {' | '.join(wanted.values)}" for wanted in found] + dated + written
    kinds = _kinds(question, headers)
    return [*kinds, *where] if kinds is not None and not left else []


def _kinds(question: ParsedQuestion, headers: Sequence[HeaderKey]) -> list[str] | None:
    """That the documents are of the series the question names: they have its number. None: nothing shows which are."""
    series = dict.fromkeys(word.lower().removesuffix("s") for word in _SERIES.findall(question.text))
    keys = {" ".join(words(counted.key)): counted.key for counted in headers}
    if any(name not in keys for name in series):
        return None
    return [f"{keys[name]} = *" for name in series]


_SERIES = re.compile(r"\b[A-Z]{2,6}s\b")
_CREATED = ("created", "written", "published", "proposed", "submitted", "opened")


def _valued(question: ParsedQuestion, headers: Sequence[HeaderKey]) -> list[FieldCondition]:
    """For each key the values of it which stand in the question; a word counts for the longest value it is in."""
    said = question.words
    asked = {key for name in question.concepts for key in CONCEPTS[name].keys}
    places: list[tuple[int, int, str, str]] = []
    for counted in headers:
        for value in counted.values:
            parts = tuple(words(value))
            at = _place(parts, said)
            if at >= 0 and any(carries_topic(word) or word in asked for word in parts):
                places.append((at, at + len(parts), counted.key, value))
    best = _settled(places, asked)
    keys = dict.fromkeys(key for _, _, key, _ in best)
    return [
        FieldCondition(
            key=key,
            values=tuple(dict.fromkeys(value for _, _, other, value in best if other == key)),
            words=frozenset(word for start, end, other, _ in best if other == key for word in said[start:end]),
        )
        for key in keys
    ]


def _place(parts: tuple[str, ...], said: tuple[str, ...]) -> int:
    size = len(parts)
    if not 0 < size <= _LONGEST or all(part.isdecimal() for part in parts):
        return -1
    return next((at for at in range(len(said) - size + 1) if said[at : at + size] == parts), -1)


def _settled(places: list[tuple[int, int, str, str]], asked: set[str]) -> list[tuple[int, int, str, str]]:
    """Of values in the same place those of the key which is asked for, else of the first key; the longest first."""
    places.sort(key=lambda place: (place[0] - place[1], " ".join(words(place[2])) not in asked))
    taken: list[tuple[int, int, str, str]] = []
    for start, end, key, value in places:
        free = all(end <= a or start >= b or (a, b, key) == (start, end, other) for a, b, other, _ in taken)
        if free:
            taken.append((start, end, key, value))
    return sorted(taken)


def _dated(question: ParsedQuestion, headers: Sequence[HeaderKey]) -> tuple[list[str], set[str]]:
    """A condition on when a document was created, and the words which made it."""
    match = _YEAR.search(question.text)
    keys = [each.key for each in headers if " ".join(words(each.key)) in CONCEPTS["date"].keys]
    if match is None or not keys:
        return [], set()
    used = {stem(word) for word in (*_CREATED, match["year"])}
    return [f"{keys[0]} {_OPERATORS[match['word'].lower()]} {match['year']}"], used | question.concept_terms


_PART, _LAST = r"[A-Z][\w.'’-]{1,40}", r"[A-Z][\w'’-]{1,40}"
_NAME = re.compile(rf"\b{_PART}(?:\s{{1,3}}(?:van|von|de|der|la|le|da|di|{_PART})){{0,3}}\s{{1,3}}{_LAST}\b")
"""A name of several words, the last of them with a capital. All parts are bounded: a question may be a page long."""


def _authored(question: ParsedQuestion, headers: Sequence[HeaderKey]) -> tuple[list[str], set[str]]:
    """A condition on who wrote a document: a name of several words, where an author is asked for."""
    keys = [each.key for each in headers if " ".join(words(each.key)) in CONCEPTS["creator"].keys]
    match = next((each for each in reversed([*_NAME.finditer(question.text)]) if each.start()), None)
    if not keys or match is None or not ("creator" in question.concepts or "write" in question.words):
        return [], set()
    return [f"{keys[0]} ~ {match[0]}"], {stem(word) for word in words(match[0])} | question.concept_terms | {
        stem("write")
    }
