"""The sources the model was shown, with header fields, identity and sentences; and which of them a question names."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property

import msgspec

from assay.core import passage_context
from assay.core.lazy import regex
from assay.core.lexicon import stem
from assay.core.messages import Closeness, Rarity
from assay.core.sources import ordinal_of
from assay.core.text import ends_sentence, words
from assay.models.questions.question import Identifier, ParsedQuestion, has_pronoun, remove_phrase
from assay.models.questions.words import FIELD_STEMS, carries_topic, stems
from assay.models.shown_documents.passages import PassageField, PassageSentence, quotable_sentences, read_field
from assay.models.shown_documents.placed_sentences import place_sentences

MAX_MARKER_PASSAGES = 30
"""The most passages in one marker; a longer one is no marker (`core.scanner`)."""
HEADER_ORDINALS = 25
"""A passage farther down a document than this is no header, even if nothing before it is shown."""

IDENTIFIER = regex(r"\[?([A-Z]{2,6}-\d{1,6})\]?(?=\(|\W*$)")
"""A series and a number, as a link or alone."""


class QuotableUnit(msgspec.Struct, frozen=True, kw_only=True):
    """Something that a report can say: its text, and its passages.

    `context_keys` are the keys of the words in it, in the heading above it, in the document's title and address.
    """

    text: str
    passages: tuple[str, ...]
    source: str
    frame: bool = False
    context_keys: frozenset[str] = frozenset()

    def line(self) -> str:
        """The text with its markers; there are several if it has more passages than one may name."""
        groups = (
            ", ".join(self.passages[start : start + MAX_MARKER_PASSAGES])
            for start in range(0, len(self.passages), MAX_MARKER_PASSAGES)
        )
        return f"{self.text} {''.join(f'[{group}]' for group in groups)}"


class SourcePassages:
    """A source with its shown passages, in document order."""

    def __init__(
        self, id: str, title: str, url: str, passages: Iterable[passage_context.ShownPassage], published: str = ""
    ) -> None:
        self.id, self.title, self.url, self.published = id, title, url, published
        self.passages = sorted({passage.id: passage for passage in passages}.values(), key=lambda p: ordinal_of(p.id))

    @cached_property
    def fields(self) -> tuple[PassageField, ...]:
        """The header fields, which precede any prose; the first of equal keys."""
        fields: dict[str, PassageField] = {}
        for passage in self.passages:
            if passage.id == self.title_passage:
                continue
            field = read_field(passage.id, passage.text)
            if ordinal_of(passage.id) > HEADER_ORDINALS or (
                field is None and quotable_sentences(passage.id, passage.text)
            ):
                break
            if field is not None:
                fields.setdefault(field.name, field)
        return tuple(fields.values())

    def field(self, *names: str) -> PassageField | None:
        """The first field with one of these names, in the order of `names`."""
        by_name = {field.name: field for field in self.fields}
        return next((by_name[name] for name in names if name in by_name), None)

    @cached_property
    def number_field(self) -> PassageField | None:
        """The field with the document's number in its series: `PEP: 6`, `ISO: 8601`.

        It is the first and its key an abbreviation, or the title or address has the number too: "Built: 1966" is none.
        """
        address_numbers = frozenset(number.lstrip("0") for number in re.findall(r"\d+", f"{self.title} {self.url}"))
        for index, field in enumerate(self.fields[:6]):
            if re.fullmatch(r"0*\d{1,6}", field.value) and re.fullmatch(r"[^\W\d_]{2,8}", field.key):
                is_abbreviation = field.key.isupper() or field.key.islower()
                if (index == 0 and is_abbreviation) or field.value.lstrip("0") in address_numbers:
                    return field
        return None

    @cached_property
    def identifier_field(self) -> PassageField | None:
        """The field whose value is the document's series and number: `Proposal: [SE-0031](link)`."""
        return next((field for field in self.fields[:4] if IDENTIFIER.match(field.value)), None)

    def is_name(self, field: PassageField) -> bool:
        """True if a field numbers the document, or gives its title."""
        return field in (self.number_field, self.identifier_field, self.field("title", "feature name"))

    @property
    def series(self) -> str:
        """The name of the document's series, "" if it is in none."""
        return self.number_field.name if self.number_field is not None else ""

    @cached_property
    def title_passage(self) -> str:
        """The id of the passage that is only the document's title, "" if there is none, or nothing else is shown."""
        if len(self.passages) < 2:
            return ""
        first, second = self.passages[:2]
        if ordinal_of(first.id) or "\n" in first.text or read_field(first.id, first.text):
            return ""
        precedes_header = read_field(second.id, second.text) is not None and not ends_sentence(first.text)
        return first.id if precedes_header or words(first.text) == words(self.title) else ""

    @cached_property
    def titles(self) -> tuple[tuple[str, ...], ...]:
        """The document's titles as words: the source's, and that of a title field."""
        field = self.field("title", "feature name")
        texts = (self.title, field.value if field else "")
        return tuple(dict.fromkeys(tuple(words(text)) for text in texts if text))

    @cached_property
    def sentences(self) -> tuple[PassageSentence, ...]:
        """Every sentence that can be quoted, in document order, each once."""
        return tuple(place_sentences([passage for passage in self.passages if passage.id != self.title_passage]))

    def has_identifier(self, identifier: Identifier, one_word: bool = True) -> bool:
        """True if this document is number `wanted.number` of the series, by field, title or address.

        Only if `one_word`, the name and the number may be one word there.
        """
        if self.number_field is not None and self.number_field.name == identifier.series:
            return self.number_field.value.lstrip("0") == identifier.number
        for field in self.fields[:4]:
            if _has_identifier(field.value, identifier, one_word, at_start=True) and identifier.series not in {
                "http",
                "https",
            }:
                return True
        return _has_identifier(self.title, identifier, one_word, at_start=True) or _has_identifier(
            self.url, identifier, one_word
        )

    def is_in_series(self, series: str, one_word: bool = True) -> bool:
        """True if this document has a number of `series`; only if `one_word`, both may be one word."""
        if self.number_field is not None and self.number_field.name == series:
            return True
        gap = r"[-_/ ]?0*" if one_word else r"(?:[-_/ ]0*|0+)"
        pattern = rf"(?<![a-z]){re.escape(series)}s?{gap}\d"
        return re.search(pattern, f"{self.title} {self.url}".casefold()) is not None

    def mentions_identifier(self, identifier: Identifier, one_word: bool = True) -> bool:
        """True if the title or address has the name and the number, wherever."""
        return _has_identifier(f"{self.title} {self.url}", identifier, one_word)

    def numbers_in(self, series: str) -> set[str]:
        """The numbers behind `series` in the title and address, as written."""
        pattern = rf"(?<![^\W_]){re.escape(series)}s?[-_/ ]?(\d{{1,6}})(?![^\W_])"
        return set(re.findall(pattern, f"{self.title} {self.url}".casefold()))

    def number_in(self, series: str) -> str:
        """The number behind the first `series` in the title or address, in one word with it; "" for none."""
        match = re.search(rf"(?<![a-z]){re.escape(series)}(\d+)(?![^\W_])", f"{self.title} {self.url}".casefold())
        return match[1] if match else ""


class ShownSources:
    """All shown sources, in order of appearance.

    `rarity` is that of the question's words in the whole scope, `closeness` how similar passages are to the question.
    """

    def __init__(self, texts: Iterable[str], rarity: Rarity | None = None, closeness: Closeness | None = None) -> None:
        self.rarity, self.closeness = rarity, closeness or Closeness()
        sources: dict[str, tuple[str, str, list[passage_context.ShownPassage], str]] = {}
        for text in texts:
            for source in passage_context.read_sources(text):
                parts = sources.setdefault(source.id, (source.title, source.url, [], source.published))
                parts[2].extend(source.passages)
        self.books = [SourcePassages(id, *parts) for id, parts in sources.items()]

    @cached_property
    def field_name_keys(self) -> frozenset[str]:
        """The keys of the words with which these documents describe themselves: those of all header fields."""
        return frozenset(key for book in self.books for field in book.fields for key in stems(field.name))

    def is_series(self, series: str) -> bool:
        """True if several documents have different numbers behind this name."""
        return len({number for book in self.books if (number := book.number_in(series))}) > 1

    def numbers_documents(self, series: str) -> bool:
        """True if the name is that of a series: a header numbers a document in it, or titles and addresses have several
        numbers of it, or one with zeros before it (`pep-0008`). Else it may be the name of a thing ("COVID-19").
        """
        has_number_field = any(
            (book.number_field is not None and book.number_field.name == series)
            or (book.identifier_field is not None and _begins_with(book.identifier_field.value, series))
            for book in self.books
        )
        numbers = set[str]().union(*(book.numbers_in(series) for book in self.books))
        return has_number_field or len(numbers) > 1 or any(number.startswith("0") for number in numbers)

    @cached_property
    def by_passage(self) -> dict[str, SourcePassages]:
        """The book of each passage."""
        return {passage.id: book for book in self.books for passage in book.passages}


def _begins_with(value: str, series: str) -> bool:
    return re.match(rf"\W*{re.escape(series)}(?![^\W\d_])", value.casefold()) is not None


def _has_identifier(text: str, identifier: Identifier, one_word: bool, at_start: bool = False) -> bool:
    series, number = re.escape(identifier.series), re.escape(identifier.number)
    gap = r"[-_/ #]{0,2}0*" if one_word else r"(?:[-_/ #]{1,2}0*|0+)"
    pattern = rf"(?<![^\W_]){series}s?{gap}{number}(?![^\W_])"
    return re.search(rf"\A\W*{pattern}" if at_start else pattern, text.casefold()) is not None


# names of documents


def frame_field(book: SourcePassages, field: PassageField) -> QuotableUnit:
    """`KEY of SUBJECT: VALUE`; it cites the field and the fields that name the subject."""
    subject, identity = document_name(book)
    key = field.key[:1].upper() + field.key[1:]
    passages = tuple(dict.fromkeys((field.passage, *identity)))
    text = f"{key} of {subject}: {field.value}"
    return QuotableUnit(text=text, passages=passages, source=book.id, frame=True)


def document_name(book: SourcePassages) -> tuple[str, tuple[str, ...]]:
    """The name of a document, as `PEP 6 (Bug Fix Releases)`, and the passages that give it."""
    number, title = book.number_field or book.identifier_field, book.field("title", "feature name")
    name = title.value if title else book.title
    passages = tuple(field.passage for field in (number, title) if field is not None)
    if number is None:
        return name, passages
    return f"{number_label(number)} ({name})", passages


def number_label(number: PassageField) -> str:
    """`PEP 6` for `PEP: 6`, `EIP-1559` for `eip: 1559`, `SE-0031` for `Proposal: [SE-0031](link)`."""
    if match := IDENTIFIER.match(number.value):
        return match[1]
    digits = number.value.lstrip("0") or "0"
    return f"{number.key.upper()}-{digits}" if number.key.islower() else f"{number.key} {digits}"


# Which of the shown sources a question names: by number, by title, or by the question it is part of. A question about
# a source that is not there must not be answered from its neighbours.

_ARTICLES = frozenset(("a", "an", "the", "der", "die", "das"))


class Subject(msgspec.Struct, frozen=True, kw_only=True):
    """The subject of a question.

    `books` is empty for a question about a topic. `missing` names the numbered documents that the question is about and
    that are not shown: their neighbours must not answer for them. `other_terms` are the terms to look for in texts.
    `question` is the question without titles, since their words ask for nothing. `by_title` says that it
    names documents by title alone.
    """

    books: tuple[SourcePassages, ...] = ()
    missing: tuple[str, ...] = ()
    other_terms: tuple[str, ...] = ()
    question: ParsedQuestion
    by_title: bool = False

    @property
    def is_absent(self) -> bool:
        """True if the question is about a document that is not there."""
        return bool(self.missing) and not self.books


def resolve_subject(question: ParsedQuestion, shelf: ShownSources, context: ParsedQuestion | None = None) -> Subject:
    """The subject of `question`; if it names none ("when was it written?"), that of `context`."""
    subject = _resolve_alone(question, shelf)
    if subject.books or subject.missing or context is None or context.text == question.text:
        return subject
    context_subject = _resolve_alone(context, shelf)
    if context_subject.missing and not context_subject.books:
        return msgspec.structs.replace(context_subject, other_terms=subject.other_terms, question=subject.question)
    inherits = not subject.other_terms or has_pronoun(question)
    return (
        msgspec.structs.replace(context_subject, other_terms=subject.other_terms, question=subject.question)
        if inherits
        else subject
    )


def _resolve_alone(question: ParsedQuestion, shelf: ShownSources) -> Subject:
    titled_books, title_spans = _find_by_title(question, shelf)
    plain_question = question
    for span in title_spans:
        plain_question = remove_phrase(plain_question, span)
    numbered_books, missing, used = _find_by_number(plain_question, shelf)
    certain = any(shelf.numbers_documents(mention.identifier.series) for mention in plain_question.mentions)
    other_terms = tuple(
        term for term in plain_question.terms if term not in plain_question.concept_terms | used | FIELD_STEMS
    )
    books = tuple(dict.fromkeys([*titled_books, *numbered_books]))
    if books:  # the name of a series' number field asks for it; the name of the series' owner asks for nothing
        name_keys = shelf.field_name_keys.union(*(stems(book.series) for book in books))
        other_terms = tuple(term for term in other_terms if term not in name_keys)
    by_title = bool(books) and not (numbered_books and certain)
    return Subject(books=books, missing=missing, other_terms=other_terms, question=plain_question, by_title=by_title)


def _find_by_number(
    question: ParsedQuestion, shelf: ShownSources
) -> tuple[list[SourcePassages], tuple[str, ...], frozenset[str]]:
    """Documents by their number in a series, the numbers that no document of a known one has, and the terms for both.

    A name of one word ("sqlite3") is a number only if a document has it as one ("PEP 8", `pep-0008`), or if there are
    several with such a name (`rfc791.txt`, `rfc793.txt`). A name that several titles have in different places ("LZTO-3:
    sintering", "Ageing of LZTO-3") numbers none of them, unless it is that of a series.
    """
    books: list[SourcePassages] = []
    missing: list[str] = []
    used: set[str] = set()
    for mention in question.mentions:
        one_word = not mention.is_one_word or shelf.is_series(mention.identifier.series)
        owners = [book for book in shelf.books if book.has_identifier(mention.identifier, one_word)]
        mentioning = [book for book in shelf.books if book.mentions_identifier(mention.identifier, one_word)]
        if len(mentioning) > len(owners) and not shelf.numbers_documents(mention.identifier.series):
            continue
        is_known_series = any(book.is_in_series(mention.identifier.series, one_word) for book in shelf.books)
        if owners or is_known_series:
            used.update(stems(mention.text))
            used.update(stem(name) for name in (mention.identifier.series, f"{mention.identifier.series}s"))
        if owners:
            books.extend(owners)
        elif is_known_series:
            missing.append(mention.text)
    return books, tuple(missing), frozenset(used)


def _find_by_title(question: ParsedQuestion, shelf: ShownSources) -> tuple[list[SourcePassages], list[tuple[str, ...]]]:
    """Documents whose whole title is in the question, and where; of overlapping titles the longest."""
    matches: list[tuple[int, int, SourcePassages]] = []
    for book in shelf.books:
        for title in book.titles:
            start, size = _title_place(title, question)
            if start >= 0:
                matches.append((start, start + size, book))
    matches.sort(key=lambda match: (match[0] - match[1], match[0]))
    longest: list[tuple[int, int, SourcePassages]] = []
    for start, end, book in matches:
        if all((start, end) == (a, b) or end <= a or start >= b for a, b, _ in longest):
            longest.append((start, end, book))
    spans = dict.fromkeys(question.words[start:end] for start, end, _ in longest)
    return list(dict.fromkeys(book for _, _, book in longest)), list(spans)


def _title_place(title: tuple[str, ...], question: ParsedQuestion) -> tuple[int, int]:
    """The place of a title in a question, and its length in words; -1 if it is absent or too short to be certain."""
    while title and title[0] in _ARTICLES:
        title = title[1:]
    if not title or (len(title) == 1 and not _is_whole(title[0], question)):
        return -1, 0
    if not any(carries_topic(word) for word in title):
        return -1, 0
    size = len(title)
    starts = range(len(question.words) - size + 1)
    return next((start for start in starts if question.words[start : start + size] == title), -1), size


def _is_whole(word: str, question: ParsedQuestion) -> bool:
    """True if a title of one word is a name that is the whole topic of the question."""
    is_quoted = any(stems(text) == [stem(word)] for text in question.quotations)
    return is_quoted or (set(question.other_terms) == {stem(word)} and len(word) > 2)
