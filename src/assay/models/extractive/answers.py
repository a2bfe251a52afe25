"""Chooses the answer to a question: fields of the documents it names, table rows and figures, sentences."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from assay.core.lazy import regex
from assay.core.messages import Request
from assay.core.relevance import Judgement, comparisons, judge, read_question
from assay.core.relevance.former_states import asks_former, states_former
from assay.core.relevance.named_things import is_another_kind, is_defined_by, thing_asked
from assay.core.relevance.numbered_parts import NumberedPart
from assay.core.relevance.signs import is_question
from assay.core.relevance.topic_question import near_keys
from assay.core.tables.records import MIN_FIELDS, is_field
from assay.core.tables.rows import format_row
from assay.core.tables.words import read_asking
from assay.core.text import ends_sentence, words
from assay.models.extractive.part_answers import is_nowhere, part_named, sentences_of_part
from assay.models.extractive.successions import neighbour_in_list
from assay.models.questions.conditions import asks_for_several
from assay.models.questions.question import ParsedQuestion, analyze, has_pronoun, is_comparison
from assay.models.questions.words import CONCEPTS, begins_pointing_back, stems, topic_keys
from assay.models.shown_documents.passages import PassageField, PassageSentence, one_line
from assay.models.shown_documents.placed_sentences import value_of_entry
from assay.models.shown_documents.shelf import (
    QuotableUnit,
    ShownSources,
    SourcePassages,
    Subject,
    frame_field,
    resolve_subject,
)
from assay.models.shown_documents.tabular import answering_rows, computed_units, line_with_headers
from assay.models.shown_documents.threads import latest_first, whole_threads, with_days

# computations by code over tables


def calculation_results(request: Request) -> list[QuotableUnit]:
    """The sentences from the tool `calculate`, each with its passages."""
    calls = {call.id for message in request.messages for call in message.calls if call.name == "calculate"}
    return [
        unit
        for message in request.messages
        if message.role == "tool" and message.call_id in calls
        for unit in computed_units(message.text)
    ]


MAX_COMPARISON_ITEMS = 5


def comparison_frames(task: ParsedQuestion, main_question: ParsedQuestion, shelf: ShownSources) -> list[QuotableUnit]:
    """For a question that compares: what the documents of a task say of themselves, as far as it is asked for."""
    books = resolve_subject(task, shelf, main_question).books if is_comparison(main_question.text) else ()
    asked_keys = {key for name in main_question.concepts for key in CONCEPTS[name].keys}
    fields = [
        [
            book_field
            for book_field in book.fields
            if (book_field.name in asked_keys if asked_keys else not book.is_name(book_field))
        ]
        for book in books
    ]
    pairs = zip(books[:MAX_COMPARISON_ITEMS], fields, strict=False)
    return [frame_field(book, field) for book, book_fields in pairs for field in book_fields[:MAX_COMPARISON_ITEMS]]


# `core.relevance` rates statements. They are taken best first, without near repetitions, by maximal marginal relevance
# (Carbonell and Goldstein 1998). If even the best are probably no answer, there is none.


# The answer: fields, table rows and statements.

DUPLICATE_SHARE = 0.6
"""The share of common words from which two sentences count as the same."""
LEAD_SENTENCES = 3
MIN_QUESTION_WORDS = 2
"""The least number of words with which a part of a question is asked alone."""
DESCRIBING = ("description", "summary", "abstract", "beschreibung")
LANGUAGE_STATEMENTS = 5
"""How many statements are used to detect the language: those with most of the question's words, since a library may
have documents in several languages.
"""
_HEADS = regex(r"(?:^[^:|]{1,80}: (?=[^|]* \| )|(?<= \| )[^:|]{1,80}: )")
"""The header before a value in a row."""
_SINCE = regex(
    r"\W*(?:since|from|as of|starting|effective|now|today|seit|ab|inzwischen|mittlerweile|heute|depuis|à partir|dès"
    r"|désormais|desde|a partir|ahora|dal|sinds|vanaf|с|теперь|сейчас)\b",
    re.IGNORECASE,
)
"""How a sentence begins that says since when something holds."""
SourceSentence = tuple[SourcePassages, PassageSentence]


def select_answers(
    question: ParsedQuestion, shelf: ShownSources, context: ParsedQuestion | None = None, limit: int = 8
) -> list[QuotableUnit]:
    """The answers of the shown passages to `question`: header fields first, then sentences, best first.

    `context` is the question this one is a part of. Of messages of one thread the latest comes first.
    """
    return with_days(_select(question, shelf, context, limit), shelf.books, LEAD_SENTENCES)


def _select(
    question: ParsedQuestion, shelf: ShownSources, context: ParsedQuestion | None, limit: int
) -> list[QuotableUnit]:
    pair = comparisons.read_comparison(context.text) if context is not None else None
    if pair is not None and question.text in pair.sides:
        question = context = analyze(pair.question_about(question.text))
        limit = LEAD_SENTENCES
    subject = resolve_subject(question, shelf, context)
    if subject.is_absent:
        return []
    if (part := part_named(question)) and (answers := _answers_from_part(part, question, subject, shelf)) is not None:
        return answers[:limit]
    if succession := neighbour_in_list(question, subject.books or shelf.books):
        return [_quotable_unit(*item, question) for item in succession]
    subject = msgspec.structs.replace(subject, books=whole_threads(subject.books, shelf.books))
    if row_answers := answering_rows(question, shelf):
        return row_answers[:limit]
    subject_question, why = subject.question, read_question(subject.question.text).answer_kind == "reason"
    frames = [] if why else answer_frames(subject_question, subject, shelf)
    if subject.books and not subject.other_terms:
        if why:
            return _sentences(question, subject, shelf, context, limit) or _lead_units(subject)
        if frames or not asks_for_fields(subject_question, shelf):
            return frames or _lead_units(subject)
        if any(map(_has_header, subject.books)):
            return []
    return [*frames, *_sentences(question, subject, shelf, context, limit - len(frames))]


def _answers_from_part(
    part: NumberedPart, question: ParsedQuestion, subject: Subject, shelf: ShownSources
) -> list[QuotableUnit] | None:
    """What stands in the part that a question names; empty if it is nowhere, None if something else may answer."""
    sentences = sentences_of_part(part, question, subject.books or shelf.books, shelf)
    if not sentences:
        return [] if is_nowhere(part, shelf.books) else None
    return _distinct((_quotable_unit(*item, question) for item in sentences), LEAD_SENTENCES)


def asks_for_fields(question: ParsedQuestion, shelf: ShownSources) -> bool:
    """True if a question asks for what the documents' header fields say."""
    return bool(question.concepts) or any(term in shelf.field_name_keys for term in question.other_terms)


def _has_header(book: SourcePassages) -> bool:
    """True if a document has a header; one without it may say the same in prose."""
    return book.number_field is not None or len(book.fields) > 2


# fields


def answer_frames(question: ParsedQuestion, subject: Subject, shelf: ShownSources) -> list[QuotableUnit]:
    """Frames for the fields that a question asks about its subject; empty if the documents have no such field."""
    units: list[QuotableUnit] = []
    for book in subject.books:
        concept_fields = (book.field(*CONCEPTS[name].keys) for name in question.concepts)
        fields = (*filter(None, concept_fields), *named_fields(question, book))
        units.extend(frame_field(book, field) for field in fields)
    return list({unit.text: unit for unit in units}.values())


def named_fields(question: ParsedQuestion, book: SourcePassages) -> list[PassageField]:
    """The fields whose whole names a question has; else those that have all it asks for, or their last words in it:
    "Seal material" for "what is the seal made of?", "Rust Issue" for "which issue tracks it?".
    """
    concept_keys = {key for name in question.concepts for key in CONCEPTS[name].keys}
    number_keys = {key for mention in question.mentions for key in stems(mention.text)} | set(stems(book.series))
    plain = question.text
    for mention in question.mentions:
        plain = plain.replace(mention.text, " ")
    text_keys, asked_terms = set(topic_keys(plain)), set(question.other_terms) - number_keys
    rated_fields: list[tuple[float, PassageField]] = []
    for field in book.fields:
        name_keys = [key for key in topic_keys(field.name) if key not in number_keys]
        if not name_keys or field.name in concept_keys or field is book.number_field or field is book.identifier_field:
            continue
        close_keys = near_keys(name_keys, text_keys)
        matches = [key in text_keys or key in close_keys for key in name_keys]
        matched_keys = {
            key for key in text_keys if key in name_keys or any(key in group for group in close_keys.values())
        }
        if (
            all(matches)
            or (asked_terms and asked_terms <= matched_keys)
            or (matches[-1] and not is_another_kind(read_question(plain), field.name, matched_keys))
        ):
            rated_fields.append((sum(matches) / len(name_keys), field))
    best = max((rate for rate, _ in rated_fields), default=0.0)
    partly = () if question.concepts else (best,)
    return [field for rate, field in rated_fields if rate == 1.0 or (best < 1.0 and rate in partly)]


# statements


def _sentences(
    question: ParsedQuestion, subject: Subject, shelf: ShownSources, context: ParsedQuestion | None, limit: int
) -> list[QuotableUnit]:
    topic = _needed_context(question, context) if not subject.books else ""
    sentences, judgement = _judge_sentences(question, subject.books or shelf.books, shelf, topic)
    if not judgement.is_answered(bool(subject.books)):
        if not subject.by_title or any(map(_has_header, subject.books)):
            return []
        # A title may be the name of a thing that others tell of too: the manual of "Widget" beside its FAQ.
        sentences, judgement = _judge_sentences(question, shelf.books, shelf)
        if not judgement.is_answered():
            return []
    statements = judgement.best_per_source if asks_for_several(question) else judgement.top_statements
    best_sentences = [sentences[item.index] for item in statements]
    if not subject.books:
        best_sentences = [item for item in best_sentences if not _lacks_extreme(question.text, *item)]
    if not best_sentences:
        return []
    with_antecedent = (
        best_sentences
        if asks_for_several(question)
        else [
            *_antecedent(best_sentences[0], sentences),
            *_former(question.text, best_sentences[0], sentences),
            best_sentences[0],
            *_change(best_sentences[0], sentences),
            *best_sentences[1:],
        ]
    )
    ordered = _with_values(question, latest_first(question.text, with_antecedent, shelf.books))
    units = (_frame_of_record(*item, question, shelf) or _quotable_unit(*item, question) for item in ordered)
    return _distinct(units, limit)


def _with_values(question: ParsedQuestion, sentences: Iterable[SourceSentence]) -> Iterator[SourceSentence]:
    """The sentences; to a question for a number, each about an entry of a reference with the value of that."""
    topic_question = read_question(question.text)
    asks_number = topic_question.answer_kind == "number" or topic_question.measure
    for book, sentence in sentences:
        yield book, sentence
        value = value_of_entry(sentence, book.sentences) if asks_number else None
        if value is not None:
            yield book, value


def _lacks_extreme(question: str, book: SourcePassages, sentence: PassageSentence) -> bool:
    """True if a question asks for the highest or lowest of several things, and a row or field tells only of one."""
    calculation = read_asking(question)
    if calculation.operations[0].operation not in ("max", "min") or not (
        sentence.kind == "row" or is_field(sentence.text)
    ):
        return False
    text = f"{book.title} {sentence.heading} {sentence.label} {sentence.text}"
    names_extreme = any(word.casefold() in text.casefold() for word in calculation.phrases)
    return not names_extreme and read_asking(text).operations[0].operation != calculation.operations[0].operation


def _antecedent(best: SourceSentence, sentences: Sequence[SourceSentence]) -> list[SourceSentence]:
    """The sentence before the best one in its passage, if that begins with a word for something in it."""
    index = sentences.index(best)
    before = sentences[index - 1] if index and begins_pointing_back(best[1].text) else best
    same_passage = before is not best and before[1].passage == best[1].passage
    is_statement = before[1].kind == "prose" and ends_sentence(before[1].text) and not is_question(before[1].text)
    return [before] if same_passage and is_statement else []


def _change(best: SourceSentence, sentences: Sequence[SourceSentence]) -> list[SourceSentence]:
    """The sentence behind the best one in its passage, if both have a figure, and it says first since when it holds."""
    after = sentences[min(sentences.index(best) + 1, len(sentences) - 1)]
    same_passage = after is not best and after[1].passage == best[1].passage
    figures = all(any(map(str.isdigit, each.text)) for _, each in (best, after))
    return [after] if same_passage and figures and _SINCE.match(after[1].text) else []


def _former(question: str, best: SourceSentence, sentences: Sequence[SourceSentence]) -> list[SourceSentence]:
    """The first sentence beside the best one, in its passage, that tells what was before, if that is asked and the best
    does not tell it.
    """
    if not asks_former(question) or states_former(best[1].text):
        return []
    same_passage = (each for each in sentences if each is not best and each[1].passage == best[1].passage)
    return [each for each in same_passage if states_former(each[1].text)][:1]


def _judge_sentences(
    question: ParsedQuestion, books: Sequence[SourcePassages], shelf: ShownSources, topic: str = ""
) -> tuple[list[SourceSentence], Judgement]:
    sentences = [(book, sentence) for book in books for sentence in book.sentences]
    rank = {book.id: position for position, book in enumerate(shelf.books)}
    statements = [sentence.statement(rank[book.id], book.title, book.url) for book, sentence in sentences]
    question_words = frozenset(words(question.text))
    nearest = sorted(statements, key=lambda statement: -len(question_words.intersection(words(statement.text))))
    sample = "\n".join(statement.text for statement in nearest[:LANGUAGE_STATEMENTS])
    closeness = shelf.closeness.cosines_for(topic or question.text)
    cosines = [closeness.get(sentence.passage) for _, sentence in sentences] if closeness else []
    return sentences, judge(read_question(question.text, topic, sample), statements, shelf.rarity, cosines)


def _needed_context(question: ParsedQuestion, context: ParsedQuestion | None) -> str:
    """The whole question, if a part says too little alone: a phrase, "how can they be avoided?", "and when?"."""
    if context is None or question.text == context.text:
        return ""
    asked = read_question(question.text)
    is_whole = len(asked.keys) >= MIN_QUESTION_WORDS or bool(thing_asked(asked))
    return "" if is_whole and not has_pronoun(question) else context.text


def _lead_units(subject: Subject) -> list[QuotableUnit]:
    """The first sentences of each subject, after its description if its header has one."""
    units: list[QuotableUnit] = []
    for book in subject.books:
        field = book.field(*DESCRIBING)
        if field is not None:
            units.append(frame_field(book, field))
        prose = [
            candidate for candidate in book.sentences if candidate.kind == "prose" and ends_sentence(candidate.text)
        ]
        units.extend(_quotable_unit(book, sentence, None) for sentence in prose[:LEAD_SENTENCES])
    return units


def _quotable_unit(book: SourcePassages, sentence: PassageSentence, question: ParsedQuestion | None) -> QuotableUnit:
    """A sentence to quote; behind the name of its entry, if that is a term, or the question names it, or other entries
    have the same fields.
    """
    question_keys = set(stems(question.text)) if question is not None else set()
    names_entry = sentence.entry == sentence.label or set(stems(sentence.entry)) <= question_keys
    name = sentence.entry if sentence.entry and names_entry else sentence.name
    text = _row_with_headers(book, sentence) or sentence.text
    context_keys = frozenset(stems(f"{sentence.text} {sentence.heading} {sentence.label} {book.title} {book.url}"))
    return QuotableUnit(
        text=sentence.with_name(name, text),
        passages=(*sentence.said_from, sentence.passage),
        source=book.id,
        context_keys=context_keys,
    )


def _frame_of_record(
    book: SourcePassages, sentence: PassageSentence, question: ParsedQuestion, shelf: ShownSources
) -> QuotableUnit | None:
    """A line of a record with its document's name, if the question has no word of its own: "Owner of Miller's Hut: Ann
    Lee" for "which hut is owned by Ann Lee?".

    None for other sentences, for a single line with a colon (a title), for a field of an entry of a manual, and for a
    definition.
    """
    field = next((field for field in book.fields if field.passage == sentence.passage), None)
    is_alone = len(shelf.books) < 2 or len(book.fields) < MIN_FIELDS
    shared_keys = {key for other in shelf.books if other is not book for key in topic_keys(other.title)}
    if field is None or is_alone or not (set(topic_keys(book.title)) - shared_keys).isdisjoint(stems(question.text)):
        return None
    sections = sum(any(line.heading == sentence.heading for line in other.sentences) for other in shelf.books)
    of_entry = sentence.entry and sections == 1
    return (
        None
        if of_entry or is_defined_by(read_question(question.text, "", book.title), field.key)
        else frame_field(book, field)
    )


def _row_with_headers(book: SourcePassages, sentence: PassageSentence) -> str:
    """A row with the headers of its table; "" if it is none or they are not known."""
    labelled = sentence.label and sentence.kind == "row"
    row = next((passage.text for passage in book.passages if passage.id == sentence.passage), "") if labelled else ""
    return format_row(one_line(row), sentence.label) or line_with_headers(row, sentence.text) if row else ""


def _distinct(units: Iterable[QuotableUnit], limit: int) -> list[QuotableUnit]:
    """The best `limit` units without repetitions; at most half of them (but at least three) come from one source."""
    limit = max(limit, 0)
    distinct: list[QuotableUnit] = []
    per_source: Counter[str] = Counter()
    source_limit = max(3, limit // 2)
    for unit in units:
        if len(distinct) == limit:
            break
        if per_source[unit.source] < source_limit and not any(
            is_near_duplicate(unit.text, other.text) for other in distinct
        ):
            distinct.append(unit)
            per_source[unit.source] += 1
    return distinct


def is_near_duplicate(first: str, second: str) -> bool:
    """True if two sentences have most of their words in common (Jaccard index), or two rows most of their values and
    all figures: two payments of one amount differ in their day.
    """
    a, b = (set(_HEADS.sub("", text).casefold().split()) for text in (first, second))
    rows = " | " in first and " | " in second
    differ = rows and any(any(map(str.isdigit, word)) for word in a ^ b)
    return len(a & b) >= DUPLICATE_SHARE * len(a | b) and not differ
