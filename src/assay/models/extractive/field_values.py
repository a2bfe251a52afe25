"""Fills the fields of a schema by rules: from header fields, table cells and sentences."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

import msgspec

from assay.core.dimensions import StatedMeasure, converted, dimension_of, lengths_of_things, stated, unit_of, words_of
from assay.core.languages import of_question
from assay.core.lexicon import stem, stop_terms
from assay.core.messages import Request, ToolCall
from assay.core.relevance import TopicQuestion, judge, read_question
from assay.core.relevance.topic_question import keys, near_keys
from assay.core.tables.figures import read_figures
from assay.core.tables.table_questions import cell
from assay.core.text import words
from assay.models.extractive.actions import shelved
from assay.models.extractive.requests import question_of
from assay.models.questions.question import ParsedQuestion, analyze
from assay.models.questions.words import CONCEPTS
from assay.models.shown_documents.passages import PassageField, PassageSentence
from assay.models.shown_documents.shelf import ShownSources, SourcePassages, describe, resolve
from assay.models.shown_documents.tabular import tables

# Values from prose: `core.relevance` rates sentences as it does for answers; if even the best are probably no answer,
# the field stays empty. If a sentence has several values of the type, the one nearest to the field's words is taken.

SAMPLE = 2_000
"""Code points used to detect the language of numbers."""
LOOKED = 12
"""How many sentences are examined, best first."""
SHARE = 0.5
"""The least share of a field's words that a sentence, with the text above it, must have."""
DESCRIBED = 0.75
"""The same of the words of its description, which has more of them."""
BEFORE = 6
"""How many words farther away a value before the field's words counts than one after them."""
ELSEWHERE = 8
"""How many words a comma or the like between them counts for."""
LONGEST = 8
"""Words of a value that is no name."""

DATE = re.compile(
    r"\b(?:\d{4}-\d{2}-\d{2}|\d{1,2}(?:st|nd|rd|th)?[-. ]+(?:of |de )?[^\W\d_]{3,10}[-., ]+(?:de )?\d{4}"
    r"|[A-Z][a-z]{2,8}\.? \d{1,2}(?:st|nd|rd|th)?,? \d{4}|\d{1,2}\.\d{1,2}\.\d{4})\b"
)
_SCALE = (
    r"thousand|million|billion|trillion|tausend|millionen|mio\.?|milliarden?|mrd\.?|mille|milliers|millions|milliards?"
    r"|mil|millones|millón"
)
_DIGITS = r"(?:\d{1,3}(?:[ \u00a0\u202f]\d{3})+(?!\d)(?:[.,]\d+)?|\d+(?:[.,']\d+)*)"
NUMBER = re.compile(rf"(?<![\w.,])[-−]?{_DIGITS}(?![\w]|[.,]\d)(?:\s(?:{_SCALE})(?!\w))?", re.IGNORECASE)
_YEAR = re.compile(r"(?:1[5-9]|20)\d{2}")
_SCALED = re.compile(rf"(?<!\w)(?:{_SCALE}|millions?)(?!\w)", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_CAPITAL = r"(?:(?:[A-Z]\.)+(?= [A-Z])|[A-ZÀ-ÖØ-ÞĀ-ŽΑ-ΩА-Я][\w'’&-]*(?:\.(?= [A-Z]))?)"
_NAME = re.compile(rf"(?<!\w){_CAPITAL}(?:(?: (?:of|de|du|la|van|von|der|den|zu))? {_CAPITAL})*")
_SAYS = re.compile(
    r"\W{0,3}(?:(?:is|are|was|were|ist|sind|war|lautet|est|sont|était|es|son|era)\b|[:=])\s*"
    r"(?:(?:an?|the|der|die|das|le|la|el)\s+)?(?P<value>[^.,;:!?()|]{2,120})",
    re.IGNORECASE,
)
_BREAK = re.compile(r"[,;:()]|\b(?:after|and|but|while|nach|und|aber|après|et|mais|después|y|pero)\b")


class FieldAsked(msgspec.Struct, frozen=True, kw_only=True):
    """A field: its name in words, the schema's description, the names in the question, and the question's `topics`."""

    label: str
    description: str
    names: tuple[str, ...]
    schema: Mapping[str, Any]
    topics: str = ""

    @property
    def text(self) -> str:
        """All of these, as a question would say them."""
        return " ".join((self.description or self.label, *self.names))


class StatedValue(NamedTuple):
    """A value as written, and its passage."""

    value: str
    passage: str


def value_in_prose(asked: FieldAsked, books: Sequence[SourcePassages]) -> StatedValue | None:
    """The value of a field according to prose; None if no sentence probably states it with a value of its type."""
    placed = [(book, sentence) for book in books for sentence in book.sentences]
    statements = [sentence.statement(books.index(book), book.title) for book, sentence in placed]
    question = read_question(asked.text, beside="\n".join(each.text for each in statements[:5]))
    judgement, analysis = judge(question, statements), question.analysis
    names = frozenset(key for name in asked.names for key in keys(name, analysis))
    about = [book for book in books if not names.isdisjoint(_source_keys(book, analysis))] or books
    ranked = [(book, each) for book, each in (placed[each.place] for each in judgement.ranked) if book in about]
    if (measured := _measured(asked, ranked, question)) is not None or not judgement.answers():
        return measured
    found: list[tuple[float, int, StatedValue]] = []
    for rank, (book, sentence) in enumerate(placed[each.place] for each in judgement.ranked[:LOOKED]):
        share, at = _matching(asked, sentence.text, analysis)
        beside = " ".join(each.text for each in book.passages)
        if book in about and at and (value := _typed(asked, sentence.text, at, beside)) is not None:
            found.append((-share, rank, StatedValue(value, sentence.passage)))
    return min(found)[2] if found else None


def _measured(
    asked: FieldAsked, ranked: Sequence[tuple[SourcePassages, PassageSentence]], question: TopicQuestion
) -> StatedValue | None:
    """The value of a field for a length, an age or the like, in the sentence that states one of what it measures.

    A number in another unit is converted to the field's.
    """
    dimension = dimension_of(asked.label) or dimension_of(asked.description)
    if not dimension or asked.schema.get("type") not in ("integer", "number"):
        return None
    unit = unit_of(asked.label, dimension) or unit_of(asked.description, dimension)
    things = _things(asked, dimension, ranked, question.analysis)
    found: list[tuple[float, int, StatedValue]] = []
    for rank, (book, sentence) in enumerate(ranked):
        about = _of_things(sentence.text, dimension, question, things)
        beside = " ".join(passage.text for passage in book.passages) if about else ""
        for share, each in sorted(about, key=lambda pair: (-pair[0], pair[1].unit != unit)):
            if (value := _in_unit(_plain(each.number, beside), each.unit, unit)) is not None:
                found.append((-share, rank, StatedValue(value, sentence.passage)))
                break
    return min(found)[2] if found else None


class _Things(NamedTuple):
    """The words of what a field measures: `own` to the field ("pylon height"), else of the question's subject."""

    own: frozenset[str]
    subject: frozenset[str]


def _things(
    asked: FieldAsked, dimension: str, ranked: Sequence[tuple[SourcePassages, PassageSentence]], analysis: str
) -> _Things:
    """What is measured. Words of the field that no sentence has ("total length") name no thing."""
    none = stop_terms(analysis).union(key for word in words_of(dimension) for key in keys(word, analysis))
    said = frozenset(key for _, each in ranked for key in keys(each.text, analysis))
    subject = frozenset(keys(f"{asked.topics} {' '.join(asked.names)}", analysis)) - none
    return _Things((frozenset(keys(asked.label, analysis)) - none - subject) & said, subject)


def _of_things(
    text: str, dimension: str, question: TopicQuestion, things: _Things
) -> list[tuple[float, StatedMeasure]]:
    """The measures in a sentence that are of these things, each with the share of their own words beside it.

    What is before a number names the thing, or nothing at all ("It is 450 metres long").
    """
    analysis, start, about = question.analysis, 0, list[tuple[float, StatedMeasure]]()
    none = stop_terms(analysis).union(_MEASURING)

    def share(beside: str) -> float:
        own = things.own or things.subject
        met = own & frozenset(keys(beside, analysis))
        return len(met) / len(own) if things.own else float(bool(met))

    for each in stated(text, dimension, question.language):
        before, start = text[start : each.start], each.end
        silent = not things.own and none.issuperset(keys(re.split(r"\d", before, maxsplit=1)[0], analysis))
        about.append((1.0 if silent else share(before), each))
    if dimension == "length":
        about.extend((share(thing), each) for each, thing in lengths_of_things(text))
    return [pair for pair in about if pair[0] >= (SHARE if things.own else 1.0)]


def _in_unit(number: str | None, unit: str, to: str) -> str | None:
    """A number in plain digits, in another unit if one is given; None if it cannot be converted."""
    if number is None or not to:
        return number
    value = converted(Decimal(number), unit, to)
    return None if value is None else f"{value.normalize():f}"


_MEASURING = frozenset(stem(word) for word in "measures measured misst mesure mesurait mide medía misura mede".split())
"""What a thing of a length or height does."""


def _source_keys(book: SourcePassages, analysis: str) -> frozenset[str]:
    return frozenset(
        key for text in (book.title, *(each.text for each in book.passages)) for key in keys(text, analysis)
    )


def _matching(asked: FieldAsked, text: str, analysis: str) -> tuple[float, list[Span]]:
    """How far a sentence has the words of a field's name, or else of its description, and where; nowhere if too few.

    The description of a measure ("length in metres") does not say whose it is.
    """
    share, at = _share(text, asked.label, analysis)
    if share < SHARE and not dimension_of(f"{asked.label} {asked.description}"):
        share, at = _share(text, asked.description, analysis)
        return (share, at) if share >= DESCRIBED and len(at) > 1 else (share, [])
    return (share, at) if share >= SHARE else (share, [])


def _share(text: str, wanted: str, analysis: str) -> tuple[float, list[Span]]:
    """The share of the words wanted that a sentence has, and where they stand in it."""
    own = frozenset(keys(wanted, analysis)) - stop_terms(analysis)
    found = _WORD.finditer(text) if own else ()
    at = {word.span(): key for word in found if (key := _among(word[0], own, analysis))}
    return len(set(at.values())) / max(len(own), 1), list(at)


def _among(word: str, own: frozenset[str], analysis: str) -> str:
    """The key that a word has, exactly or nearly; "" for none."""
    found = frozenset(keys(word, analysis))
    near = near_keys(own, found)
    return next((key for key in sorted(own) if key in found or key in near), "")


def named(question: str) -> tuple[str, ...]:
    """The names in a question: runs of capitalized words inside it."""
    return tuple(match[0] for match in _NAME.finditer(question) if match.start() > 0)


# values


Span = tuple[int, int]


def _typed(asked: FieldAsked, text: str, at: Sequence[Span], beside: str) -> str | None:
    """The value of the field's type nearest to the field's words; `beside` is the text with the other numbers."""
    kind, form = asked.schema.get("type"), asked.schema.get("format")
    if "enum" in asked.schema or kind not in ("string", "integer", "number"):
        return None
    if form in ("date", "date-time"):
        return _nearest(text, at, DATE.finditer(text))
    return _number(asked, text, at, beside) if kind in ("integer", "number") else _text(asked, text, at)


def _number(asked: FieldAsked, text: str, at: Sequence[Span], beside: str) -> str | None:
    """A number in plain digits, times its scale unless the field is counted in it; a year if there is no other."""
    dated = [match.span() for match in DATE.finditer(text)]
    found = [each for each in NUMBER.finditer(text) if not any(a <= each.start() < b for a, b in dated)]
    others = [each for each in found if not _YEAR.fullmatch(each[0])]
    value = _nearest(text, at, others or found)
    if value is None:
        return None
    if _SCALED.search(f"{asked.label} {asked.description}"):
        value = _SCALED.sub("", value).strip()
    return _plain(value, beside)


def _plain(value: str, beside: str) -> str | None:
    """A number in plain digits; `beside` shows its decimal sign."""
    known = (match[0] for match in NUMBER.finditer(beside))
    figures = read_figures([value], of_question(beside[:SAMPLE]), known)
    return f"{figures.values[0].value:f}" if figures is not None and figures.values[0] is not None else None


def _text(asked: FieldAsked, text: str, at: Sequence[Span]) -> str | None:
    """A name other than the subject's, else the words directly after the field's words."""
    known = {word.casefold() for name in (*asked.names, asked.label) for word in _WORD.findall(name)}
    names = [match for match in _NAME.finditer(text) if match.start()]
    other = [match for match in names if known.isdisjoint(word.casefold() for word in _WORD.findall(match[0]))]
    near = _nearest(text, at, other)
    if near is not None:
        return near.rstrip(".")
    said = _SAYS.match(text, at[-1][1])
    return said["value"].strip() if said is not None and len(said["value"].split()) <= LONGEST else None


def _nearest(text: str, at: Sequence[Span], found: Iterable[re.Match[str]]) -> str | None:
    """Of the matches in a sentence, the one nearest to the words at these places, preferably after them."""
    rated = [(min(_apart(text, span, match) for span in at), match.start(), match[0].strip()) for match in found]
    return min(rated)[2] if rated else None


def _apart(text: str, word: Span, match: re.Match[str]) -> int:
    """The distance of a match from a word, in words; breaks between them count more."""
    behind = match.start() >= word[1]
    between = text[word[1] : match.start()] if behind else text[match.end() : word[0]]
    breaks = ELSEWHERE * len(_BREAK.findall(between))
    return len(_WORD.findall(between)) + breaks + (0 if behind else BEFORE)


NONE = "no header field, row or sentence shown says it"
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[_\W]+")
_PARTS = re.compile(r",\s+|;\s+|\s+and\s+")

Filled = dict[str, Any]


def fill(request: Request) -> tuple[ToolCall, ...]:
    """A call of the tool that fills fields, in the form of its schema."""
    tool = request.tools[0]
    question, shelf = analyze(question_of(request)), shelved(request)
    properties = tool.parameters.get("properties", {})
    if "items" in properties:
        arguments: Filled = {"items": _items(properties["items"]["items"]["properties"]["fields"], question, shelf)}
    else:
        arguments = _one(properties["fields"]["properties"], question, shelf, resolve(question, shelf).books)
    return (ToolCall(id="fill-1", name=tool.name, arguments=arguments),)


def _items(fields: Mapping[str, Any], question: ParsedQuestion, shelf: ShownSources) -> list[Filled]:
    """An item for each document that the question names, else for each with a header field that is asked for."""
    wanted = fields["properties"]
    books = resolve(question, shelf).books or tuple(shelf.books)
    made = [_one(wanted, question, shelf, [book], prose=False) for book in books]
    return [item for item in made if any(field["value"] is not None for field in item["fields"].values())]


def _one(
    wanted: Mapping[str, Any],
    question: ParsedQuestion,
    shelf: ShownSources,
    books: Sequence[SourcePassages],
    *,
    prose: bool = True,
) -> Filled:
    """The subject and its fields."""
    subject = describe(books[0])[0] if books else ", ".join(named(question.text)) or question.text.rstrip("?？ .")
    given = FieldEvidence(question, shelf, books, prose)
    fields = {name: _field(name, schema, given) for name, schema in wanted.items()}
    return {"subject": subject, "fields": fields}


class FieldEvidence(NamedTuple):
    """The sources of fields: the documents they belong to, else tables; with `prose`, also any sentences."""

    question: ParsedQuestion
    shelf: ShownSources
    books: Sequence[SourcePassages]
    prose: bool


def _field(name: str, schema: Mapping[str, Any], given: FieldEvidence) -> Filled:
    question, shelf, books, prose = given
    label = " ".join(part.lower() for part in _CAMEL.split(name) if part)
    asked = schema["properties"]["value"]
    for book in books:
        field = _header(book, label, str(schema.get("description", "")))
        value = None if field is None else _value(asked, field.value)
        if field is not None and value is not None:
            return {"value": value, "passages": [field.passage]}
    tabled, told = tables(shelf), f"{label} {schema.get('description', '')}"
    if (found := cell(question.text, label, tabled) or cell(question.text, told, tabled)) is not None:
        value = _value(asked, found.value)
        if value is not None:
            return {"value": value, "passages": [name for row in found.rows for name in row.names]}
    return _prose(label, schema, question, shelf) if prose else {"value": None, "passages": [], "reason": NONE}


def _header(book: SourcePassages, label: str, description: str) -> PassageField | None:
    """The header field with this name, or the one that the name or the description asks for."""
    found = book.field(" ".join(words(label)))
    for text in (label, description):
        for concept in analyze(text).concepts if text else ():
            found = found or book.field(*CONCEPTS[concept].keys)
    if found is None and label in _NUMBERING:
        found = book.number
    return found


_NUMBERING = frozenset(("number", "id", "no", "nr"))


def _prose(label: str, schema: Mapping[str, Any], question: ParsedQuestion, shelf: ShownSources) -> Filled:
    """The value of the field's type in the sentence that matches the question best."""
    asked = FieldAsked(
        label=label,
        description=str(schema.get("description", "")),
        names=named(question.text),
        schema=schema["properties"]["value"],
        topics=question.text,
    )
    if (found := value_in_prose(asked, shelf.books)) is None:
        return {"value": None, "passages": [], "reason": NONE}
    return {"value": found.value, "passages": [found.passage]}


def _value(schema: Mapping[str, Any], text: str) -> Any:
    """The value of this type in a text; None if there is none, or more than one number or date."""
    if schema.get("type") == "array":
        parts = [part.strip() for part in _PARTS.split(text) if part.strip()]
        found = [_value(schema["items"], part) for part in parts]
        return [each for each in found if each is not None] or None
    if "enum" in schema:
        said = f" {' '.join(words(text))} "
        members = [each for each in schema["enum"] if f" {' '.join(words(str(each)))} " in said]
        return members[0] if len(members) == 1 else None
    if schema.get("type") in ("integer", "number"):
        numbers = NUMBER.findall(DATE.sub(" ", text))
        return numbers[0] if len(numbers) == 1 else None
    if schema.get("format") in ("date", "date-time"):
        dates = DATE.findall(text)
        return dates[0] if len(dates) == 1 else None
    return text if schema.get("type") == "string" else None
