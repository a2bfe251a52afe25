"""Answers to questions that name a numbered part of a document: "What does clause 2.2 say?", "What is step 6?"."""

from __future__ import annotations

from collections.abc import Sequence

from assay.core.log_headings import version_above
from assay.core.relevance import judge, read_question
from assay.core.relevance.numbered_parts import NumberedPart, PartText, inner_text, parts_named, texts_of
from assay.core.relevance.topic_question import near_keys
from assay.models.questions.question import ParsedQuestion
from assay.models.questions.words import stems, topic_keys
from assay.models.shown_documents.passages import BULLET, MAX_SENTENCE_CHARS, PassageSentence, one_line
from assay.models.shown_documents.shelf import ShownSources, SourcePassages

PART_SENTENCES = 3
"""The most sentences of a part that answer, or parts of one number of which the first sentence is quoted."""
_ASKING = frozenset(
    stems(
        "say says said state states require requires describe describes cover covers regulate regulates tell tells "
        "happen happens demand contain contains content wording steht stehen besagt regelt sagt lautet verlangt "
        "beschreibt change changes changed new added differ news release released geändert neu erschienen "
        "nouveau"
    )
)
"""Words that only ask for what stands in a part."""
SourceSentence = tuple[SourcePassages, PassageSentence]


def part_named(question: ParsedQuestion) -> NumberedPart | None:
    """The only numbered part that a question names; None if it names none or several."""
    parts = list(parts_named(question.text))
    return parts[0] if len(parts) == 1 else None


def is_nowhere(part: NumberedPart, books: Sequence[SourcePassages]) -> bool:
    """True if no document has a part, nor names it; of a version only if other versions are headings."""
    texts = [text for book in books for text in (book.title, *(passage.text for passage in book.passages))]
    if part.kind == "version":
        headings = {each.under.rpartition(" > ")[2] for book in books for each in book.passages}
        others = sum(version_above(heading).count(".") == part.number.count(".") > 0 for heading in headings)
        return others > 1 and not any(part.number in text.casefold() for text in texts)
    return not any(_texts(part, book) for book in books) and not any(map(part.is_mentioned, texts))


def sentences_of_part(
    part: NumberedPart, question: ParsedQuestion, books: Sequence[SourcePassages], shelf: ShownSources
) -> list[SourceSentence]:
    """What stands in the part; nothing if the question has other words, and no part of that number has one of them."""
    plain = question.text.replace(part.words, " ")
    other_keys = frozenset(topic_keys(plain)) - _ASKING
    found = [(_count_shared_keys(other_keys, book, text), book, text) for book in books for text in _texts(part, book)]
    most = max((shared for shared, _, _ in found), default=0)
    best = [(book, text) for shared, book, text in found if shared == most and (shared or not other_keys)]
    # A section stands below a title, a step is an item of a list, unless its kind is written before its number.
    named = [(book, text) for book, text in best if text.named]
    fitting = named or [(book, text) for book, text in best if text.titled != part.is_item] or best
    if len(fitting) != 1:
        return [(book, sentence) for book, text in fitting for sentence in _sentences(book, text)[:1]][:PART_SENTENCES]
    book, text = fitting[0]
    sentences = _sentences(book, text)
    if not other_keys.isdisjoint(key for sentence in sentences for key in stems(sentence.text)):
        statements = [sentence.statement(0, book.title, book.url) for sentence in sentences]
        judgement = judge(read_question(plain), statements, shelf.rarity)
        sentences = [sentences[item.index] for item in judgement.top_statements]
    return [(book, sentence) for sentence in sentences[:PART_SENTENCES]]


def _texts(part: NumberedPart, book: SourcePassages) -> list[PartText]:
    passages = [
        (passage.text, tuple(filter(None, (book.title, *passage.under.split(" > "))))) for passage in book.passages
    ]
    return [inner for text in texts_of(part, passages) if (inner := inner_text(part, text)).texts]


def _count_shared_keys(other_keys: frozenset[str], book: SourcePassages, text: PartText) -> int:
    """How many of the question's other words a part has, or what stands above it."""
    passages = [book.passages[index] for index in text.texts]
    context = " ".join([book.title, *text.texts.values(), *(f"{each.under} {each.after}" for each in passages)])
    context_keys = set(stems(context))
    near = near_keys(other_keys, context_keys)
    return sum(key in context_keys or bool(near.get(key)) for key in other_keys)


def _sentences(book: SourcePassages, text: PartText) -> list[PassageSentence]:
    """The sentences in a part; if it has none, its passages that are short enough to be quoted."""
    lines = {book.passages[index]: one_line(BULLET.sub("", each, count=1)) for index, each in text.texts.items()}
    by_passage = {passage.id: line for passage, line in lines.items()}
    return [each for each in book.sentences if each.text in by_passage.get(each.passage, "")] or [
        PassageSentence(line, passage.id, index)
        for index, (passage, line) in enumerate(lines.items())
        if 0 < len(line) <= MAX_SENTENCE_CHARS
    ]
