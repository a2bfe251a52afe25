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
from assay.verify.analyzed_text import AnalyzedText, Word, read
from assay.verify.conflicts import dates as conflicts_dates
from assay.verify.evidence import field_of

LONGEST = 400
"""Code points of a sentence; what is longer is a list or a table which lost its lines."""
FEWEST_WORDS = 2
"""Telling words a sentence must have beside its value."""

_UNSURE = frozenset(
    """
    may might could would should if unless whether expect expects expected forecast forecasts projected projects planned
    plan plans target targets estimate estimates estimated predict predicts predicted assume assumes assuming suppose
    see example examples e.g. eg hypothetical typically usually often almost another additional further
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
_VERBS = frozenset("is are was were be been has have had will did does do".split())
_PRONOUNS = 4
"""Words at the beginning of a sentence among which a pronoun is its subject; a later one stands for that."""
_SUBJECT = 6
"""Words at the beginning of a sentence among which its subject's name stands."""
_QUOTES = frozenset("\"'")
_BESIDE = 5
_LABELS = frozenset(
    "figure fig table section chapter part step version page no number article rule item phase type level line".split()
)
_ENDED = re.compile(r"[.!。！…][\"'”’»)\]*_`]{0,3}$")
_ROW = re.compile(r"\||\t|\{|\}|;.*;.*;|=|::|\]\(")
"""What sentences of prose do not have: cells, code, links."""


class Value(msgspec.Struct, frozen=True, kw_only=True, dict=True, eq=False):
    """A value in a sentence: the word `at` of its `reading`. Compared as an object: `values` keeps those it has made.

    `names` are the stems of the names in it, with the numbers which belong to them ("python 3"); `telling` those of all
    its other words which say what it is about; `times` what other times it states; `scope` the words which say what
    exactly is counted. `defines` tells a year which says what something is: "is a 1990 film".
    """

    sentence: str
    reading: AnalyzedText
    at: int
    names: frozenset[str]
    telling: frozenset[str]
    times: frozenset[str]
    scope: frozenset[str]
    defines: bool = False

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

    @property
    def is_date(self) -> bool:
        """Whether the value is a date or a year."""
        return conflicts_dates.is_time(self.reading.words[self.at])

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
        spoken = (words[0].text.lower(), *(word.text for word in words[1:_PRONOUNS]))
        if not _OWN.isdisjoint(spoken) or spoken[0] in _GOES_ON:
            return True
        return spoken[0] == "the" and words[1].kind != "name" and not _is_named(words)

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


class SourceStatement(msgspec.Struct, frozen=True):
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
) -> tuple[SourceStatement, ...]:
    """The values which a passage states, in those of its sentences which are `likely` to say what is looked for."""
    if field_of(passage) is not None:
        return ()
    said = (value for text in _prose(passage.text) if likely(text) for value in values(text))
    return tuple(SourceStatement(passage, source, value) for value in said)


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
    written, words = frozenset(word.text.lower() for word in reading.words), list(enumerate(reading.words))
    if not _UNSURE.isdisjoint(word.text if word.text == "May" and at else word.text.lower() for at, word in words):
        return ()
    names, labelled = _names(reading)
    places = [at for at, word in enumerate(reading.words) if at not in labelled and _is_value(reading, at, word)]
    telling = frozenset(word.key for word in reading.words if _tells(word) and word.key not in names)
    dates = {at: conflicts_dates.when(word) for at, word in enumerate(reading.words) if conflicts_dates.is_time(word)}
    places += conflicts_dates.stated(reading, list(dates), alone=not places, telling=telling)
    if len(names | telling) < FEWEST_WORDS:
        return ()
    scope = written & _SCOPE | _ordinals(reading)
    return tuple(
        Value(
            sentence=sentence,
            reading=reading,
            at=at,
            names=names,
            telling=telling,
            times=frozenset(time for other, time in dates.items() if other != at),
            scope=scope,
            defines=conflicts_dates.defines(reading, at),
        )
        for at in places
    )


def _ordinals(reading: AnalyzedText) -> frozenset[str]:
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


def _names(reading: AnalyzedText) -> tuple[frozenset[str], frozenset[int]]:
    """The names, each number which belongs to one with it, and the places of those numbers."""
    found: set[str] = set()
    labelled: set[int] = set()
    for at, word in enumerate(reading.words):
        if word.kind == "name" or isinstance(word.token, Literal):
            found.add(word.key)
        elif isinstance(word.token, Amount):
            before = next((each for each in reversed(reading.words[max(0, at - 3) : at]) if each.kind != "sign"), None)
            if before is not None and reading.words[at - 1].text != "(" and _labels(before, word):
                found.add(f"{before.key} {word.token.literal}")
                labelled.add(at)
    first = reading.words[0]
    if first.kind == "word" and first.text[0].isupper() and not first.common:
        found.add(first.key)
    return frozenset(found), frozenset(labelled)


def _labels(before: Word, word: Word) -> bool:
    """Whether a number only tells which one is meant: "Figure 3", "Python 3", "EIP-1559", "no. 7"."""
    bare = isinstance(word.token, Amount) and word.token.units == ("",) and not word.token.currency
    named = before.kind == "name" or before.text.lower() in _LABELS
    return bare and named and not word.token.year if isinstance(word.token, Amount) else False


def _is_value(reading: AnalyzedText, at: int, word: Word) -> bool:
    token = word.token
    if not isinstance(token, Amount) or not token.values or token.year or token.ordinal or token.terms:
        return False  # a fraction is a rounding: "half of them" does not disagree with 47 %
    if conflicts_dates.is_time(word) or (token.word and token.values[0] < 2):
        return False
    if _is_mark(reading.words, at):
        return False
    words = reading.words
    return not (_ranges(words[at + 1 : at + _BESIDE]) or _ranges(words[max(0, at - _BESIDE + 1) : at][::-1]))


def _is_mark(words: Sequence[Word], at: int) -> bool:
    """Whether a number only stands in brackets: the mark of a footnote, "systemd(1)"."""
    before, after = (words[place].text if 0 <= place < len(words) else "" for place in (at - 1, at + 1))
    return before == "[" or ((before, after) == ("(", ")") and words[at].text.isdecimal())


def _ranges(words: Sequence[Word]) -> bool:
    """Whether what stands beside a number (quotation marks apart) joins it with another to a range or a list."""
    beside = [word for word in words if word.text not in _QUOTES][:2]
    joined = len(beside) == 2 and beside[0].text.lower() in {"-", "to", "and", "or", ",", "/", "x", "×"}
    return joined and beside[1].token is not None


def _tells(word: Word) -> bool:
    return word.kind in ("word", "name") and not word.common and len(word.text) > 1


@lru_cache(maxsize=1024)
def _called(names: tuple[str, ...]) -> frozenset[str]:
    return frozenset(word.key for text in names for word in read(text[:200]).words if _tells(word))


@lru_cache(maxsize=4096)
def years(text: str) -> frozenset[str]:
    """The years which a text names."""
    return frozenset(re.findall(r"(?<!\d)(?:1[5-9]|20)\d\d(?!\d)", text))
