"""Fields filled from prose and titles, by the type of their value.

`core.relevance` rates sentences as it does for answers; if even the best are probably no answer, the field stays empty.
If a sentence has several values of the type, the one nearest to the field's words is taken.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from assay.core.languages import question_language
from assay.core.lazy import regex
from assay.core.lexicon import MONTHS, NEGATIVES, stop_terms
from assay.core.measures import CURRENCIES
from assay.core.relevance import judge, read_question
from assay.core.relevance.topic_question import keys
from assay.core.text import words
from assay.core.web_addresses import DOI, find_doi
from assay.models.questions.words import carries_topic, stems
from assay.models.shown_documents.passages import one_line
from assay.models.shown_documents.shelf import SourcePassages
from assay.models.stated_values.field_links import is_linked_number, is_thing, linked_name, numbers_beside
from assay.models.stated_values.field_measures import comparable_unit_after, convert_to_unit, stated_measure
from assay.models.stated_values.field_words import (
    DATE,
    NAME,
    NUMBER,
    SCALED,
    WORD,
    YEAR,
    Span,
    StatedValue,
    TargetField,
    match_field,
    member,
    nearest_match,
    nearest_text,
    numbers_in,
    plain_digits,
)

_MONTH = "|".join(sorted((name.capitalize() for name in MONTHS), key=len, reverse=True))
_TIME = regex(rf"{DATE.pattern}|(?:\b\d{{1,2}}(?:st|nd|rd|th)?\.? )?\b(?:{_MONTH})\b\.?(?:,? \d{{4}}\b)?")
"""A date, or a month with its day or year."""
_CURRENCY_BEHIND = regex(r"\s?([$€£¥₹]|[^\W\d_]+)")
_DATED = frozenset("date datum fecha data".split())

MAX_SENTENCES = 12
"""How many sentences are examined, best first."""
MAX_VALUE_WORDS = 8
"""Words of a value that is no name."""
_SAYS = regex(
    r"\W{0,3}(?:(?:is|are|was|were|ist|sind|war|lautet|est|sont|était|es|son|era)\b|[:=])\s*"
    r"(?:(?:an?|the|der|die|das|le|la|el)\s+)?(?P<value>[^.,;:!?()|]{2,120})",
    re.IGNORECASE,
)


def value_in_prose(target: TargetField, books: Sequence[SourcePassages]) -> StatedValue | None:
    """The value of a field according to prose; None if no sentence probably states it with a value of its type."""
    sentences = [(book, sentence) for book in books for sentence in book.sentences]
    statements = [sentence.statement(books.index(book), book.title) for book, sentence in sentences]
    question = read_question(target.text, document_text="\n".join(statement.text for statement in statements[:5]))
    judgement, analysis = judge(question, statements), question.analysis
    names = frozenset(key for name in target.names for key in keys(name, analysis))
    named_books = [book for book in books if not names.isdisjoint(_source_keys(book, analysis))] or books
    ranked_sentences = [
        (book, sentence)
        for book, sentence in (sentences[ranked.index] for ranked in judgement.ranked)
        if book in named_books
    ]
    measure = stated_measure(target, ranked_sentences, question)
    if measure is not None:
        return measure
    order = [ranked.index for ranked in judgement.ranked[:MAX_SENTENCES]] if judgement.is_answered() else []
    candidates: list[tuple[bool, float, int, StatedValue]] = []
    for index, (book, sentence) in enumerate(sentences):
        share, spans = match_field(target, sentence.text, analysis)
        if not spans or book not in named_books:
            continue
        document_text = " ".join(passage.text for passage in book.passages)
        value, is_linked = _nearest_value(target, sentence.text, spans, document_text)
        is_linked = is_linked and sentence.kind == "prose"
        if value is not None and (is_linked or index in order):
            rank = order.index(index) if index in order else len(order)
            candidates.append((not is_linked, -share, rank, StatedValue(value, sentence.passage)))
    return min(candidates, key=lambda candidate: candidate[:3])[3] if candidates else None


def _source_keys(book: SourcePassages, analysis: str) -> frozenset[str]:
    return frozenset(
        key for text in (book.title, *(passage.text for passage in book.passages)) for key in keys(text, analysis)
    )


def _nearest_value(
    target: TargetField, text: str, spans: Sequence[Span], document_text: str
) -> tuple[str | list[str] | None, bool]:
    """The value of the field's type nearest to the field's words, and if the sentence links it with them;
    `document_text` is the text with the other numbers.
    """
    kind, form = target.schema.get("type"), target.schema.get("format")
    if "enum" in target.schema:
        return _enum_member(target, text), False
    if kind == "array":
        return _find_names(text, spans), True
    if kind not in ("string", "integer", "number"):
        return None, False
    if form in ("date", "date-time"):
        return nearest_text(text, spans, DATE.finditer(text)), False
    return (
        _find_number(target, text, spans, document_text)
        if kind in ("integer", "number")
        else _find_text(target, text, spans)
    )


_BETWEEN_NAMES = regex(r",? (?:and|und|et|y|&) |, ")
_NAMES = regex(
    r"\s*(?:are|were|sind|waren|sont|étaient|son|:)\s+"
    rf"(?P<names>{NAME.pattern}(?:(?:{_BETWEEN_NAMES.pattern}){NAME.pattern})+)\W*$"
)


def _find_names(text: str, spans: Sequence[Span]) -> list[str] | None:
    """The names of a list that a sentence ends with, directly after the field's words: "The authors are A and B."."""
    listed = _NAMES.match(text, spans[-1][1])
    return _BETWEEN_NAMES.split(listed["names"]) if listed is not None else None


def _enum_member(target: TargetField, text: str) -> str | None:
    """The only member of an enum that a sentence without a negation has."""
    denies = text.endswith("?") or not NEGATIVES.isdisjoint(words(text))
    return None if denies else member(target, text)


def _find_number(target: TargetField, text: str, spans: Sequence[Span], document_text: str) -> tuple[str | None, bool]:
    """A number in plain digits, times its scale unless the field is counted in it; a year if there is no other, and
    none that the field or the question names, nor one without the currency that the field names. None if some of the
    field's words stand beside one number and others beside another.
    """
    date_spans = [match.span() for match in DATE.finditer(text)]
    numbers = [number for number in numbers_in(text) if not any(a <= number.start() < b for a, b in date_spans)]
    if target.unit:
        return _nearest_in_unit(target.unit, numbers, text, spans, document_text), False
    numbers = [number for number in numbers if _may_be_in_currency(target, number)]
    plain_numbers = [number for number in numbers if not YEAR.fullmatch(number[0])]
    named_numbers = NUMBER.findall(f"{target.label} {target.description} {target.topics}")
    candidates = plain_numbers or [number for number in numbers if number[0] not in named_numbers]
    nearest = nearest_match(text, spans, candidates)
    if nearest is None or len(numbers_beside(text, spans, candidates)) > 1:
        return None, False
    value = nearest[0].strip()
    if SCALED.search(f"{target.label} {target.description}"):
        value = SCALED.sub("", value).strip()
    return plain_digits(value, document_text), is_linked_number(text, spans, nearest)


def _may_be_in_currency(target: TargetField, number: re.Match[str]) -> bool:
    """True if a field names no currency, or the one beside the number."""
    signs = CURRENCIES | {"pound": "£", "pounds": "£"}
    wanted = {signs[word] for word in words(f"{target.label} {target.description}") if word in signs}
    before, after = number.string[: number.start()].rstrip()[-1:], _CURRENCY_BEHIND.match(number.string, number.end())
    beside = signs.get(before) or (signs.get(after[1].casefold()) if after is not None else None)
    return not wanted or beside in wanted


def _nearest_in_unit(
    unit: str, numbers: Sequence[re.Match[str]], text: str, spans: Sequence[Span], document_text: str
) -> str | None:
    """The nearest number with a unit like that of the label, converted to it."""
    units = {number.start(): number_unit for number in numbers if (number_unit := comparable_unit_after(number, unit))}
    nearest = nearest_match(text, spans, [number for number in numbers if number.start() in units])
    return (
        None
        if nearest is None
        else convert_to_unit(plain_digits(nearest[0], document_text), units[nearest.start()], unit)
    )


def _find_text(target: TargetField, text: str, spans: Sequence[Span]) -> tuple[str | None, bool]:
    """A name that the sentence links with the field's words, else what it says directly after them; a time if the field
    asks for one, and only then.
    """
    times = list(_TIME.finditer(text))
    if times and _asks_when(target):
        return nearest_text(text, spans, times), False
    known_words = {word.casefold() for name in (*target.names, target.label) for word in WORD.findall(name)}
    small_words = {word.capitalize() for word in stop_terms(question_language(text))}  # as a sentence begins with them
    names = [
        match for match in NAME.finditer(text) if (match.start() or " " in match[0]) and match[0] not in small_words
    ]
    other_names = [
        match for match in names if known_words.isdisjoint(word.casefold() for word in WORD.findall(match[0]))
    ]
    name = linked_name(text, spans, other_names)
    if name is not None:
        is_time = any(time.start() <= name.start() < time.end() for time in times)
        return (None if is_time else name[0].strip().rstrip(".")), True
    clause = _SAYS.match(text, spans[-1][1])
    is_short = clause is not None and len(clause["value"].split()) <= MAX_VALUE_WORDS
    return (clause["value"].strip() if clause is not None and is_short and is_thing(clause["value"]) else None), False


def _asks_when(target: TargetField) -> bool:
    """True if a text field asks for a time."""
    field_words = {word.casefold() for word in words(f"{target.label} {target.description}")}
    return not _DATED.isdisjoint(field_words) or read_question(target.description or target.label).answer_kind == "date"


# Fields for an e-mail or web address or a DOI: the only one of the documents in passages with the field's other words.

_EMAIL = regex(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,6}(?!\w)")
_WEB = regex(r"https?://[^\s<>\"'`|]{3,300}")
_OF_MAIL = frozenset(("email", "mail"))
_OF_WEB = frozenset(("url", "uri", "website", "homepage", "webpage"))
_OF_DOI = frozenset(("doi",))
_GENERIC = _OF_MAIL | _OF_WEB | _OF_DOI | frozenset("e address contact web site page online official link".split())
"""Words that only say what kind of address is meant."""
_TAIL = ".,;:!?)]}*_»”’"


def address_pattern(target: TargetField) -> re.Pattern[str] | None:
    """The form of the address that a field asks for by its name; None if it asks for none."""
    label_words = frozenset(words(target.label))
    if target.schema.get("type") != "string" or "enum" in target.schema:
        return None
    forms = ((_OF_DOI, DOI), (_OF_MAIL, _EMAIL), (_OF_WEB, _WEB))
    return next((form for names, form in forms if label_words & names), None)


def find_address(target: TargetField, form: re.Pattern[str], books: Sequence[SourcePassages]) -> StatedValue | None:
    """The address; None if the documents have none, or several that may be meant."""
    analysis = read_question(target.text).analysis
    subject = frozenset(keys(" ".join(target.names), analysis))
    required = frozenset(key for word in words(target.label) if word not in _GENERIC for key in keys(word, analysis))
    required -= stop_terms(analysis) | subject
    addresses: dict[str, str] = {}
    for book in books:
        for passage in book.passages:
            if required <= frozenset(keys(" ".join((passage.under, passage.text)), analysis)):
                for match in form.finditer(passage.text):
                    address = find_doi(match[0], "") if form is DOI else match[0].rstrip(_TAIL)
                    addresses.setdefault(address, passage.id)
    return StatedValue(*next(iter(addresses.items()))) if len(addresses) == 1 else None


# The name of what a document is about, where only its title says it.

_NAMING = frozenset(("name", "title"))
_JOINING = frozenset("a an the of de du la le di da del van von der den zu and und et y & v v. vs vs. at in".split())
_GENRES = frozenset(
    """
    notes note report minutes history guide introduction overview manual handbook readme changelog about release
    press news letter summary review appendix annex draft memo agenda index contents page document file
""".split()
)
"""A title that begins with one of these names a text about the thing."""


def name_in_title(target: TargetField, books: Sequence[SourcePassages], shown_count: int) -> StatedValue | None:
    """The title of the only document that can be meant, if the field asks for a name and the title is one.

    The field is called "name" or "title", is described as one ("name of the product"), or its name is the kind of thing
    that the title ends with ("bridge": "Rotne Bridge"). `books` are the documents that the question names.
    """
    titles = [value for book in books if (value := _find_title(target, book, alone=shown_count == 1)) is not None]
    return titles[0] if len(titles) == 1 else None


def _find_title(target: TargetField, book: SourcePassages, *, alone: bool) -> StatedValue | None:
    first = next((passage for passage in book.passages if passage.id == book.title_passage), None)
    if target.schema.get("type") != "string" or "enum" in target.schema or target.schema.get("format") or first is None:
        return None
    title = one_line(first.text)
    if not _is_name(title) or not _asks_for_it(target, title):
        return None
    topics = {stem for word in words(title) if carries_topic(word) for stem in stems(word)}
    question_keys = set(stems(target.topics))
    is_meant = topics <= question_keys or (
        alone and not topics.isdisjoint(question_keys | set(stems(f"{target.label} {target.description}")))
    )
    return StatedValue(title, first.id) if is_meant else None


def _asks_for_it(target: TargetField, title: str) -> bool:
    label, description, title_keys = words(target.label), words(target.description), stems(title)
    if label[-1:] and label[-1] in _NAMING and all(stem in title_keys for word in label[:-1] for stem in stems(word)):
        return True
    is_described = bool(_NAMING & set(description[:2])) and "of" in description[1:4]
    kind = len(label) == 1 and len(title_keys) > 1 and stems(target.label) == title_keys[-1:]
    return (is_described and len(label) == 1) or kind


def _is_name(title: str) -> bool:
    """True if every word of a title begins like a name, and the first is no kind of text."""
    parts = title.split()
    first = words(parts[0]) if parts else []
    capital = all(part[:1].isupper() or part[:1].isdigit() or part.casefold() in _JOINING for part in parts)
    return bool(first) and first[0] not in _GENRES and capital and not title.endswith((".", "?", "!", ":"))
