"""Questions about a whole collection, with the documents that answer them, derived from headers without the engine."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from questions.corpus import Row

SORTING = ("status", "type", "category")
MOST_VALUES = 14
PLURAL = {"peps": "PEPs", "eips": "EIPs"}


@dataclass(frozen=True)
class WholeQuestion:
    """A question and the addresses of all documents which answer it."""

    text: str
    urls: frozenset[str]


def derive(rows: Sequence[Row], corpus: str) -> list[WholeQuestion]:
    """How many and which documents have a value of a sorting field, two such values, or a year of creation."""
    distinct = list({row.text: row for row in rows if row.corpus == corpus}.values())
    things = PLURAL[corpus]
    asked = [*_single(distinct, things), *_pairs(distinct, things), *_years(distinct, things)]
    return [each for each in asked if each.urls]


def _single(rows: Sequence[Row], things: str) -> Iterator[WholeQuestion]:
    for key in SORTING:
        for value in _values(rows, key):
            urls = _having(rows, {key: value})
            yield WholeQuestion(f"How many {things} have {key} {value}?", urls)
            yield WholeQuestion(f"List all {things} with {key} {value}", urls)


def _pairs(rows: Sequence[Row], things: str) -> Iterator[WholeQuestion]:
    for kind in _values(rows, "type")[:3]:
        for status in _values(rows, "status")[:4]:
            urls = _having(rows, {"type": kind, "status": status})
            yield WholeQuestion(f"How many {kind} {things} are {status}?", urls)


def _years(rows: Sequence[Row], things: str) -> Iterator[WholeQuestion]:
    years = Counter(match[0] for row in rows if (match := re.search(r"(?:19|20)\d\d", row.header.get("created", ""))))
    for year, _ in years.most_common(4):
        urls = frozenset(row.url for row in rows if year in re.findall(r"\d{4}", row.header.get("created", "")))
        yield WholeQuestion(f"How many {things} were created in {year}?", urls)


def _values(rows: Sequence[Row], key: str) -> list[str]:
    counts = Counter(row.header[key] for row in rows if key in row.header)
    return [value for value, _ in counts.most_common(MOST_VALUES)]


def _having(rows: Sequence[Row], wanted: dict[str, str]) -> frozenset[str]:
    return frozenset(row.url for row in rows if all(row.header.get(key) == value for key, value in wanted.items()))
