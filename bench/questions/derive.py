"""Questions with gold answers from headers, and questions that nothing answers. Seeded; rows are never stored."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from questions import phrasings
from questions.corpus import SERIES, Row
from questions.phrasings import CONVERSE, FOREIGN, MENTIONS, PHRASINGS, WEIGHTS

PEOPLE = frozenset(("author", "sponsor", "pep-delegate", "review-manager"))
NUMBERS = frozenset(("requires", "superseded-by", "replaces"))


@dataclass(frozen=True)
class Asked:
    """A question; all strings of `gold` must be stated, and the document at `url` cited ("" for none).

    `corpus` is the set of the document asked about, "" for a question about none.
    """

    text: str
    kind: str
    gold: tuple[str, ...] = ()
    url: str = ""
    corpus: str = ""

    @property
    def answerable(self) -> bool:
        """Whether the documents hold its answer."""
        return bool(self.gold)


def derive(rows: Sequence[Row], count: int, negatives: int, seed: int, training: bool) -> list[Asked]:
    """`count` questions with an answer and `negatives` without, of the training or the reporting documents.

    The kinds of header take turns, so that each has its share whatever the number of its documents.
    """
    choose = random.Random(seed)
    headed = [row for row in rows if row.number]
    titles = Counter(row.title.casefold() for row in headed)
    parts = _by_corpus([row for row in headed if row.training == training])
    asked = _distinct(_answerable(parts, count, choose, titles), count)
    return asked + _distinct(_unanswerable(parts, _by_corpus(headed), negatives, choose), negatives)


def _by_corpus(rows: Sequence[Row]) -> dict[str, list[Row]]:
    found = {corpus: [row for row in rows if row.corpus == corpus] for corpus in SERIES}
    return {corpus: part for corpus, part in found.items() if part}


def _distinct(asked: Iterator[Asked], count: int) -> list[Asked]:
    found: dict[str, Asked] = {}
    for each in asked:
        if len(found) == count:
            break
        found.setdefault(each.text, each)
    return list(found.values())


def _answerable(
    parts: dict[str, list[Row]], count: int, choose: random.Random, titles: Counter[str]
) -> Iterator[Asked]:
    for turn in range(count * 40):
        corpus = list(parts)[turn % len(parts)]
        held = {kind for row in parts[corpus] for kind in row.header}
        kinds = [kind for kind in phrasings.KINDS.get(corpus, tuple(PHRASINGS)) if kind in held]
        if not kinds:
            continue
        kind = choose.choice([kind for kind in kinds for _ in range(WEIGHTS.get(kind, 1))])
        asked = _ask(choose.choice([row for row in parts[corpus] if kind in row.header]), kind, choose, titles)
        if asked.gold:
            yield asked


def _ask(row: Row, kind: str, choose: random.Random, titles: Counter[str]) -> Asked:
    doc = _call(row, choose, titles) if kind != "feature-name" else numbered(row, choose)
    text = choose.choice(PHRASINGS[kind]).format(doc=doc, series=SERIES[row.corpus])
    return Asked(text=text, kind=kind, gold=gold(kind, row.header[kind]), url=row.url, corpus=row.corpus)


def _call(row: Row, choose: random.Random, titles: Counter[str]) -> str:
    """How the question names the document: by number in some spelling, or by its title when that is telling."""
    series = SERIES[row.corpus]
    by_number = [numbered(row, choose)] * 4
    if titles[row.title.casefold()] > 1:
        return choose.choice(by_number)
    if row.corpus == "rust-rfcs":
        named = [f"the Rust RFC “{row.title}”", f"the RFC {row.title}"] if "feature-name" in row.header else []
        return choose.choice([*by_number, *(named if len(row.title) > 8 and " " not in row.title else [])])
    if len(row.title.split()) < 3:
        return choose.choice(by_number)
    if row.corpus == "swift-evolution":
        return choose.choice([*by_number, f"“{row.title}”", f"the Swift proposal “{row.title}”"])
    return choose.choice([*by_number, f"“{row.title}”", f"the {series} “{row.title}”", f"the {series} {row.title}"])


def numbered(row: Row, choose: random.Random) -> str:
    """A document called by its number, in some spelling."""
    series, number = SERIES[row.corpus], row.number.lstrip("0") or "0"
    if row.corpus == "swift-evolution":
        return choose.choice(
            [f"SE-{number:0>4}", f"SE-{number:0>4}", f"SE {number}", f"Swift proposal SE-{number:0>4}"]
        )
    if row.corpus == "rust-rfcs":
        return choose.choice([f"RFC {number}", f"Rust RFC {number}", f"RFC-{number}", f"rfc {number}"])
    return choose.choice(
        [f"{series} {number}", f"{series}-{number}", f"{series} {number}", f"{series.lower()} {number}"]
    )


def gold(kind: str, value: str) -> tuple[str, ...]:
    """The strings an answer must have: names without addresses, numbers one by one, else the value."""
    plain = re.sub(r"\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])", r"\1", value).replace("**", "").replace("`", "")
    if kind in PEOPLE:
        names = re.split(r",|\band\b|&", re.sub(r"<[^>]*>|\([^)]*\)", "", plain))
        return tuple(name.strip() for name in names if len(name.strip()) > 2)
    if kind in NUMBERS:
        return tuple(number.lstrip("0") for number in re.findall(r"\d+", value))
    if kind == "rust-issue":
        return tuple(dict.fromkeys(re.findall(r"(?:issues/|pull/|#)(\d+)", value)))
    if kind == "start-date":
        return tuple(re.findall(r"\d+-\d+-\d+", value)[:1])
    if kind == "upcoming-feature-flag":
        return tuple(re.findall(r"`([^`]+)`", value)[:1])
    if kind in {"feature-name", "bug"}:
        return tuple(re.findall(r"[\w.#:/-]*\w", plain)) if len(plain.split()) <= 3 else ()
    return (plain.strip("\"'").strip(),)


def _unanswerable(
    parts: dict[str, list[Row]], rows: dict[str, list[Row]], count: int, choose: random.Random
) -> Iterator[Asked]:
    makers = (_unknown_number, _absent_field, _absent_field, _foreign)
    for turn in range(count * 20):
        corpus = choose.choice(list(parts))
        asked = makers[turn % len(makers)](parts[corpus], rows[corpus], choose)
        if asked is not None:
            yield asked


def _unknown_number(part: Sequence[Row], rows: Sequence[Row], choose: random.Random) -> Asked | None:
    """A number nothing has: far out, or in a gap of the series."""
    corpus = part[0].corpus
    known = {int(row.number) for row in rows}
    number = choose.randint(1, max(known)) if choose.random() < 0.5 else choose.randint(30_000, 99_999)
    kind = choose.choice(phrasings.UNKNOWN.get(corpus, phrasings.UNKNOWN_OTHERS))
    doc = f"Rust RFC {number}" if corpus == "rust-rfcs" else f"{SERIES[corpus]} {number}"
    text = choose.choice(PHRASINGS[kind]).format(doc=doc, series=SERIES[corpus])
    return None if number in known else Asked(text=text, kind="unknown number", corpus=corpus)


def _absent_field(part: Sequence[Row], rows: Sequence[Row], choose: random.Random) -> Asked | None:
    """A field the document does not have, and does not say in prose either; nor do others by the converse field."""
    row = choose.choice(part)
    kind = choose.choice(phrasings.ABSENT_IN.get(row.corpus, phrasings.ABSENT))
    is_named = kind in row.header or re.search(MENTIONS.get(kind, "(?!)"), row.text, re.IGNORECASE)
    number = row.number.lstrip("0")
    converse = CONVERSE.get(kind)
    pointed = converse and any(number in re.findall(r"\d+", other.header.get(converse, "")) for other in rows)
    if is_named or pointed:
        return None
    series = SERIES[row.corpus]
    doc = f"Rust RFC {number}" if row.corpus == "rust-rfcs" else f"{series} {number}"
    text = choose.choice(PHRASINGS[kind]).format(doc=doc, series=series)
    return Asked(text=text, kind=f"absent {kind}", corpus=row.corpus)


def _foreign(part: Sequence[Row], rows: Sequence[Row], choose: random.Random) -> Asked | None:
    return Asked(text=choose.choice(FOREIGN), kind="foreign topic")
