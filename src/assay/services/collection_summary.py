"""A summary of a collection, by counting, and questions it answers, each tried on the built-in model.

If a model is named it writes a summary too: a report like any other.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import Unpack

import msgspec

from assay.core.brief import ROLES
from assay.core.clean import one_line
from assay.core.errors import AssayError
from assay.core.function_words import MORE_STOP_WORDS
from assay.core.lazy import regex
from assay.core.lexicon import NUMBER_WORDS, NUMERALS, ORDINALS, SCALES, TENS, analysis_of, stop_terms, terms
from assay.core.measures import UNIT_NAMES
from assay.core.report import Report
from assay.core.run_options import RunOptions
from assay.core.sources import Document
from assay.evidence.segment import segment
from assay.services.ports import Researcher
from assay.services.results import RunHandle
from assay.services.suggested_questions import passage_questions

TASK = "What do these documents say about {subjects}, and where do they disagree?"
MAX_EXAMINED_DOCUMENTS = 300
"""Documents examined, spread evenly over the collection; the counts are of all."""
MAX_DOCUMENT_CHARS = 60_000
SUBJECTS, EXAMPLES = 8, 3
TRIES = 4
"""Questions tried for each that is wanted."""
COMMON_SHARE, COMMON_COUNT = 0.08, 8
"""A word in more than this share of the passages (and in more than this number) is too common to be a subject."""
EVERYWHERE_SHARE, FEW_DOCUMENTS = 0.6, 5
"""So is a word in more than this share of the documents, if there are at least so many."""
HEADING_WEIGHT = 3.0
MIN_WORD_LETTERS = 4

_WORD = regex(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_SPACELESS = regex(r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_TIMES = {
    "en": "time times today yesterday tomorrow hourly daily weekly monthly yearly annually weekday weekdays weekend"
    " monday tuesday wednesday thursday friday saturday sunday january february march april may june july august"
    " september october november december first dozen dozens hundreds twice thrice",
    "de": "zeit zeiten heute gestern morgen täglich wöchentlich monatlich jährlich stunde stunden tage tagen woche"
    " wochen monat monate monaten jahr jahre jahren montag dienstag mittwoch donnerstag freitag samstag sonntag januar"
    " februar märz april juni juli august september oktober november dezember meter metern erste ersten erster erstes",
    "fr": "temps aujourd hier demain heure heures jour jours semaine semaines mois année années siècle siècles lundi"
    " mardi mercredi jeudi vendredi samedi dimanche janvier février mars avril juin juillet août septembre octobre"
    " novembre décembre deux trois quatre cinq sept huit neuf douze vingt cent mille mètre mètres première premier",
    "es": "tiempo ayer mañana hora horas días semana semanas meses años siglo siglos lunes martes miércoles jueves"
    " viernes sábado domingo enero febrero marzo abril junio julio agosto septiembre octubre noviembre diciembre"
    " metro metros primero primera",
}
"""Words for times, and those for numbers and units that are in no list of ours, by language."""
_AMOUNTS = frozenset((*NUMBER_WORDS, *TENS, *ORDINALS, *SCALES, *UNIT_NAMES))
_NUMERAL = regex("|".join(NUMERALS))


class CollectionSubject(msgspec.Struct, frozen=True, kw_only=True):
    """A word the collection is about, how many passages have it, and titles of documents that have it most."""

    term: str
    passages: int
    documents: tuple[str, ...]


class SuggestedQuestion(msgspec.Struct, frozen=True, kw_only=True):
    """A question that was tried: the built-in model's first claim, and the passage it cites."""

    question: str
    answer: str
    quote: str
    document: str
    page: int = 0


class CollectionOverview(msgspec.Struct, frozen=True, kw_only=True):
    """The content of a collection.

    `first` and `last` are the dates its documents state; `looked_into` counts the documents that the subjects are from.
    `summary` is Markdown, the report of the run `run_id`; both are empty if no model was to write one.
    """

    collection: str
    documents: int
    bytes: int
    kinds: dict[str, int]
    languages: dict[str, int]
    first: str
    last: str
    undated: int
    looked_into: int
    subjects: tuple[CollectionSubject, ...]
    questions: tuple[SuggestedQuestion, ...]
    summary: str = ""
    run_id: str = ""


class _Passage(msgspec.Struct, frozen=True):
    document: Document
    text: str
    heading: str


async def collection_summary(assay: Researcher, collection: str, questions: int) -> CollectionOverview:
    """A summary of `collection`, with at most `questions` questions; nothing leaves this machine.

    Raises:
        UnknownName: there is no such collection.
    """
    documents = await assay.documents(collection)
    step = max(1, math.ceil(len(documents) / MAX_EXAMINED_DOCUMENTS))
    sample = documents[::step]
    passages = [passage for document in sample for passage in await _passages(assay, document, collection)]
    subjects = _subjects(passages)
    dates = sorted(document.published for document in documents if document.published)
    return CollectionOverview(
        collection=collection,
        documents=len(documents),
        bytes=sum(document.size for document in documents),
        kinds=dict(Counter(document.media_type for document in documents).most_common()),
        languages=dict(Counter(document.language or "unknown" for document in documents).most_common()),
        first=dates[0] if dates else "",
        last=dates[-1] if dates else "",
        undated=len(documents) - len(dates),
        looked_into=len(sample),
        subjects=subjects,
        questions=await _answerable_questions(assay, collection, _candidates(passages), questions),
    )


def start_summary(assay: Researcher, overview: CollectionOverview, **options: Unpack[RunOptions]) -> RunHandle:
    """Start a run that writes the summary of a collection by subject, in the language of most of its documents.

    Args:
        overview: what the collection contains.
        options: those of `Assay.start`: the model, its limits, whether it may see private documents.
    """
    run_options = RunOptions(mode="deep_research", depth="light", length="short", ask="never", review_plan="never")
    run_options["language"] = next((name for name in overview.languages if name != "unknown"), None)
    run_options.update(options)
    subjects = [subject.term for subject in overview.subjects] or ["their subjects"]
    question = TASK.format(subjects=" and ".join(filter(None, (", ".join(subjects[:-1]), subjects[-1]))))
    return assay.start(question, sources=[f"@{overview.collection}"], **run_options)


async def _passages(assay: Researcher, document: Document, collection: str) -> list[_Passage]:
    _, text = await assay.text(document.sha256, collection)
    spans = segment(text[:MAX_DOCUMENT_CHARS], document.syntax)
    title = one_line(document.title or document.name)
    return [_Passage(document, span.text, "\n".join((title, *span.heading))) for span in spans]


def _subjects(passages: Sequence[_Passage]) -> tuple[CollectionSubject, ...]:
    """Words that distinguish passages: in many of them, but not too common, preferably in headings."""
    stem_counts: Counter[str] = Counter()
    forms: dict[str, Counter[str]] = defaultdict(Counter)
    where: dict[str, Counter[str]] = defaultdict(Counter)
    heading_stems: set[str] = set()
    for passage in passages:
        stems = _stems(passage.text, passage.document.language)
        stem_counts.update(stems.keys())
        heading_stems.update(_stems(passage.heading, passage.document.language))
        for stem, form in stems.items():
            forms[stem][form] += 1
            where[stem][passage.document.sha256] += 1
    max_count = max(COMMON_COUNT, COMMON_SHARE * len(passages))
    documents = len({passage.document.sha256 for passage in passages})
    widest = EVERYWHERE_SHARE * documents if documents >= FEW_DOCUMENTS else documents
    scores = {
        stem: count * math.log(1 + len(passages) / count) * (HEADING_WEIGHT if stem in heading_stems else 1.0)
        for stem, count in stem_counts.items()
        if 1 < count <= max_count and len(where[stem]) <= widest
    }
    titles = {
        passage.document.sha256: one_line(passage.document.title or passage.document.name) for passage in passages
    }
    return tuple(
        CollectionSubject(
            term=forms[stem].most_common(1)[0][0],
            passages=stem_counts[stem],
            documents=tuple(dict.fromkeys(titles[sha] for sha, _ in where[stem].most_common(EXAMPLES))),
        )
        for stem in sorted(scores, key=lambda stem: (-scores[stem], stem))[:SUBJECTS]
    )


def _stems(text: str, language: str) -> dict[str, str]:
    """The words of a text by their stems, as first written there."""
    stems: dict[str, str] = {}
    analysis = analysis_of(language)
    small = stop_terms(analysis)
    for word in _WORD.findall(text):
        if len(word) >= MIN_WORD_LETTERS and not _SPACELESS.search(word):
            stem = " ".join(terms(word, analysis))
            if stem in small or word.lower() in MORE_STOP_WORDS or _is_amount(word, language):
                continue
            stems.setdefault(stem, word if word.isupper() else word.lower())
    return stems


def _is_amount(word: str, language: str) -> bool:
    """True for a number in words, a unit, or a word for a time: a text counts and dates with it."""
    times = _TIMES.get(language, _TIMES["en"]).split()
    parts = word.lower().split("-")
    return all(part in _AMOUNTS or part in times or _NUMERAL.fullmatch(part) for part in parts)


def _candidates(passages: Sequence[_Passage]) -> Iterator[str]:
    """Questions that may have an answer: the documents' own, and those their sentences answer."""
    seen: set[str] = set()

    def new(question: str) -> bool:
        is_known = question.casefold() in seen
        seen.add(question.casefold())
        return not is_known

    by_document: dict[str, list[str]] = defaultdict(list)
    for passage in passages:
        by_document[passage.document.sha256] += filter(new, _passage_questions(passage))
    rounds = max(map(len, by_document.values()), default=0)
    for index in range(rounds):  # one per document before the second of any
        yield from (questions[index] for questions in by_document.values() if len(questions) > index)


def _passage_questions(passage: _Passage) -> Iterator[str]:
    return passage_questions(
        passage.text,
        passage.heading.rpartition("\n")[2],
        in_english=passage.document.language in ("", "en"),
        is_amount=lambda word: _is_amount(word, "en"),
    )


async def _answerable_questions(
    assay: Researcher, collection: str, candidates: Iterator[str], limit: int
) -> tuple[SuggestedQuestion, ...]:
    """The first `limit` questions that the built-in model answers with a passage; their runs are deleted."""
    questions: list[SuggestedQuestion] = []
    for _ in range(TRIES * limit):
        question = next(candidates, None)
        if question is None or len(questions) >= limit:
            break
        if suggestion := await _try_question(assay, collection, question):
            questions.append(suggestion)
    return tuple(questions)


async def _try_question(assay: Researcher, collection: str, question: str) -> SuggestedQuestion | None:
    models = dict.fromkeys(ROLES, ("extractive",))
    run = assay.start(
        question, sources=[f"@{collection}"], models=models, mode="deep_research", depth="light", ask="never"
    )
    try:
        return _first_answer(question, await run.report())
    except AssayError:
        return None
    finally:
        await assay.delete(run.run_id)


def _first_answer(question: str, report: Report) -> SuggestedQuestion | None:
    titles = {source.id: one_line(source.title) for source in report.sources}
    for claim, passages in report.evidence():
        if claim.relevance == "answers" and claim.verdict in ("quoted", "supported") and passages:
            passage = passages[0]
            return SuggestedQuestion(
                question=question,
                answer=one_line(claim.text),
                quote=one_line(passage.text),
                document=titles.get(passage.source, ""),
                page=passage.page,
            )
    return None
