"""Questions over two or more documents: the header of one names others, and those have the answer."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from questions.corpus import SERIES, Row
from questions.derive import gold, numbered
from questions.scoring import Report, opening_of, states


@dataclass(frozen=True)
class Words:
    """How questions are worded: what leads to a document, what is asked of it, which of several is meant."""

    links: dict[str, tuple[str, ...]]
    fields: dict[str, tuple[str, ...]]
    ordered: tuple[tuple[str, tuple[str, str]], ...]


PLAIN = Words(
    links={
        "superseded-by": (
            "the {series} that replaced {doc}",
            "the {series} that superseded {doc}",
            "the successor of {doc}",
            "the {series} {doc} was superseded by",
        ),
        "replaces": (
            "the {series} superseded by {doc}",
            "the {series} that {doc} replaced",
            "the {series} which was replaced by {doc}",
            "the predecessor of {doc}",
        ),
        "requires": (
            "the {series} required by {doc}",
            "the {series} that {doc} requires",
            "the {series} {doc} depends on",
            "the {series} on which {doc} depends",
        ),
    },
    fields={
        "author": ("Who wrote {it}?", "Who is the author of {it}?", "Who are the authors of {it}?"),
        "status": ("What is the status of {it}?", "Which status does {it} have?"),
        "created": ("When was {it} created?", "On what date was {it} created?"),
    },
    ordered=(
        ("Which of the {series}s required by {doc} was created {first}?", ("first", "last")),
        ("Which {series} that {doc} requires is the {first}?", ("oldest", "newest")),
        ("Of the {series}s {doc} depends on, which was created {first}?", ("first", "last")),
        ("Which of the {series}s that {doc} requires is the {first} one?", ("earliest", "latest")),
    ),
)
OTHER = Words(
    links={
        "superseded-by": (
            "the document which took the place of {doc}",
            "the newer {series} that {doc} gave way to",
            "whatever {series} came after {doc}",
        ),
        "replaces": (
            "the older {series} that {doc} took the place of",
            "the {series} made obsolete by {doc}",
            "the {series} {doc} was written to supersede",
        ),
        "requires": (
            "the {series} {doc} builds on",
            "the {series} which has to be there before {doc}",
            "the {series} named as a prerequisite in {doc}",
        ),
    },
    fields={
        "author": ("Whose work is {it}?", "Name the authors of {it}.", "Tell me who wrote {it}."),
        "status": ("How do things stand with {it}?", "Has {it} been accepted, or what is its status?"),
        "created": ("From which day is {it}?", "Give the creation date of {it}."),
    },
    ordered=(
        ("{doc} requires several {series}s. Which of them came {first}?", ("first", "last")),
        ("Look at the prerequisites of {doc}: which {series} among them is the {first} one?", ("oldest", "youngest")),
        ("What is the {first} of the {series}s that are needed for {doc}?", ("earliest", "most recent")),
    ),
)
"""Other words for the same questions, which the model met once its work on `PLAIN` was done."""
TRAINING = Words(
    links={
        "superseded-by": (
            "the {series} that {doc} made room for",
            "the {series} which displaced {doc}",
            "the {series} by which {doc} has been superseded",
            "the {series} stepping in for {doc}",
            "the follow-up of {doc}",
            "the {series} that was written to retire {doc}",
            "the {series} to which {doc} yielded",
            "the text {doc} was later replaced by",
        ),
        "replaces": (
            "the {series} {doc} displaced",
            "the {series} which yielded to {doc}",
            "the forerunner of {doc}",
            "the {series} that gave way to {doc}",
            "{doc}'s precursor",
            "the {series} rendered obsolete by {doc}",
            "the {series} that {doc} does away with",
            "the {series} that has been supplanted by {doc}",
        ),
        "requires": (
            "the {series} that {doc} relies on",
            "the {series} that {doc} presupposes",
            "the {series} without which {doc} cannot work",
            "the {series} that {doc} rests upon",
            "{doc}'s dependency",
            "the {series} listed in {doc} as a requirement",
            "the {series} that has to be implemented before {doc}",
            "the {series} called for by {doc}",
        ),
    },
    fields={
        "author": ("By whom is {it}?", "Give the names of those who drafted {it}.", "Who had the idea of {it}?"),
        "status": ("At which stage is {it}?", "What happened to {it}?", "Is {it} final, or what is it?"),
        "created": ("How old is {it}?", "On which day was {it} put forward?", "When did {it} first appear?"),
    },
    ordered=(
        ("{doc} relies on several {series}s; which one of these is {first}?", ("oldest", "newest")),
        ("Sort the dependencies of {doc} by date and give the {first}.", ("earliest", "latest")),
        ("Which {series} was written {first} of all that {doc} needs?", ("first", "last")),
        ("From the {series}s {doc} builds upon, pick the {first} one.", ("oldest", "youngest")),
    ),
)
"""Words to build on: each was written before the model met it, and what it missed was mended."""
HELD_OUT = Words(
    links={
        "superseded-by": (
            "the {series} which has since replaced {doc}",
            "the {series} that stands in for {doc} today",
            "{doc}'s replacement",
        ),
        "replaces": (
            "the {series} {doc} supersedes",
            "the earlier {series} which {doc} makes obsolete",
            "the {series} that was superseded when {doc} came",
        ),
        "requires": (
            "the {series} {doc} lists as required",
            "the one {series} that {doc} needs",
            "the {series} {doc} is based on",
        ),
    },
    fields={
        "author": ("Who are the people behind {it}?", "Which authors does {it} have?"),
        "status": ("In what state is {it}?", "What became of {it}?"),
        "created": ("What is the creation date of {it}?", "When did work on {it} begin?"),
    },
    ordered=(
        ("Among the {series}s which {doc} requires, which one is the {first}?", ("oldest", "newest")),
        ("{doc} depends on more than one {series}. Which is the {first} of them?", ("earliest", "latest")),
        ("Which of {doc}'s required {series}s was proposed {first}?", ("first", "last")),
    ),
)
"""Words which were written when all work on the model was done; for the reporting half alone."""
WORDS = {"plain": PLAIN, "other": OTHER, "training": TRAINING, "held-out": HELD_OUT}
MOST_REQUIRED = 6


@dataclass(frozen=True)
class Linked:
    """A question, the strings its answer must hold, those it must not, and the documents which are needed for it."""

    text: str
    kind: str
    gold: tuple[str, ...]
    wrong: tuple[str, ...]
    urls: tuple[str, ...]


@dataclass(frozen=True)
class Judged:
    """How a report did: the answer is in its first statement, every needed document is cited, or both."""

    asked: Linked
    report: Report
    stated: bool
    cited: bool

    @property
    def evidenced(self) -> bool:
        """Whether the question is answered and fully evidenced."""
        return self.stated and self.cited


def derive(rows: Sequence[Row], count: int, seed: int, training: bool, words: Words = PLAIN) -> list[Linked]:
    """`count` questions about documents of one half; the kinds take turns."""
    choose = random.Random(seed)
    numbers = {(row.corpus, row.number.lstrip("0")): row for row in rows if row.number}
    part = [row for row in rows if row.training == training and row.number]
    makers = [
        _ordered(part, numbers, words, choose),
        _single(part, numbers, words, "superseded-by", choose),
        _single(part, numbers, words, "requires", choose),
        _single(part, numbers, words, "replaces", choose),
    ]
    found: dict[str, Linked] = {}
    for turn in range(count * 20):
        asked = next(makers[turn % len(makers)], None)
        if asked is not None and len(found) < count:
            found.setdefault(asked.text, asked)
    return list(found.values())


def named(row: Row, link: str, numbers: dict[tuple[str, str], Row]) -> list[Row]:
    """The documents a field names; nothing where one of them is not there."""
    found = [numbers.get((row.corpus, number.lstrip("0"))) for number in re.findall(r"\d+", row.header.get(link, ""))]
    return [each for each in found if each is not None] if all(found) else []


def _single(part: Sequence[Row], numbers: dict, words: Words, link: str, choose: random.Random) -> Iterator[Linked]:
    """A field of the one document another names."""
    fitting = [row for row in part if len(named(row, link, numbers)) == 1]
    for row in _shuffled(fitting, choose):
        (target,) = named(row, link, numbers)
        field = choose.choice(list(words.fields))
        it = choose.choice(words.links[link]).format(series=SERIES[row.corpus], doc=numbered(row, choose))
        text = choose.choice(words.fields[field]).format(it=it)
        answer = gold(field, target.header[field])
        if answer and target.header[field] != row.header.get(field):
            yield Linked(text, f"{field} of {link}", answer, (), (row.url, target.url))


def _ordered(part: Sequence[Row], numbers: dict, words: Words, choose: random.Random) -> Iterator[Linked]:
    """Which of the required documents was created first, or last."""
    fitting = [row for row in part if 1 < len(named(row, "requires", numbers)) <= MOST_REQUIRED]
    for row in _shuffled(fitting, choose):
        phrasing, ends = choose.choice(words.ordered)
        place = choose.randrange(2)
        required = {_day(each): each for each in named(row, "requires", numbers)}
        if len(required) < len(named(row, "requires", numbers)) or not all(required):
            continue
        answer = required[(min, max)[place](required)]
        text = phrasing.format(series=SERIES[row.corpus], doc=numbered(row, choose), first=ends[place])
        wrong = tuple(_label(each) for each in required.values() if each is not answer)
        urls = (row.url, *(each.url for each in required.values()))
        yield Linked(text, "first or last of requires", (_label(answer),), wrong, urls)


def _day(row: Row) -> str:
    """The day of creation, as ISO 8601 ("" where the header has none)."""
    text = row.header.get("created", "")
    if iso := re.match(r"\d{4}-\d\d-\d\d", text):
        return iso[0]
    match = re.match(r"(\d{1,2})-([A-Z][a-z]{2})-(\d{4})", text)
    months = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()
    return f"{match[3]}-{months.index(match[2]) + 1:02}-{int(match[1]):02}" if match and match[2] in months else ""


def _label(row: Row) -> str:
    number = row.number.lstrip("0")
    return f"{SERIES[row.corpus]}-{number}" if row.corpus == "eips" else f"{SERIES[row.corpus]} {number}"


def _shuffled(rows: Sequence[Row], choose: random.Random) -> list[Row]:
    return choose.sample(list(rows), len(rows))


def judge(asked: Linked, report: Report) -> Judged:
    """Compare: the first statement of the report must hold the answer, and of several documents only the right one."""
    first = opening_of(report.text).split("\n", 1)[0]
    stated = all(states(first, each) for each in asked.gold) and not any(states(first, each) for each in asked.wrong)
    return Judged(asked, report, stated, all(url in report.urls for url in asked.urls))
