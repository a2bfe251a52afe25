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
from assay.core.relevance import judge, read_question
from assay.core.relevance.topic_question import keys
from assay.core.text import words
from assay.core.web_addresses import DOI, find_doi
from assay.models.questions.words import carries_topic, stems
from assay.models.shown_documents.passages import one_line
from assay.models.shown_documents.shelf import SourcePassages
from assay.models.stated_values.field_measures import comparable_unit_after, convert_to_unit, stated_measure
from assay.models.stated_values.field_words import (
    DATE,
    NAME,
    NUMBER,
    SCALED,
    WORD,
    YEAR,
    FieldAsked,
    Span,
    StatedValue,
    match_field,
    member,
    nearest_match,
    nearest_text,
    plain_digits,
)

_MONTH = "|".join(sorted((name.capitalize() for name in MONTHS), key=len, reverse=True))
_TIME = regex(rf"{DATE.pattern}|(?:\b\d{{1,2}}(?:st|nd|rd|th)?\.? )?\b(?:{_MONTH})\b\.?(?:,? \d{{4}}\b)?")
"""A date, or a month with its day or year."""
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


def value_in_prose(asked: FieldAsked, books: Sequence[SourcePassages]) -> StatedValue | None:
    """The value of a field according to prose; None if no sentence probably states it with a value of its type."""
    placed = [(book, sentence) for book in books for sentence in book.sentences]
    statements = [sentence.statement(books.index(book), book.title) for book, sentence in placed]
    question = read_question(asked.text, beside="\n".join(each.text for each in statements[:5]))
    judgement, analysis = judge(question, statements), question.analysis
    names = frozenset(key for name in asked.names for key in keys(name, analysis))
    about = [book for book in books if not names.isdisjoint(_source_keys(book, analysis))] or books
    ranked = [(book, each) for book, each in (placed[each.place] for each in judgement.ranked) if book in about]
    measure = stated_measure(asked, ranked, question)
    if measure is not None or not judgement.is_answered():
        return measure
    found: list[tuple[float, int, StatedValue]] = []
    for rank, (book, sentence) in enumerate(placed[each.place] for each in judgement.ranked[:MAX_SENTENCES]):
        share, at = match_field(asked, sentence.text, analysis)
        beside = " ".join(each.text for each in book.passages)
        if book in about and at and (value := _nearest_value(asked, sentence.text, at, beside)) is not None:
            found.append((-share, rank, StatedValue(value, sentence.passage)))
    return min(found)[2] if found else None


def _source_keys(book: SourcePassages, analysis: str) -> frozenset[str]:
    return frozenset(
        key for text in (book.title, *(each.text for each in book.passages)) for key in keys(text, analysis)
    )


def _nearest_value(asked: FieldAsked, text: str, at: Sequence[Span], beside: str) -> str | None:
    """The value of the field's type nearest to the field's words; `beside` is the text with the other numbers."""
    kind, form = asked.schema.get("type"), asked.schema.get("format")
    if "enum" in asked.schema:
        return _enum_member(asked, text)
    if kind not in ("string", "integer", "number"):
        return None
    if form in ("date", "date-time"):
        return nearest_text(text, at, DATE.finditer(text))
    return _find_number(asked, text, at, beside) if kind in ("integer", "number") else _find_text(asked, text, at)


def _enum_member(asked: FieldAsked, text: str) -> str | None:
    """The only member of an enum that a sentence without a negation has."""
    denies = text.endswith("?") or not NEGATIVES.isdisjoint(words(text))
    return None if denies else member(asked, text)


def _find_number(asked: FieldAsked, text: str, at: Sequence[Span], beside: str) -> str | None:
    """A number in plain digits, times its scale unless the field is counted in it; a year if there is no other, and
    none that the field or the question names.
    """
    dated = [match.span() for match in DATE.finditer(text)]
    found = [each for each in NUMBER.finditer(text) if not any(a <= each.start() < b for a, b in dated)]
    if asked.unit:
        return _nearest_in_unit(asked.unit, found, text, at, beside)
    others = [each for each in found if not YEAR.fullmatch(each[0])]
    known = NUMBER.findall(f"{asked.label} {asked.description} {asked.topics}")
    value = nearest_text(text, at, others or [each for each in found if each[0] not in known])
    if value is None:
        return None
    if SCALED.search(f"{asked.label} {asked.description}"):
        value = SCALED.sub("", value).strip()
    return plain_digits(value, beside)


def _nearest_in_unit(
    unit: str, found: Sequence[re.Match[str]], text: str, at: Sequence[Span], beside: str
) -> str | None:
    """The nearest number with a unit like that of the label, converted to it."""
    units = {each.start(): own for each in found if (own := comparable_unit_after(each, unit))}
    chosen = nearest_match(text, at, [each for each in found if each.start() in units])
    return None if chosen is None else convert_to_unit(plain_digits(chosen[0], beside), units[chosen.start()], unit)


def _find_text(asked: FieldAsked, text: str, at: Sequence[Span]) -> str | None:
    """A name other than the subject's, else the words directly after the field's words; a time if the field asks for
    one, and only then.
    """
    times = list(_TIME.finditer(text))
    if times and _asks_when(asked):
        return nearest_text(text, at, times)
    known = {word.casefold() for name in (*asked.names, asked.label) for word in WORD.findall(name)}
    small = {word.capitalize() for word in stop_terms(question_language(text))}  # as a sentence begins with them
    names = [match for match in NAME.finditer(text) if match.start() and match[0] not in small]
    other = [match for match in names if known.isdisjoint(word.casefold() for word in WORD.findall(match[0]))]
    near = nearest_match(text, at, other)
    if near is not None:
        told = any(time.start() <= near.start() < time.end() for time in times)
        return None if told else near[0].strip().rstrip(".")
    said = _SAYS.match(text, at[-1][1])
    return said["value"].strip() if said is not None and len(said["value"].split()) <= MAX_VALUE_WORDS else None


def _asks_when(asked: FieldAsked) -> bool:
    """True if a text field asks for a time."""
    said = {word.casefold() for word in words(f"{asked.label} {asked.description}")}
    return not _DATED.isdisjoint(said) or read_question(asked.description or asked.label).wanted == "date"


# Fields for an e-mail or web address or a DOI: the only one of the documents in passages with the field's other words.

_EMAIL = regex(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,6}(?!\w)")
_WEB = regex(r"https?://[^\s<>\"'`|]{3,300}")
_OF_MAIL = frozenset(("email", "mail"))
_OF_WEB = frozenset(("url", "uri", "website", "homepage", "webpage"))
_OF_DOI = frozenset(("doi",))
_GENERIC = _OF_MAIL | _OF_WEB | _OF_DOI | frozenset("e address contact web site page online official link".split())
"""Words that only say what kind of address is meant."""
_TAIL = ".,;:!?)]}*_»”’"


def address_pattern(asked: FieldAsked) -> re.Pattern[str] | None:
    """The form of the address that a field asks for by its name; None if it asks for none."""
    said = frozenset(words(asked.label))
    if asked.schema.get("type") != "string" or "enum" in asked.schema:
        return None
    forms = ((_OF_DOI, DOI), (_OF_MAIL, _EMAIL), (_OF_WEB, _WEB))
    return next((form for names, form in forms if said & names), None)


def find_address(asked: FieldAsked, form: re.Pattern[str], books: Sequence[SourcePassages]) -> StatedValue | None:
    """The address; None if the documents have none, or several that may be meant."""
    analysis = read_question(asked.text).analysis
    subject = frozenset(keys(" ".join(asked.names), analysis))
    wanted = frozenset(key for word in words(asked.label) if word not in _GENERIC for key in keys(word, analysis))
    wanted -= stop_terms(analysis) | subject
    found: dict[str, str] = {}
    for book in books:
        for passage in book.passages:
            if wanted <= frozenset(keys(" ".join((passage.under, passage.text)), analysis)):
                for match in form.finditer(passage.text):
                    whole = find_doi(match[0], "") if form is DOI else match[0].rstrip(_TAIL)
                    found.setdefault(whole, passage.id)
    return StatedValue(*next(iter(found.items()))) if len(found) == 1 else None


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


def name_in_title(asked: FieldAsked, books: Sequence[SourcePassages], shown: int) -> StatedValue | None:
    """The title of the only document that can be meant, if the field asks for a name and the title is one.

    The field is called "name" or "title", is described as one ("name of the product"), or its name is the kind of thing
    that the title ends with ("bridge": "Rotne Bridge"). `books` are the documents that the question names.
    """
    found = [value for book in books if (value := _find_title(asked, book, alone=shown == 1)) is not None]
    return found[0] if len(found) == 1 else None


def _find_title(asked: FieldAsked, book: SourcePassages, *, alone: bool) -> StatedValue | None:
    first = next((each for each in book.passages if each.id == book.title_passage), None)
    if asked.schema.get("type") != "string" or "enum" in asked.schema or asked.schema.get("format") or first is None:
        return None
    title = one_line(first.text)
    if not _is_name(title) or not _asks_for_it(asked, title):
        return None
    topics = {stem for word in words(title) if carries_topic(word) for stem in stems(word)}
    said = set(stems(asked.topics))
    meant = topics <= said or (alone and not topics.isdisjoint(said | set(stems(f"{asked.label} {asked.description}"))))
    return StatedValue(title, first.id) if meant else None


def _asks_for_it(asked: FieldAsked, title: str) -> bool:
    label, told, own = words(asked.label), words(asked.description), stems(title)
    if label[-1:] and label[-1] in _NAMING and all(stem in own for word in label[:-1] for stem in stems(word)):
        return True
    named = bool(_NAMING & set(told[:2])) and "of" in told[1:4]
    kind = len(label) == 1 and len(own) > 1 and stems(asked.label) == own[-1:]
    return (named and len(label) == 1) or kind


def _is_name(title: str) -> bool:
    """True if every word of a title begins like a name, and the first is no kind of text."""
    parts = title.split()
    first = words(parts[0]) if parts else []
    capital = all(part[:1].isupper() or part[:1].isdigit() or part.casefold() in _JOINING for part in parts)
    return bool(first) and first[0] not in _GENRES and capital and not title.endswith((".", "?", "!", ":"))
