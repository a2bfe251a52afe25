"""What the training of `assay.core.relevance` is shown: questions with the statements the built-in model saw.

They are recorded from runs (`bench/relevance_training.py record`), and varied: without the paragraph which answers,
over one document alone, over a library of a few sentences, and asked otherwise.
"""

from __future__ import annotations

import asyncio
import json
import pickle
import random
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from answers import Document, Question, data_folder, read, states, training

from assay import Assay
from assay.core import relevance
from assay.core.messages import Rarity
from assay.core.relevance.topic_question import (
    QuotableStatement,
    is_unspaced,
    keys,
)
from assay.core.text import sentences
from assay.evidence.segment import segment
from assay.models.extractive import answers as extractive_answers

LANGUAGES = ("en", "de", "ru", "zh", "ar", "es", "tr", "vi")
SMALL = "small"
"""The library of a few sentences."""
OTHERWISE = "tiny, asked otherwise"
"""What is measured and not trained on: no words tell these from what is said in other words."""
TINY = 60
"""Questions a language which are asked of such."""


class Case(NamedTuple):
    """A question with the statements the model was shown; `right` are those which answer, `own` its paragraph's.

    `half` says which half of the articles was searched, None that it was both.
    """

    language: str
    article: str
    question: relevance.TopicQuestion
    statements: tuple[QuotableStatement, ...]
    right: tuple[bool, ...]
    own: tuple[bool, ...]
    half: bool | str | None = None


def record(path: Path, count: int) -> None:
    """Run the questions over all articles, over their own half and over the other; keep what each run judged."""
    folder = data_folder()
    if folder is None:
        raise SystemExit("skipped: no questions")
    cases: list[Case] = []
    for language in LANGUAGES:
        documents, questions = read(folder, language)
        questions = [each for each in questions if training(each.article)]
        chosen = [questions[at * len(questions) // count] for at in range(min(count, len(questions)))]
        for half in (None, True, False):
            held = [each for each in documents if half is None or training(each.id.rpartition("/")[0]) == half]
            cases += [each._replace(half=half) for each in asyncio.run(_record(language, held, chosen))]
        print(language, len(cases), file=sys.stderr, flush=True)
        path.write_bytes(pickle.dumps(cases))


async def _record(language: str, documents: Sequence[Document], questions: Sequence[Question]) -> list[Case]:
    judged: list[tuple[relevance.TopicQuestion, Sequence[QuotableStatement]]] = []
    real = relevance.judge

    def listen(
        question: relevance.TopicQuestion, statements: Sequence[QuotableStatement], *others: Any
    ) -> relevance.Judgement:
        judged.append((question, statements))
        return real(question, statements, *others)

    cases = []
    extractive_answers.judge = listen
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "documents.jsonl"
        path.write_text("".join(json.dumps(vars(each)) + "\n" for each in documents))
        async with Assay(home=Path(folder) / "home") as assay:
            await assay.add([str(path)], None)
            for question in questions:
                judged.clear()
                await assay.start(question.text, sources=[str(path)], depth="light").report()
                if judged:
                    cases.append(_case(language, question, documents, *max(judged, key=lambda each: len(each[1]))))
    extractive_answers.judge = real
    return cases


def _case(
    language: str,
    question: Question,
    documents: Sequence[Document],
    asked: relevance.TopicQuestion,
    statements: Sequence[QuotableStatement],
) -> Case:
    text = next((" ".join(each.text.split()) for each in documents if each.id == question.document), "")
    own = tuple(" ".join(each.text.split()) in text for each in statements)
    right = tuple(mine and states(each.text, question.answers) for each, mine in zip(statements, own, strict=True))
    return Case(language, question.article, asked, tuple(statements), right, own)


def without(case: Case) -> Case:
    """The case with the paragraph which answers taken away."""
    kept = [at for at, own in enumerate(case.own) if not own]
    statements = tuple(case.statements[at] for at in kept)
    return case._replace(statements=statements, right=(False,) * len(kept), own=(False,) * len(kept))


def alone(case: Case) -> Case:
    """The case with one document alone: that which answers, else the first."""
    sources = {statement.source for statement, own in zip(case.statements, case.own, strict=True) if own} or {0}
    kept = [at for at, statement in enumerate(case.statements) if statement.source in sources]
    statements = tuple(msgspec.structs.replace(case.statements[at], source=0) for at in kept)
    return case._replace(
        statements=statements, right=tuple(case.right[at] for at in kept), own=tuple(case.own[at] for at in kept)
    )


def first_alone(case: Case) -> Case:
    """The case without its paragraph and with the first document left alone."""
    bare = without(case)
    first = min((statement.source for statement in bare.statements), default=0)
    found = (statement for statement in bare.statements if statement.source == first)
    kept = tuple(msgspec.structs.replace(statement, source=0) for statement in found)
    return bare._replace(statements=kept, right=(False,) * len(kept), own=(False,) * len(kept))


@cache
def library(language: str, half: bool | None, analysis: str) -> Rarity:
    """The rarity of all words in the passages of a language, as the index would count them."""
    documents, _ = DATA[language]
    held = [each for each in documents if half is None or training(each.id.rpartition("/")[0]) == half]
    passages = [span.text for each in held for span in segment(each.text, "plain")]
    return Rarity(
        passages=len(passages), holding=Counter(key for each in passages for key in set(keys(each, analysis)))
    )


def tiny(language: str, count: int) -> Iterator[Case]:
    """Libraries of one to three sentences: those which answer, others of their paragraph, others of their article."""
    chance = random.Random(language)
    documents, questions = DATA[language]
    asked = [each for each in questions if training(each.article)]
    for question in chance.sample(asked, min(count, len(asked))):
        paragraph = next(each for each in documents if each.id == question.document)
        others = [
            each
            for each in documents
            if each.id.rpartition("/")[0] == question.article and not states(each.text, question.answers)
        ]
        size = chance.choice((1, 2, 3))
        for each in (paragraph, *others[:1]):
            cited = [" ".join(each.text[start:end].split()) for start, end in sentences(each.text)]
            pieces = [cited[at : at + size] for at in range(max(1, len(cited) - size + 1))]
            kinds = [any(states(text, question.answers) for text in piece) for piece in pieces]
            for answers in (True, False):
                if fitting := [piece for piece, kind in zip(pieces, kinds, strict=True) if kind == answers]:
                    yield _tiny(language, question, chance.choice(fitting), answers)


def asked_otherwise(language: str, count: int) -> Iterator[Case]:
    """Small libraries which answer another question: one word of it, no name, is taken from a question elsewhere."""
    chance = random.Random(language)
    _, questions = DATA[language]
    texts = [each.text for each in questions if training(each.article)]
    for case in tiny(language, count):
        if any(case.own) and (other := _otherwise(chance, case, chance.choice(texts))):
            statements = case.statements
            nothing = (False,) * len(statements)
            yield Case(language, case.article, relevance.read_question(other), statements, nothing, nothing, SMALL)


def _otherwise(chance: random.Random, case: Case, elsewhere: str) -> str:
    """The question with a word of another in the place of one of its own; "" where neither has one to spare."""
    text = " ".join(each.text for each in case.statements)
    question = relevance.read_question(case.question.text, "", text)
    other = relevance.read_question(elsewhere, "", text)
    held = set(keys(text, question.analysis))

    def telling(each: relevance.TopicQuestion) -> list[str]:
        spare = set(each.keys) - each.names
        return [word for word in re.findall(r"[^\W\d_]{4,}", each.text) if spare.issuperset(keys(word, each.analysis))]

    theirs = [word for word in telling(other) if held.isdisjoint(keys(word, question.analysis))]
    own = [word for word in telling(question) if not held.isdisjoint(keys(word, question.analysis))]
    if is_unspaced(question.text) or not own or not theirs:
        return ""
    return question.text.replace(chance.choice(own), chance.choice(theirs), 1)


def _tiny(language: str, question: Question, sentences: Sequence[str], own: bool) -> Case:
    statements = tuple(
        QuotableStatement(text=text, position=place, title="Notes") for place, text in enumerate(sentences)
    )
    right = tuple(own and states(text, question.answers) for text in sentences)
    asked = relevance.read_question(question.text)
    return Case(language, question.article, asked, statements, right, (own,) * len(sentences), SMALL)


DATA: dict[str, tuple[list[Document], list[Question]]] = {}
"""The paragraphs and the questions by language."""
