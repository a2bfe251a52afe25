"""How far the claims of a report answer its question: each is compared with it, together with its evidence."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence, Set

import msgspec

from assay.core.brief import Brief
from assay.core.claims import Relevance
from assay.core.events import ClaimsGraded
from assay.core.lazy import regex
from assay.core.relevance import read_question
from assay.core.relevance.grades import CitedSentence, grade_sentences
from assay.core.sources import PassageLocation, Source
from assay.core.tables.table_questions import answer_question
from assay.run.run import Run
from assay.verify.claim_check import ClaimResult

FEW = 2
"""The least keys of a question that can be understood without the one before it in the conversation."""
_MARKS = "?？؟"
_AFTER_MARK = regex(rf"(?<=[{_MARKS}])")


_RAISED: dict[Relevance, Relevance] = {"unrelated": "related", "related": "answers"}


async def grade_relevance(
    run: Run,
    results: Sequence[ClaimResult],
    sources: Mapping[str, Source],
    *,
    has_answer: bool = True,
    answering: Set[PassageLocation] = frozenset(),
    read_as: str = "",
) -> tuple[ClaimResult, ...]:
    """Grade how far each claim answers the run's question, `read_as` it was understood, and log it.

    Nothing answers it in a report that says so: it is without `has_answer`, and shows what is nearest. Words alone do
    not see what is said in other words, so a claim gets the next higher grade if it cites one of the passages by which
    a model judged a part of the question to be answered (`answering`).
    """
    questions = run_questions(run.brief, read_as)
    sentences = [_cited_sentence(result, sources) for result in results]

    def work() -> list[Relevance]:
        words = grade_sentences(questions, sentences, run.rarity)
        if not has_answer:
            return ["related" if word == "answers" else word for word in words]
        return [
            "answers"
            if is_answer(result, questions)
            else _RAISED.get(word, word)
            if not answering.isdisjoint(passage.location for passage in result.evidence.passages)
            else word
            for result, word in zip(results, words, strict=True)
        ]

    grades = await asyncio.to_thread(work)
    run.emit(ClaimsGraded(relevance={result.id: word for result, word in zip(results, grades, strict=True)}))
    return tuple(msgspec.structs.replace(result, relevance=word) for result, word in zip(results, grades, strict=True))


def is_answer(result: ClaimResult, questions: Sequence[str]) -> bool:
    """True if a claim is what its cited tables return for one of the questions.

    Then every name and number of the question is accounted for, which its words alone ("longest" of a length) do not
    show.
    """
    if result.check.rule != "field":
        return False
    tables = result.evidence.tables()
    table_answers = (answer_question(question, tables) for question in questions) if tables else ()
    return any(
        result.sentence.text == reply.text
        for table_answer in table_answers
        if table_answer is not None
        for reply in table_answer.answers
    )


def run_questions(brief: Brief, read_as: str = "") -> tuple[str, ...]:
    """The question of a run, as it was read, and its parts that are questions themselves.

    One that says too little alone is joined with the one before it.
    """
    text = read_as or brief.question
    question = read_question(text)
    if (question.elliptical or len(question.keys) < FEW) and brief.conversation:
        before = next((message.text for message in reversed(brief.conversation) if message.by == "user"), "")
        text = f"{before} {text}".strip()
    marked_parts = [part.strip() for part in _AFTER_MARK.split(text) if part[-1:] in _MARKS]
    parts = [part for part in marked_parts if part.strip(_MARKS)]
    return (text, *parts) if len(parts) > 1 else (text,)


def _cited_sentence(result: ClaimResult, sources: Mapping[str, Source]) -> CitedSentence:
    passages = result.evidence.passages
    first = passages[0] if passages else None
    return CitedSentence(
        text=result.sentence.text,
        cited_text=" ".join(passage.text for passage in passages),
        heading=" > ".join(first.heading) if first is not None else "",
        framed=result.sentence.role == "frame",
        title=sources[first.source].title if first is not None and first.source in sources else "",
    )
