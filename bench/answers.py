"""Questions that people asked about Wikipedia paragraphs (XQuAD, in many languages), through the library.

    python bench/answers.py                              # English, German, Russian, Chinese, Arabic, Spanish
    python bench/answers.py --languages en de --count 100 --show
    python bench/answers.py --languages en --embedder fastembed:FOLDER    # a model of bench/embedding_models.py
    python bench/answers.py --without --part training                     # the paragraphs that answer taken away
    python bench/answers.py --within --count 0 --part held-out            # how sure a "no" is within a subject

Half of the articles were used to train the weights of the built-in model (`bench/relevance_training.py` says which);
`--part held-out` asks about the other half only. Each figure has the plain baseline beside it: BM25's best paragraph,
and its two sentences with the most question words. Unanswerable questions are about one half of the articles, and asked
of the other half. The data are not part of the project; they are read from $ASSAY_DATA, else from ../shared/data.

`--without` takes all paragraphs that answer a question out of the library, and keeps the rest of its article: is
the question refused, or is there a report, of which a sentence is graded as an answer, or none? The same is said of the
library as it is. The baseline never refuses.

`--within` asks the scorer alone (`core.relevance`), over four paragraphs of the question's own article: with the one
that answers, with another in its place, and with it but without the sentences that answer. The last two have no answer,
though all is about the same subject. How many of them are refused is said for bounds at which a share of the right
answers is lost; the baseline's bound is on BM25's score of the best paragraph for each word of the question.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import math
import os
import re
import sys
import tempfile
import time
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

from assay import Assay
from assay.core.messages import Rarity
from assay.core.relevance import QuotableStatement, judge, read_question
from assay.core.relevance.topic_question import keys
from assay.core.report import Report
from assay.core.text import sentences, words
from assay.evidence.segment import segment
from assay.models.extractive.answers import LANGUAGE_STATEMENTS
from assay.settings import load

NO_DATA = 2
LANGUAGES = ("en", "de", "ru", "zh", "ar", "es")
K1, B = 1.2, 0.75
LEAST_LETTERS = 4
"""A shorter answer ("two") may stand in another paragraph without being one there."""
REFUSED, RELATED, GRADED = "refused", "none graded as an answer", "graded as an answer"


@dataclass(frozen=True)
class Document:
    """A paragraph of an article."""

    id: str
    url: str
    title: str
    text: str


@dataclass(frozen=True)
class Question:
    """A question with the strings which answer it, and the paragraph they stand in."""

    text: str
    answers: tuple[str, ...]
    document: str

    @property
    def article(self) -> str:
        return self.document.rpartition("/")[0]


@dataclass(frozen=True)
class Asked:
    """What came of a question."""

    opening: bool
    cited: bool
    nothing: bool
    graded: bool

    @property
    def outcome(self) -> str:
        """What a reader is told."""
        return REFUSED if self.nothing else GRADED if self.graded else RELATED


def data_folder() -> Path | None:
    """The folder of the questions, None when this machine has none."""
    beside = Path(__file__).resolve().parents[1].parent / "shared" / "data"
    folder = Path(os.environ.get("ASSAY_DATA", beside)) / "qa"
    return folder if folder.is_dir() else None


def read(folder: Path, language: str) -> tuple[list[Document], list[Question]]:
    """The paragraphs and the questions of a language."""
    documents = [Document(r["id"], r["url"], r["title"], r["text"]) for r in _rows(folder, language, "documents")]
    rows = _rows(folder, language, "questions")
    return documents, [Question(r["question"], tuple(r["answers"]), r["document"]) for r in rows]


def _rows(folder: Path, language: str, kind: str) -> list[dict]:
    with gzip.open(folder / f"xquad-{language}-{kind}.jsonl.gz", "rt") as lines:
        return [json.loads(line) for line in lines]


def training(article: str) -> bool:
    """Whether an article is of the half which weights are trained on: by a hash of its name."""
    return sha256(article.encode()).digest()[0] % 2 == 0


def states(text: str, answers: Sequence[str]) -> bool:
    """Whether one of the answers stands in the text, whatever its case, marks and white space."""
    flat = _flat(text)
    return any(_flat(answer) in flat for answer in answers)


def _flat(text: str) -> str:
    plain = unicodedata.normalize("NFKC", re.sub(r"\s*\[[\d, ]+\](?:\([^)]*\))?", "", text)).casefold()
    return re.sub(r"[\W_]+", "", plain)


def opening(report: Report) -> str:
    """The report up to its first heading, without the note of the built-in model and what is no answer."""
    body = report.markdown.replace("\\", "")
    return re.split(r"^#", body, maxsplit=1, flags=re.MULTILINE)[0] if not nothing(report) else ""


def nothing(report: Report) -> bool:
    """Whether the run says that it found no answer; it may still show what comes nearest."""
    return report.stop_reason == "no_evidence" or not report.passages


class Baseline:
    """BM25 over whole paragraphs, words cut at what is no letter."""

    def __init__(self, documents: Sequence[Document]) -> None:
        self._documents = documents
        self._counts = [Counter(_words(each.text)) for each in documents]
        self._lengths = [sum(counts.values()) for counts in self._counts]
        self._mean = sum(self._lengths) / len(self._lengths)
        self._held = Counter(word for counts in self._counts for word in counts)

    def answer(self, text: str) -> tuple[str, str]:
        """The best paragraph's id, and its two sentences with the most words of the question."""
        asked = set(_words(text))
        document = self.ranked(text)[0]
        cut = [document.text[start:end] for start, end in sentences(document.text)]
        cut.sort(key=lambda sentence: -len(asked & set(_words(sentence))))
        return document.id, " ".join(cut[:2])

    def ranked(self, text: str) -> list[Document]:
        """The paragraphs, best first."""
        asked = set(_words(text))
        order = sorted(range(len(self._documents)), key=lambda at: -self._score(asked, at))
        return [self._documents[at] for at in order]

    def highest(self, text: str) -> float:
        """The best paragraph's score for each word."""
        asked = set(_words(text))
        return max(self._score(asked, at) for at in range(len(self._documents))) / max(len(asked), 1)

    def _score(self, asked: set[str], at: int) -> float:
        counts, length = self._counts[at], self._lengths[at]
        total = 0.0
        for word in asked & counts.keys():
            idf = math.log(1 + (len(self._documents) - self._held[word] + 0.5) / (self._held[word] + 0.5))
            total += idf * counts[word] * (K1 + 1) / (counts[word] + K1 * (1 - B + B * length / self._mean))
        return total


def _words(text: str) -> list[str]:
    """Words; single characters of Chinese and Japanese, overlapping threes of Thai letters and signs."""
    return [
        piece
        for thai, single, word in re.findall(
            r"([\u0e00-\u0eff]+)|([\u3040-\u30ff\u3400-\u9fff])|((?:(?![\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff])[^\W_])+)",
            text.casefold(),
        )
        for piece in ([thai[at : at + 3] for at in range(max(1, len(thai) - 2))] if thai else [single or word])
    ]


async def ask(
    documents: Sequence[Document], questions: Sequence[Question], show: bool, embedder: str = ""
) -> list[Asked]:
    """Each question in a run of its own over all documents, in one home; with `embedder` by meaning too."""
    with tempfile.TemporaryDirectory(prefix="assay-bench-") as folder:
        path = Path(folder) / "documents.jsonl"
        path.write_text("".join(json.dumps(vars(each)) + "\n" for each in documents))
        async with Assay(load(embedder={"model": embedder}), home=Path(folder) / "home") as assay:
            await assay.add([str(path)], None)
            if embedder:
                await assay.embed()
            return [await _ask(assay, path, each, documents, show) for each in questions]


async def _ask(assay: Assay, path: Path, question: Question, documents: Sequence[Document], show: bool) -> Asked:
    report = await assay.start(question.text, sources=[str(path)], depth="light").report()
    url = next((each.url for each in documents if each.id == question.document), "")
    cited = any(source.url == url and source.number is not None for source in report.sources)
    graded = report.assurance is not None and report.assurance.answered is True
    asked = Asked(states(opening(report), question.answers), cited, nothing(report), graded)
    if show and not asked.opening:
        text = opening(report) or report.markdown
        print(f"--- {question.text}\n    {question.answers} {question.document} cited {cited}\n{text}")
    return asked


def _share(found: int, total: int) -> str:
    return f"{found} of {total} ({100 * found / max(total, 1):.0f} %)"


def measure(language: str, folder: Path, options: argparse.Namespace) -> None:
    """Ask in one language, and print the figures."""
    documents, questions = _chosen(language, folder, options)
    started = time.perf_counter()
    asked = asyncio.run(ask(documents, questions, options.show, options.embedder))
    seconds = (time.perf_counter() - started) / max(len(questions), 1)
    baseline = Baseline(documents)
    plain = [(each, *baseline.answer(each.text)) for each in questions]
    stated = sum(states(text, each.answers) for each, _, text in plain)
    right = sum(id == each.document for each, id, _ in plain)
    count = len(questions)
    print(f"{language}: answer in the opening {_share(sum(each.opening for each in asked), count)}, baseline {stated}")
    print(f"    right paragraph cited {_share(sum(each.cited for each in asked), count)}, baseline {right}")
    print(
        f"    nothing found {_share(sum(each.nothing for each in asked), count)}; {seconds:.2f} s a question",
        flush=True,
    )
    if not options.answerable:
        refused = total = 0
        for half in (True, False):
            others = [each for each in documents if training(each.id.rpartition("/")[0]) == half]
            foreign = [each for each in questions if training(each.article) != half][: options.unanswerable]
            answers = asyncio.run(ask(others, foreign, show=False, embedder=options.embedder)) if foreign else []
            refused, total = refused + sum(each.nothing for each in answers), total + len(foreign)
        print(f"    unanswerable abstained {_share(refused, total)}", flush=True)


def measure_without(language: str, folder: Path, options: argparse.Namespace) -> None:
    """Ask in one language over the library as it is, and without the paragraphs that answer; print what is told."""
    documents, questions = _chosen(language, folder, options)
    found = asyncio.run(ask(documents, questions, show=False, embedder=options.embedder))
    told = Counter(each.outcome for each in found)
    opened = Counter(each.outcome for each in found if each.opening)
    print(f"{language}: with the paragraph {_told(told)}; answer in the opening {_told(opened)}", flush=True)
    told.clear()
    for question in questions:
        left = [each for each in documents if not _may_answer(each, question)]
        (asked,) = asyncio.run(ask(left, [question], show=False, embedder=options.embedder))
        told[asked.outcome] += 1
        if options.show and not asked.nothing:
            print(f"--- {question.text} {question.answers}: {asked.outcome}")
    print(f"    without {_told(told)}; baseline refused 0", flush=True)


def _told(outcomes: Counter[str]) -> str:
    return ", ".join(f"{name} {outcomes[name]}" for name in (REFUSED, RELATED, GRADED))


# Within a subject: the same question over paragraphs of its article which answer it, and over those which do not.

ANSWERED, PARAGRAPH, SENTENCE = "with the paragraph", "without the paragraph", "without the sentence"
PARAGRAPHS = 4
LOST = (0.03, 0.05, 0.08, 0.12)
"""Shares of the right answers that bounds may lose."""


@dataclass(frozen=True)
class Judged:
    """What the scorer and the baseline made of a question; `right` if one of the best three sentences answers."""

    kept: bool
    right: bool
    chance: float
    plain: float


def _variants(question: Question, article: Sequence[Document]) -> dict[str, list[Document]]:
    """The paragraphs to ask, by kind, best first. Where another paragraph may answer too, none is without an answer."""
    ranked = Baseline(article).ranked(question.text)
    others = [each for each in ranked if each.id != question.document]
    kept = [each for each in ranked if each.id == question.document or each in others[: PARAGRAPHS - 1]]
    if any(_may_answer(each, question) for each in others):
        return {ANSWERED: kept}
    cut = [replace(each, text=_left(each.text, question)) if each.id == question.document else each for each in kept]
    return {ANSWERED: kept, PARAGRAPH: others[:PARAGRAPHS], SENTENCE: [each for each in cut if each.text]}


def _may_answer(document: Document, question: Question) -> bool:
    """Whether a paragraph is the question's, or has its answer."""
    long = min(len(_flat(each)) for each in question.answers) >= LEAST_LETTERS
    return document.id == question.document or (long and states(document.text, question.answers))


def _left(text: str, question: Question) -> str:
    cut = (text[start:end] for start, end in sentences(text))
    return " ".join(each for each in cut if not states(each, question.answers))


def _judged(question: Question, documents: Sequence[Document]) -> Judged:
    asked, passages, statements = set(words(question.text)), list[str](), list[QuotableStatement]()
    for source, document in enumerate(documents):
        for place, span in enumerate(segment(document.text, "plain")):
            passages.append(span.text)
            cut = (" ".join(span.text[start:end].split()) for start, end in sentences(span.text))
            statements += [
                QuotableStatement(text=each, source=source, position=place, title=document.title)
                for each in cut
                if each
            ]
    nearest = sorted(statements, key=lambda each: -len(asked.intersection(words(each.text))))
    topic = read_question(question.text, "", "\n".join(each.text for each in nearest[:LANGUAGE_STATEMENTS]))
    counted = Counter(key for each in passages for key in set(keys(each, topic.analysis)))
    judgement = judge(topic, statements, Rarity(passages=len(passages), holding=counted))
    best = [statements[each.index].text for each in judgement.ranked[:3]]
    right = any(states(each, question.answers) for each in best)
    return Judged(judgement.is_answered(), right, judgement.chance, Baseline(documents).highest(question.text))


def measure_within(language: str, folder: Path, options: argparse.Namespace) -> None:
    """Ask in one language over paragraphs of each question's article, and print the figures."""
    documents, questions = _chosen(language, folder, options)
    found: dict[str, list[Judged]] = {kind: [] for kind in (ANSWERED, PARAGRAPH, SENTENCE)}
    for question in questions:
        article = [each for each in documents if each.id.rpartition("/")[0] == question.article]
        for kind, kept in _variants(question, article).items():
            found[kind].append(_judged(question, kept))
    right = [each for each in found[ANSWERED] if each.right]
    kept = sum(each.kept for each in right)
    print(f"{language}: right {len(right)} of {len(found[ANSWERED])}, of them kept {_share(kept, len(right))}")
    for kind in (PARAGRAPH, SENTENCE):
        refused = sum(not each.kept for each in found[kind])
        print(f"    {kind}, refused {_share(refused, len(found[kind]))}")
        for name in ("chance", "plain") if right else ():  # what is lost is a share of the right answers
            values = [getattr(each, name) for each in found[kind]]
            bounds = [sorted(getattr(each, name) for each in right)[int(lost * len(right))] for lost in LOST]
            shares = (sum(value < bound for value in values) / max(len(values), 1) for bound in bounds)
            curve = ", ".join(f"{100 * s:.0f} % at {100 * lost:.0f} %" for s, lost in zip(shares, LOST, strict=True))
            print(f"        {'baseline' if name == 'plain' else 'scorer'}: {curve} lost", flush=True)


def _chosen(language: str, folder: Path, options: argparse.Namespace) -> tuple[list[Document], list[Question]]:
    """The paragraphs of a language, and the questions of the part asked for."""
    documents, questions = read(folder, language)
    if options.part != "all":
        questions = [each for each in questions if training(each.article) == (options.part == "training")]
    return documents, _spread(questions, options.count)


def _spread(questions: Sequence[Question], count: int) -> list[Question]:
    """At most `count` questions, at even distances over all."""
    if not count or len(questions) <= count:
        return list(questions)
    return [questions[at * len(questions) // count] for at in range(count)]


def main() -> int:
    """Measure each language."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--languages", nargs="+", default=LANGUAGES)
    parser.add_argument("--count", type=int, default=100, help="questions per language, 0 for all")
    parser.add_argument("--unanswerable", type=int, default=50, help="questions asked of each other half")
    parser.add_argument("--answerable", action="store_true", help="only questions that have an answer")
    parser.add_argument("--part", choices=("all", "training", "held-out"), default="all")
    parser.add_argument("--without", action="store_true", help="ask once more without the paragraphs that answer")
    parser.add_argument("--within", action="store_true", help="ask the scorer within each question's article")
    parser.add_argument("--embedder", default="", help="search and choose by meaning too, with this embedder")
    parser.add_argument("--show", action="store_true", help="print the questions that were not answered")
    options = parser.parse_args()
    folder = data_folder()
    if folder is None:
        print("skipped: no questions; set ASSAY_DATA to a folder which has qa/xquad-*.jsonl.gz")
        return NO_DATA
    for language in options.languages:
        (measure_within if options.within else measure_without if options.without else measure)(
            language, folder, options
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
