"""How far the claims of a report answer the question: each is held against it, together with what it cites."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence

import msgspec

from assay.core.brief import Brief
from assay.core.claims import Relevance
from assay.core.events import ClaimsGraded
from assay.core.relevance import read_question
from assay.core.relevance.grades import CitedSentence, grade
from assay.core.sources import Passage, Source
from assay.core.tables.table_questions import answer
from assay.run.run import Run
from assay.verify.claim_check import ClaimResult

FEW = 2
"""Keys a question has at least which can be understood without the one before it in the conversation."""
_ASKED = re.compile(r"[^?？؟]+[?？؟]")


async def graded(run: Run, checked: Sequence[ClaimResult], sources: Mapping[str, Source]) -> tuple[ClaimResult, ...]:
    """The claims, each with how far it answers the run's question; that is told."""
    asked = questions(run.brief)
    told = [_told(each, sources) for each in checked]

    def work() -> list[Relevance]:
        words = grade(asked, told, run.execution.rarity)
        return ["answers" if is_answer(each, asked) else word for each, word in zip(checked, words, strict=True)]

    found = await asyncio.to_thread(work)
    run.emit(ClaimsGraded(relevance={each.id: word for each, word in zip(checked, found, strict=True)}))
    return tuple(map(_with, checked, found))


def is_answer(each: ClaimResult, asked: Sequence[str]) -> bool:
    """Whether a claim is what the tables it cites give when they are asked one of the questions.

    Every name and number of the question is accounted for then; its words alone ("longest" of a length) do not show it.
    """
    if each.check.rule != "field":
        return False
    tables = each.evidence.tables()
    found = (answer(question, tables) for question in asked) if tables else ()
    return any(each.sentence.text == said.text for one in found if one is not None for said in one.answers)


def questions(brief: Brief) -> tuple[str, ...]:
    """The question of a run, and the parts of it which are questions by themselves.

    One which says too little alone goes on from what was asked before it.
    """
    text = brief.question
    asked = read_question(text)
    if (asked.elliptical or len(asked.keys) < FEW) and brief.conversation:
        before = next((said.text for said in reversed(brief.conversation) if said.by == "user"), "")
        text = f"{before} {text}".strip()
    parts = [each.strip() for each in _ASKED.findall(text)]
    return (text, *parts) if len(parts) > 1 else (text,)


def _told(each: ClaimResult, sources: Mapping[str, Source]) -> CitedSentence:
    cited = each.evidence.passages
    first = cited[0] if cited else None
    return CitedSentence(
        text=each.sentence.text,
        cited=" ".join(passage.text for passage in cited),
        heading=_heading(first),
        framed=each.sentence.role == "frame",
        title=sources[first.source].title if first is not None and first.source in sources else "",
    )


def _heading(passage: Passage | None) -> str:
    return " ".join(passage.heading) if passage is not None else ""


def _with(each: ClaimResult, relevance: Relevance) -> ClaimResult:
    return msgspec.structs.replace(each, relevance=relevance)
