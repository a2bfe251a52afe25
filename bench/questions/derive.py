"""Questions with gold answers out of headers, and questions nothing answers. Seeded; rows are never stored."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from questions.corpus import SERIES, Row

PHRASINGS: dict[str, tuple[str, ...]] = {
    "status": (
        "What is the status of {doc}?",
        "What status does {doc} have?",
        "Which state is {doc} in at the moment?",
        "Was {doc} accepted, rejected or something else?",
    ),
    "created": (
        "When was {doc} created?",
        "On what date was {doc} created?",
        "What is the creation date of {doc}?",
        "When was {doc} first proposed?",
    ),
    "author": (
        "Who wrote {doc}?",
        "Who are the authors of {doc}?",
        "Who is the author of {doc}?",
        "By whom was {doc} written?",
    ),
    "superseded-by": (
        "Which {series} superseded {doc}?",
        "What was {doc} superseded by?",
        "Which {series} replaced {doc}?",
    ),
    "replaces": (
        "Which {series} does {doc} replace?",
        "What did {doc} supersede?",
        "Which {series} was replaced by {doc}?",
    ),
    "requires": (
        "Which {series}s does {doc} require?",
        "What does {doc} depend on?",
        "What are the prerequisites of {doc}?",
    ),
    "type": ("What type of {series} is {doc}?", "What is the type of {doc}?"),
    "category": ("Which category does {doc} belong to?", "What is the category of {doc}?"),
    "python-version": (
        "Which Python version does {doc} target?",
        "For which version of Python was {doc} meant?",
        "What is the Python-Version of {doc}?",
    ),
    "discussions-to": ("Where is {doc} discussed?", "Where should discussions of {doc} take place?"),
    "topic": ("What is the topic of {doc}?", "Under which topic is {doc} filed?"),
    "sponsor": ("Who sponsored {doc}?", "Who is the sponsor of {doc}?"),
    "pep-delegate": ("Who is the PEP-Delegate for {doc}?",),
    "resolution": ("What is the resolution of {doc}?",),
    "last-call-deadline": ("What is the last call deadline of {doc}?",),
    "withdrawal-reason": ("What is the withdrawal reason of {doc}?",),
}
WEIGHTS = {
    "status": 4,
    "created": 4,
    "author": 4,
    "superseded-by": 3,
    "requires": 3,
    "replaces": 2,
    "python-version": 2,
}
ABSENT = ("superseded-by", "replaces", "requires", "sponsor", "python-version", "category", "resolution", "topic")
MENTIONS = {
    "superseded-by": "supersed|replace|obsolet|successor",
    "replaces": "supersed|replace|obsolet",
    "requires": "requir|depend|prerequisit",
}
FOREIGN = (
    "What is the boiling point of mercury at sea level?",
    "Who won the football world cup in 1998?",
    "How do I bake a sourdough bread with rye flour?",
    "What is the capital of Mongolia?",
    "Which orchestra recorded the Goldberg Variations with marimbas?",
    "How tall is the Eiffel Tower in metres?",
    "What causes migraine in teenagers?",
    "Who painted the ceiling of the Sistine Chapel?",
    "What is the average rainfall in Patagonia?",
    "How many moons does Neptune have?",
    "When did the Berlin Wall fall?",
    "What does the enzyme telomerase do in stem cells?",
    "Which vitamins are in spinach?",
    "Wie hoch ist die Zugspitze?",
    "Кто написал роман Мастер и Маргарита?",
    "长江有多长？",
)
CONVERSE = {"superseded-by": "replaces", "replaces": "superseded-by"}


@dataclass(frozen=True)
class Asked:
    """A question; all strings of `gold` must be stated, and the document at `url` cited ("" for none)."""

    text: str
    kind: str
    gold: tuple[str, ...] = ()
    url: str = ""

    @property
    def answerable(self) -> bool:
        """Whether the documents hold its answer."""
        return bool(self.gold)


def derive(rows: Sequence[Row], count: int, negatives: int, seed: int, training: bool) -> list[Asked]:
    """`count` questions with an answer and `negatives` without, of the training or the reporting documents."""
    choose = random.Random(seed)
    headed = [row for row in rows if row.number]
    titles = Counter(row.title.casefold() for row in headed)
    part = [row for row in headed if row.training == training]
    asked = _answerable(part, count, choose, titles)
    return asked + _unanswerable(part, headed, negatives, choose)


def _answerable(part: Sequence[Row], count: int, choose: random.Random, titles: Counter[str]) -> list[Asked]:
    kinds = [kind for kind in PHRASINGS for _ in range(WEIGHTS.get(kind, 1))]
    found: dict[str, Asked] = {}
    for _ in range(count * 40):
        if len(found) == count:
            break
        kind, row = choose.choice(kinds), choose.choice(part)
        holders = [each for each in part if kind in each.header] if kind not in row.header else [row]
        if holders:
            row = choose.choice(holders)
            asked = _ask(row, kind, choose, titles)
            if asked.gold:
                found.setdefault(asked.text, asked)
    return list(found.values())


def _ask(row: Row, kind: str, choose: random.Random, titles: Counter[str]) -> Asked:
    text = choose.choice(PHRASINGS[kind]).format(doc=_call(row, choose, titles), series=SERIES[row.corpus])
    return Asked(text=text, kind=kind, gold=_gold(kind, row.header[kind]), url=row.url)


def _call(row: Row, choose: random.Random, titles: Counter[str]) -> str:
    """How the question names the document: by number in some spelling, or by its title when that is telling."""
    series, number = SERIES[row.corpus], row.number.lstrip("0") or "0"
    ways = [f"{series} {number}", f"{series}-{number}", f"{series} {number}", f"{series.lower()} {number}"]
    if titles[row.title.casefold()] == 1 and len(row.title.split()) >= 3:
        ways += [f"“{row.title}”", f"the {series} “{row.title}”", f"the {series} {row.title}"]
    return choose.choice(ways)


def _gold(kind: str, value: str) -> tuple[str, ...]:
    """The strings an answer must have: names without addresses, numbers one by one, else the value."""
    if kind in {"author", "sponsor", "pep-delegate"}:
        names = re.split(r",|\band\b", re.sub(r"<[^>]*>|\([^)]*\)", "", value))
        return tuple(name.strip() for name in names if len(name.strip()) > 2)
    if kind in {"requires", "superseded-by", "replaces"}:
        return tuple(number.lstrip("0") for number in re.findall(r"\d+", value))
    return (value.strip("\"'"),)


def _unanswerable(part: Sequence[Row], rows: Sequence[Row], count: int, choose: random.Random) -> list[Asked]:
    makers = (_unknown_number, _absent_field, _absent_field, _foreign)
    found: dict[str, Asked] = {}
    for turn in range(count * 20):
        if len(found) == count:
            break
        asked = makers[turn % len(makers)](part, rows, choose)
        if asked is not None:
            found.setdefault(asked.text, asked)
    return list(found.values())


def _unknown_number(part: Sequence[Row], rows: Sequence[Row], choose: random.Random) -> Asked | None:
    """A number nothing has: far out, or in a gap of the series."""
    corpus = choose.choice(list(SERIES))
    known = {int(row.number) for row in rows if row.corpus == corpus}
    number = choose.randint(1, max(known)) if choose.random() < 0.5 else choose.randint(30_000, 99_999)
    kind = choose.choice(("status", "created", "author", "type"))
    series = SERIES[corpus]
    text = choose.choice(PHRASINGS[kind]).format(doc=f"{series} {number}", series=series)
    return None if number in known else Asked(text=text, kind="unknown number")


def _absent_field(part: Sequence[Row], rows: Sequence[Row], choose: random.Random) -> Asked | None:
    """A field the document does not have, and does not say in prose either; nor do others by the converse field."""
    row, kind = choose.choice(part), choose.choice(ABSENT)
    said = kind in row.header or re.search(MENTIONS.get(kind, "(?!)"), row.text, re.IGNORECASE)
    number = row.number.lstrip("0")
    converse = CONVERSE.get(kind)
    pointed = converse and any(
        number in re.findall(r"\d+", other.header.get(converse, "")) for other in rows if other.corpus == row.corpus
    )
    if said or pointed:
        return None
    series = SERIES[row.corpus]
    text = choose.choice(PHRASINGS[kind]).format(doc=f"{series} {number}", series=series)
    return Asked(text=text, kind=f"absent {kind}")


def _foreign(part: Sequence[Row], rows: Sequence[Row], choose: random.Random) -> Asked | None:
    return Asked(text=choose.choice(FOREIGN), kind="foreign topic")
