"""What a passage states of a value: the sentence, the value in it, whom it is about, and of what time it is.

Only what can be held against another source is a statement: a sentence of prose with a number or a date which is meant
exactly, and not as a forecast, a condition or an example.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache
from itertools import pairwise

import msgspec

from assay.core.sources import Passage, Source
from assay.core.text import sentences
from assay.verify.amounts import Amount, Day, Literal
from assay.verify.evidence import field_of
from assay.verify.reading import COMMON, Reading, Word, read, stem

LONGEST = 400
"""Code points of a sentence; what is longer is a list or a table which lost its lines."""
FEWEST_WORDS = 2
"""Telling words a sentence must have beside its value."""

_UNSURE = frozenset(
    """
    may might could would should if unless whether expect expects expected forecast forecasts projected projects planned
    plan plans target targets estimate estimates estimated predict predicts predicted assume assumes assuming suppose
    see example examples e.g. eg hypothetical between typically usually often almost another additional further
    """.split()
)
_SCOPE = frozenset(
    """
    not no never per each every all both only average mean median total maximum minimum max min more less fewer than
    other first last annual annually monthly daily weekly quarterly half rest remaining previous former new old
    """.split()
)
"""Words which say what exactly is counted: two statements must have the same of them."""
_OWN = frozenset("this these it its we our us they their them he she his her i my you your here".split())
"""Words which make the document itself, or what stood before, the subject."""
_GOES_ON = frozenset(
    "furthermore moreover however also then thus therefore additionally similarly likewise instead otherwise so".split()
)
_ARTICLES = frozenset(("the", "a", "an"))
_VERBS = frozenset("is are was were be been has have had will did does do".split())
_PRONOUNS = 4
"""Words at the beginning of a sentence among which a pronoun is its subject; a later one stands for that."""
_SUBJECT = 6
"""Words at the beginning of a sentence among which its subject's name stands."""
_DATING = frozenset(
    stem(word)
    for word in """
    founded established born died opened built completed released published launched introduced created signed adopted
    ratified discovered invented began started ended closed formed incorporated elected crowned married
    """.split()
)
"""What happens once, so that its date is a value; any other date says of when something is."""
_LABELS = frozenset(
    "figure fig table section chapter part step version page no number article rule item phase type level line".split()
)
_YEAR = re.compile(r"(?:1[5-9]|20)\d\d")
_ENDED = re.compile(r"[.!。！…][\"'”’»)\]*_`]{0,3}$")
_ROW = re.compile(r"\||\t|\{|\}|;.*;.*;|=|::|\]\(")
"""What sentences of prose do not have: cells, code, links."""


class Value(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """A value in a sentence: the word `at` of its `reading`.

    `names` are the stems of the names in it, with the numbers which belong to them ("python 3"); `telling` those of all
    its other words which say what it is about; `times` what times it states, as written; `scope` the words which say
    what exactly is counted.
    """

    sentence: str
    reading: Reading
    at: int
    names: frozenset[str]
    telling: frozenset[str]
    times: frozenset[str]
    scope: frozenset[str]

    @property
    def written(self) -> str:
        """The value as the sentence writes it."""
        start, end = self.reading.origin(self.at, self.at)
        return self.sentence[start:end].strip(" .,;:")

    @cached_property
    def token(self) -> Amount | Day:
        """The value, read."""
        token = self.reading.words[self.at].token
        assert isinstance(token, Amount | Day)  # that is what `values` looks for
        return token

    @cached_property
    def keys(self) -> frozenset[str]:
        """What its words are compared by."""
        return self.names | self.telling

    @cached_property
    def counted(self) -> str:
        """The stem of what a number without a unit counts: the word behind it, or the one after that."""
        token = self.token
        if not isinstance(token, Amount) or token.year or token.currency or token.units != ("",):
            return ""
        following = self.reading.words[self.at + 1 : self.at + 3]
        return next((word.key for word in reversed(following) if _tells(word)), "")

    @cached_property
    def is_own(self) -> bool:
        """Whether its subject stands elsewhere: it speaks of "it" or "this", goes on from what was said, or says
        "the film" without its name.
        """
        words = [word for word in self.reading.words if word.kind != "sign"]
        if any(word.text.lower() in _OWN for word in words[:_PRONOUNS]) or words[0].text.lower() in _GOES_ON:
            return True
        return words[0].text.lower() in _ARTICLES and words[1].kind != "name" and not _is_named(words)

    @cached_property
    def runs(self) -> tuple[frozenset[str], ...]:
        """The names as runs of neighbouring words."""
        found: list[set[str]] = []
        before = -2
        for at, word in enumerate(self.reading.words):
            if word.key in self.names and word.kind in ("name", "word"):
                if before != at - 1:
                    found.append(set())
                found[-1].add(word.key)
                before = at
        return tuple(map(frozenset, found))


class Statement(msgspec.Struct, frozen=True):
    """A value which a passage of a source states."""

    passage: Passage
    source: Source | None
    said: Value

    @property
    def titles(self) -> frozenset[str]:
        """Stems of what the document, or the section the sentence stands in, is called."""
        return _called((self.source.title if self.source else "", *self.passage.heading))


def statements(
    passage: Passage, source: Source | None, likely: Callable[[str], bool] = lambda _: True
) -> tuple[Statement, ...]:
    """The values which a passage states, in those of its sentences which are `likely` to say what is looked for."""
    if field_of(passage) is not None:
        return ()
    said = (value for text in _prose(passage.text) if likely(text) for value in values(text))
    return tuple(Statement(passage, source, value) for value in said)


@lru_cache(maxsize=2048)
def _prose(text: str) -> tuple[str, ...]:
    """Whole sentences; what does not end like one is a title, an item or a part."""
    found = (" ".join(text[start:end].split()).lstrip("*-•# ") for start, end in sentences(text))
    return tuple(each for each in found if 20 <= len(each) <= LONGEST and not _ROW.search(each) and _ENDED.search(each))


@lru_cache(maxsize=1024)
def values(sentence: str) -> tuple[Value, ...]:
    """The values in a sentence; kept, since several passages and later runs have the same one."""
    reading = read(sentence)
    if not any(isinstance(word.token, Amount | Day) for word in reading.words):
        return ()
    written = frozenset(word.text.lower() for word in reading.words)
    if not written.isdisjoint(_UNSURE):
        return ()
    names, labelled = _names(reading)
    places = [at for at, word in enumerate(reading.words) if at not in labelled and _is_value(reading, at, word)]
    telling = frozenset(word.key for word in reading.words if _tells(word) and word.key not in names)
    dates = [at for at, word in enumerate(reading.words) if _is_time(word)]
    if not places and len(dates) == 1 and telling & _DATING:
        places = dates
    if not places or len(names | telling) < FEWEST_WORDS:
        return ()
    times = frozenset(reading.words[at].text.lower() for at in dates if at not in places)
    scope = written & _SCOPE | _ordinals(reading)
    return tuple(
        Value(
            sentence=sentence,
            reading=reading,
            at=at,
            names=names,
            telling=telling,
            times=times,
            scope=scope,
        )
        for at in places
    )


def _ordinals(reading: Reading) -> frozenset[str]:
    """Which of several is meant: "the third album"."""
    tokens = (word.token for word in reading.words)
    return frozenset(f"{token.literal}." for token in tokens if isinstance(token, Amount) and token.ordinal)


def _is_named(words: Sequence[Word]) -> bool:
    """Whether "the harbour of Brest" has a name: one which a short word ties to it, before the verb."""
    for before, word in pairwise(words[:_SUBJECT]):
        if before.text.lower() in _VERBS:
            return False
        if word.kind == "name":
            return True
    return False


def _names(reading: Reading) -> tuple[frozenset[str], frozenset[int]]:
    """The names, each number which belongs to one with it, and the places of those numbers."""
    found: set[str] = set()
    labelled: set[int] = set()
    for at, word in enumerate(reading.words):
        if word.kind == "name" or isinstance(word.token, Literal):
            found.add(word.key)
        elif isinstance(word.token, Amount):
            before = next((each for each in reversed(reading.words[max(0, at - 3) : at]) if each.kind != "sign"), None)
            if before is not None and _labels(before, word):
                found.add(f"{before.key} {word.token.literal}")
                labelled.add(at)
    first = reading.words[0]
    if first.kind == "word" and first.text[0].isupper() and first.key not in COMMON:
        found.add(first.key)
    return frozenset(found), frozenset(labelled)


def _labels(before: Word, word: Word) -> bool:
    """Whether a number only tells which one is meant: "Figure 3", "Python 3", "EIP-1559", "no. 7"."""
    bare = isinstance(word.token, Amount) and word.token.units == ("",) and not word.token.currency
    named = before.kind == "name" or before.text.lower() in _LABELS
    return bare and named and not word.token.year if isinstance(word.token, Amount) else False


def _is_value(reading: Reading, at: int, word: Word) -> bool:
    token = word.token
    if not isinstance(token, Amount) or not token.values or token.year or token.ordinal or token.bound:
        return False
    if _is_time(word) or (token.word and token.values[0] < 2):
        return False
    if at and reading.words[at - 1].text == "[":
        return False  # the mark of a footnote
    return not any(_ranges(reading, at + step, at + 2 * step) for step in (-1, 1))


def _ranges(reading: Reading, sign: int, other: int) -> bool:
    """Whether a sign or word which makes a range or a list of numbers stands at `sign`, and a number beyond it."""
    words = reading.words
    if not (0 <= sign < len(words) and 0 <= other < len(words)):
        return False
    return words[sign].text.lower() in {"-", "to", "and", "or", ",", "/", "x", "×"} and words[other].token is not None


def _is_time(word: Word) -> bool:
    """Whether a word says when: a date, a year, or four digits which may be one."""
    token = word.token
    if isinstance(token, Day):
        return True
    return isinstance(token, Amount) and (token.year or _YEAR.fullmatch(token.text) is not None)


def _tells(word: Word) -> bool:
    return word.kind in ("word", "name") and word.key not in COMMON and len(word.text) > 1


@lru_cache(maxsize=1024)
def _called(names: tuple[str, ...]) -> frozenset[str]:
    return frozenset(word.key for text in names for word in read(text[:200]).words if _tells(word))


@lru_cache(maxsize=4096)
def years(text: str) -> frozenset[str]:
    """The years which a text names."""
    return frozenset(re.findall(r"(?<!\d)(?:1[5-9]|20)\d\d(?!\d)", text))
