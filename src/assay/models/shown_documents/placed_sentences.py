"""Every sentence of a document that can be quoted, with the text above and around it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import msgspec

from assay.core import passage_context
from assay.core.log_headings import log_entry
from assay.core.plain_text import without_number
from assay.core.relevance.named_things import is_code_name
from assay.core.relevance.signs import is_question
from assay.core.text import ends_sentence
from assay.models.shown_documents.passages import (
    BULLET,
    ITEM_WORDS,
    PassageSentence,
    Style,
    described_name,
    is_heading_or_code,
    is_in_table,
    is_row,
    items_of,
    one_line,
    quotable_sentences,
    read_field,
)
from assay.models.shown_documents.speakers import with_speakers

ANSWER_PASSAGES = 2
"""The passages after one with a question that still answer it, as in a FAQ, if no other question comes before."""


def place_sentences(passages: Sequence[passage_context.ShownPassage]) -> list[PassageSentence]:
    """Every sentence of `passages` (of one document, in order) that can be quoted, each once, with its heading.

    A question of the document counts as part of the heading of what follows it.

    The row of heads of a table, which each row of it is about, is none, and neither is a heading of what follows.
    """
    heads = {one_line(passage.about) for passage in passages if passage.about}
    heads.update(heading for passage in passages for heading in passage.under.split(" > "))
    style = _detect_style([passage.text for passage in passages if one_line(passage.text) not in heads])
    rows = Counter(item.under for item in passages if is_in_table(item.text) and one_line(item.text) not in heads)
    sentences: dict[tuple[str, str], PassageSentence] = {}
    question = PassageSentence("", "", -1 - ANSWER_PASSAGES)
    for passage in passages:
        heading = " ".join(filter(None, (passage.under, passage.after)))
        for sentence in (
            quotable_sentences(passage.id, passage.text, style) if one_line(passage.text) not in heads else ()
        ):
            if is_question(sentence.text):
                question = sentence
            answers = sentence is not question and sentence.ordinal - question.ordinal <= ANSWER_PASSAGES
            full_heading = f"{heading} {question.text}".strip() if answers else heading
            entry = _entry_name(passage) if _is_field(passage, sentence, rows[passage.under]) else ""
            full_heading = f"{full_heading} {sentence.heading}".strip()
            described = described_name(passage.text)
            placed_sentence = msgspec.structs.replace(
                sentence,
                heading=full_heading,
                label=passage.about or sentence.label or described,
                term=described if one_line(passage.text).startswith(sentence.text) else "",
                entry=entry,
                key=_value_name(passage, sentence) if entry else "",
            )
            sentences.setdefault((sentence.text, entry), placed_sentence)
    named = _with_names(list(sentences.values()), {passage.id: _last_heading(passage) for passage in passages})
    return with_speakers(named, passages)


def _with_names(sentences: list[PassageSentence], headings: Mapping[str, str]) -> list[PassageSentence]:
    """The sentences, each with the name of the entry it is about: a heading that only code is called, or above a field
    that other headings have too, or one that is a version or a day.

    "Default: 300" and "This variable is a number of seconds" say nothing without the name of the variable.
    """
    keys = {(sentence.key, headings[sentence.passage]) for sentence in sentences if sentence.entry and sentence.key}
    shared = Counter(key for key, _ in keys)
    entries = {heading for key, heading in keys if shared[key] > 1} | {
        heading for heading in headings.values() if is_code_name(heading) or log_entry(heading.split(" > "))
    }
    return [
        msgspec.structs.replace(sentence, name=headings[sentence.passage])
        if headings[sentence.passage] in entries
        else sentence
        for sentence in sentences
    ]


def value_of_entry(sentence: PassageSentence, sentences: Sequence[PassageSentence]) -> PassageSentence | None:
    """The only field with a figure of the entry that a sentence without one is about; None if there is none."""
    if not sentence.name or sentence.kind != "prose" or any(map(str.isdigit, sentence.text)):
        return None
    fields = [
        other
        for other in sentences
        if (other.name, other.heading, other.kind) == (sentence.name, sentence.heading, "row")
        and any(map(str.isdigit, other.text.removeprefix(other.key)))
    ]
    return fields[0] if len(fields) == 1 else None


def _last_heading(passage: passage_context.ShownPassage) -> str:
    return log_entry(passage.under.split(" > ")) or without_number(passage.under.rpartition(" > ")[2])


def _entry_name(passage: passage_context.ShownPassage) -> str:
    """The name of the entry that a field describes: the term above it in a list of definitions, else the heading."""
    term = "" if is_in_table(passage.text) else passage.about
    return term or _last_heading(passage)


def _value_name(passage: passage_context.ShownPassage, sentence: PassageSentence) -> str:
    """The name of the value in a field: its term, what is before its colon, its first cell, or the heads of its row."""
    if is_in_table(passage.text):
        return passage.about or passage.text.strip("| ").partition("|")[0]
    return described_name(passage.text) or (sentence if sentence.kind == "row" else passage).text.partition(":")[0]


def _is_field(passage: passage_context.ShownPassage, sentence: PassageSentence, rows: int) -> bool:
    """True if a sentence gives a value of what is above it: a line with a key, prose behind one, a term in the
    description of another, or a row of a table without a head, or alone below it; `rows` are below the same heading.
    """
    if is_in_table(passage.text):
        return not passage.about or rows == 1
    if sentence.kind == "row":
        return True
    return read_field(passage.id, passage.text) is not None or bool(passage.about and described_name(passage.text))


def _detect_style(texts: Sequence[str]) -> Style:
    """The style of a document: prose if most words of its paragraphs are in those that end like sentences."""
    paragraphs = [
        text
        for text in texts
        if len(text.split()) >= ITEM_WORDS
        and len(items_of(text)) == 1
        and not (described_name(text) or is_row(text) or BULLET.match(text) or is_heading_or_code(text))
    ]
    words = [
        (len(text.split()), ends_sentence(text.rstrip()) or text.rstrip().endswith((":", "："))) for text in paragraphs
    ]
    return "prose" if 2 * sum(count for count, ended in words if ended) > sum(count for count, _ in words) else "notes"
