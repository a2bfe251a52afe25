"""Scores of a report against a question's gold answer."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from questions.corpus import SERIES
from questions.derive import Asked


@dataclass(frozen=True)
class Report:
    """What a run gave: the report's text, the addresses it cites, how many citations are exact, and what it took.

    `nothing` says that the run found no answer; it may still cite what comes nearest.
    """

    text: str
    urls: tuple[str, ...] = ()
    citations: int = 0
    exact: int = 0
    seconds: float = 0.0
    calls: int = 0
    searches: int = 0
    pages: int = 0
    nothing: bool = False


@dataclass(frozen=True)
class Score:
    """How a report did. For a question without an answer only `abstained` counts."""

    asked: Asked
    report: Report
    first: bool
    anywhere: bool
    cited: bool
    abstained: bool

    @property
    def good(self) -> bool:
        """Whether nothing is to be wished for."""
        return (self.first and self.cited) if self.asked.answerable else self.abstained


def score(asked: Asked, report: Report) -> Score:
    """Compare."""
    opening = opening_of(report.text)
    return Score(
        asked=asked,
        report=report,
        first=_states(opening, asked),
        anywhere=_states(report.text, asked),
        cited=asked.url in report.urls,
        abstained=report.nothing or not report.citations,
    )


def _states(text: str, asked: Asked) -> bool:
    """Whether every gold string stands in a line that is not only the question's own heading."""
    return bool(asked.gold) and all(states(text, gold) for gold in asked.gold)


def opening_of(text: str) -> str:
    """A report up to its first heading."""
    return text.split("\n#", 1)[0]


def states(text: str, gold: str) -> bool:
    """Whether a text holds a string, as whole words."""
    return re.search(rf"(?<!\w){re.escape(_flat(gold))}(?!\w)", _flat(text)) is not None


def _flat(text: str) -> str:
    """On one line, in small letters, without citations and escapes; a link as its text."""
    text = re.sub(r"\[(?:S\d+[^\]]*|\d{1,2})\](?:\([^)]*\))?", "", text)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return " ".join(re.sub(r"\\(?=\W)", "", text).split()).casefold()


def summarize(scores: Iterable[Score]) -> str:
    """The figures as lines, and what went wrong by kind of question."""
    scores = list(scores)
    gold = [each for each in scores if each.asked.answerable]
    none = [each for each in scores if not each.asked.answerable]
    citations, exact = sum(s.report.citations for s in scores), sum(s.report.exact for s in scores)
    lines = [
        _line("answer stated first", sum(s.first for s in gold), len(gold)),
        _line("answer stated anywhere", sum(s.anywhere for s in gold), len(gold)),
        _line("gold document cited", sum(s.cited for s in gold), len(gold)),
        _line("citations byte-exact", exact, citations),
        _line("abstained", sum(s.abstained for s in none), len(none)),
        f"seconds a question: {_mean(s.report.seconds for s in scores):.2f}",
        _taken([each.report for each in scores]),
    ]
    lines += [_of_series(corpus, gold, none) for corpus in SERIES if any(s.asked.corpus == corpus for s in scores)]
    total = Counter(s.asked.kind for s in scores)
    bad = Counter(s.asked.kind for s in scores if not s.good)
    lines += [f"  not right: {kind} {count} of {total[kind]}" for kind, count in sorted(bad.items())]
    return "\n".join(lines)


def _taken(reports: Iterable[Report]) -> str:
    calls, searches, pages = (_mean(getattr(each, what) for each in reports) for what in ("calls", "searches", "pages"))
    return f"a question takes {calls:.1f} model calls, {searches:.1f} searches, {pages:.1f} pages"


def _mean(figures: Iterable[float]) -> float:
    figures = list(figures)
    return sum(figures) / max(len(figures), 1)


def _of_series(corpus: str, gold: Iterable[Score], none: Iterable[Score]) -> str:
    """The figures of one kind of header."""
    asked = [each for each in gold if each.asked.corpus == corpus]
    without = [each for each in none if each.asked.corpus == corpus]
    first, cited = sum(each.first for each in asked), sum(each.cited for each in asked)
    abstained = sum(each.abstained for each in without)
    return (
        f"  {SERIES[corpus]:<4} stated first {first} of {len(asked)}, cited {cited} of {len(asked)}, "
        f"abstained {abstained} of {len(without)}"
    )


def _line(name: str, part: int, whole: int) -> str:
    return f"{name}: {part} of {whole} ({100 * part / max(whole, 1):.1f} %)"
