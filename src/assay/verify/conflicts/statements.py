"""The statements of a passage: the sentence, the value in it, its subject, and its time.

Only what can be compared with another source is a statement: a sentence of prose with a number or date that is meant
exactly, and not as a forecast, a condition or an example.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from functools import cached_property, lru_cache
from itertools import pairwise

import msgspec

from assay.core.lazy import regex
from assay.core.sources import Passage, Source
from assay.core.text import sentences
from assay.verify.amounts import Amount, Day, Literal, Token
from assay.verify.analyzed_text import AnalyzedText, Word, analyze_text, stem
from assay.verify.evidence import read_field

# A date is a value if it is that of something that happens once: "was founded in 1964", "is a 1964 film".

YEAR = regex(r"(?:1[5-9]|20)\d\d")
DATING = frozenset(
    stem(word)
    for word in """
    founded established born died opened built completed released published launched introduced created signed adopted
    ratified discovered invented began started ended closed formed incorporated elected crowned married
    premiered debuted flew finished graduated collapsed dissolved abolished demolished destroyed assassinated executed
    inaugurated unveiled patented enacted repealed baptized baptised beatified canonized annexed commissioned
    """.split()
)
"""Things that happen once, as stems."""
_BEING = frozenset(("is", "was", "are", "were"))
_REACH = 4
"""How many words before a date to look for what happened, with only short words between."""
_BRACKETS = frozenset("()")
_WIDE = 10
"""Words from a date to the brackets around a life."""


def is_time(word: Word) -> bool:
    """True if a word is a time: a date, a year, or four digits that may be a year."""
    return isinstance(word.token, Day) or is_year(word.token)


def is_year(token: Token | None) -> bool:
    """True if a token is a year, or four digits alone that may be one."""
    return isinstance(token, Amount) and (token.year or YEAR.fullmatch(token.text) is not None)


def normalize_date(word: Word) -> str:
    """One form of a date, however it is written; if day and month could be swapped it stays as written."""
    token = word.token
    if isinstance(token, Day) and not token.swappable:
        return f"{token.year:04d}-{token.month:02d}-{token.day:02d}"
    return token.literal if isinstance(token, Amount) else word.text.lower()


def dates_as_values(
    reading: AnalyzedText, dates: Sequence[int], *, alone: bool, significant_words: Collection[str]
) -> list[int]:
    """Those of `dates` that are values.

    Args:
        reading: a sentence.
        dates: its words that are times.
        alone: whether it has no other value: then its only date is that of whatever in it happens once.
        significant_words: the stems of the significant words.
    """
    if alone and len(dates) == 1 and DATING.intersection(significant_words):
        return list(dates)
    return [
        index
        for index in dates
        if _follows_event(reading.words, index) or _is_life_date(reading.words, index) or defines(reading, index)
    ]


def defines(reading: AnalyzedText, index: int) -> bool:
    """True if a year defines something: "is a 1990 film"."""
    words = reading.words
    before = [word.text.lower() for word in words[max(0, index - 2) : index]]
    return is_year(words[index].token) and len(before) == 2 and before[0] in _BEING and before[1] in ("a", "an", "the")


def _follows_event(words: Sequence[Word], index: int) -> bool:
    """True if what happened is right before the date: "born on", "was founded in"."""
    for word in reversed(words[max(0, index - _REACH) : index]):
        if word.key in DATING:
            return True
        if word.kind != "word" or not word.common:
            return False
    return False


def _is_life_date(words: Sequence[Word], index: int) -> bool:
    """True if a date is one end of a life: "(4 May 1906 in Bern – 1997)", with nothing else in the brackets."""
    opening = next(
        (left for left in range(index - 1, max(-1, index - _WIDE), -1) if words[left].text in _BRACKETS), None
    )
    if opening is None or words[opening].text == ")":
        return False
    closing = next(
        (right for right in range(index, min(len(words), index + _WIDE)) if words[right].text in _BRACKETS), None
    )
    if closing is None or words[closing].text == "(":
        return False
    inside = words[opening + 1 : closing]
    dashes = [position for position, word in enumerate(inside) if word.text == "-"]
    if len(dashes) != 1:
        return False
    ends = inside[: dashes[0]], inside[dashes[0] + 1 :]
    return all(sum(word.token is not None for word in end) == 1 for end in ends)


MAX_SENTENCE_CHARS = 400
"""Code points of a sentence; a longer one is a list or a table that lost its lines."""
MIN_SIGNIFICANT_WORDS = 2
"""Significant words a sentence must have besides its value."""

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
"""Words that say exactly what is counted: two statements must share them."""
_OWN = frozenset("this these it its we our us they their them he she his her i my you your here".split())
"""Words that make the document itself, or earlier text, the subject."""
_GOES_ON = frozenset(
    "furthermore moreover however also then thus therefore additionally similarly likewise instead otherwise so".split()
)
_VERBS = frozenset("is are was were be been has have had will did does do".split())
_PRONOUNS = 4
"""Words at the beginning of a sentence in which a pronoun is its subject; a later one refers to that."""
_SUBJECT = 6
"""Words at the beginning of a sentence that contain its subject's name."""
_QUOTES = frozenset("\"'")
_BESIDE = 5
_LABELS = frozenset(
    "figure fig table section chapter part step version page no number article rule item phase type level line".split()
)
_ENDED = regex(r"[.!。！…][\"'”’»)\]*_`]{0,3}$")
_ROW = regex(r"\||\t|\{|\}|;.*;.*;|=|::|\]\(")
"""Signs of text that is not prose: cells, code, links."""


_COMPOUND = regex(r"(?: ?(?!and/|or/)[^\W\d_]{1,5}[²³]?)?(?:[/·⋅][^\W\d_]{1,6}(?:[²³]|\^?-?\d(?!\d))?)+(?![^\W_])")
"""The rest of a compound unit behind a number, or behind a unit that is its beginning: mS/cm, EUR/month."""


class Value(msgspec.Struct, frozen=True, kw_only=True, dict=True, eq=False):
    """A value in a sentence: the word `index` of its `reading`. Compared by identity: `sentence_values` caches them.

    `names` are the stems of its names, with their numbers ("python 3"); `significant_words` those of its other
    significant words; `times` the other times it states; `scope` the words that say exactly what is counted.
    `defines` says that a year defines something: "is a 1990 film".
    """

    sentence: str
    reading: AnalyzedText
    index: int
    names: frozenset[str]
    significant_words: frozenset[str]
    times: frozenset[str]
    scope: frozenset[str]
    defines: bool = False

    @property
    def written_form(self) -> str:
        """The value as the sentence writes it."""
        start, end = self.reading.origin(self.index, self.index)
        compound = _COMPOUND.match(self.sentence, end)
        end = compound.end() if compound else end
        return self.sentence[start:end].strip(" .,;:")

    @cached_property
    def token(self) -> Amount | Day:
        """The parsed value."""
        token = self.reading.words[self.index].token
        assert isinstance(token, Amount | Day)  # that is what `sentence_values` looks for
        return token

    @property
    def is_date(self) -> bool:
        """True if the value is a date or a year."""
        return is_time(self.reading.words[self.index])

    @cached_property
    def keys(self) -> frozenset[str]:
        """The keys by which its words are compared."""
        return self.names | self.significant_words

    @cached_property
    def counted_noun(self) -> str:
        """The stem of what a number without a unit counts: the word after it, or the next one."""
        token = self.token
        if not isinstance(token, Amount) or token.year or token.currency or token.units != ("",):
            return ""
        next_words = self.reading.words[self.index + 1 : self.index + 3]
        return next((word.key for word in reversed(next_words) if _is_telling(word)), "")

    @cached_property
    def is_own(self) -> bool:
        """True if its subject is elsewhere: it says "it" or "this", continues earlier text, or says "the film" without
        a name.
        """
        words = [word for word in self.reading.words if word.kind != "sign"]
        spoken = (words[0].text.lower(), *(word.text for word in words[1:_PRONOUNS]))
        if not _OWN.isdisjoint(spoken) or spoken[0] in _GOES_ON:
            return True
        return spoken[0] == "the" and words[1].kind != "name" and not _is_named(words)

    @cached_property
    def runs(self) -> tuple[frozenset[str], ...]:
        """The names as runs of neighbouring words."""
        groups: list[set[str]] = []
        before = -2
        for index, word in enumerate(self.reading.words):
            if word.key in self.names and word.kind in ("name", "word"):
                if before != index - 1:
                    groups.append(set())
                groups[-1].add(word.key)
                before = index
        return tuple(map(frozenset, groups))


class SourceStatement(msgspec.Struct, frozen=True):
    """A value that a passage of a source states."""

    passage: Passage
    source: Source | None
    value: Value

    @property
    def titles(self) -> frozenset[str]:
        """Stems of the names of the document or of the sentence's section."""
        return _name_keys((self.source.title if self.source else "", *self.passage.heading))


def stated_values(
    passage: Passage, source: Source | None, likely: Callable[[str], bool] = lambda _: True
) -> tuple[SourceStatement, ...]:
    """The values that a passage states, in those of its sentences that are `likely` relevant."""
    if read_field(passage) is not None:
        return ()
    values = (value for text in _whole_sentences(passage.text) if likely(text) for value in sentence_values(text))
    return tuple(SourceStatement(passage, source, value) for value in values)


@lru_cache(maxsize=2048)
def _whole_sentences(text: str) -> tuple[str, ...]:
    """Whole sentences; text that does not end like one is a title, an item or a fragment."""
    candidates = (" ".join(text[start:end].split()).lstrip("*-•# ") for start, end in sentences(text))
    return tuple(
        sentence
        for sentence in candidates
        if 20 <= len(sentence) <= MAX_SENTENCE_CHARS and not _ROW.search(sentence) and _ENDED.search(sentence)
    )


@lru_cache(maxsize=1024)
def sentence_values(sentence: str) -> tuple[Value, ...]:
    """The values in a sentence; cached, since several passages and later runs contain the same one."""
    reading = analyze_text(sentence)
    if not any(isinstance(word.token, Amount | Day) for word in reading.words):
        return ()
    lower_words, words = frozenset(word.text.lower() for word in reading.words), list(enumerate(reading.words))
    if not _UNSURE.isdisjoint(
        word.text if word.text == "May" and index else word.text.lower() for index, word in words
    ):
        return ()
    names, label_indices = _names(reading)
    value_indices = [
        index
        for index, word in enumerate(reading.words)
        if index not in label_indices and _is_value(reading, index, word)
    ]
    significant_words = frozenset(word.key for word in reading.words if _is_telling(word) and word.key not in names)
    dates = {index: normalize_date(word) for index, word in enumerate(reading.words) if is_time(word)}
    value_indices += dates_as_values(reading, list(dates), alone=not value_indices, significant_words=significant_words)
    if len(names | significant_words) < MIN_SIGNIFICANT_WORDS:
        return ()
    scope = lower_words & _SCOPE | _ordinals(reading)
    return tuple(
        Value(
            sentence=sentence,
            reading=reading,
            index=index,
            names=names,
            significant_words=significant_words,
            times=frozenset(time for other, time in dates.items() if other != index),
            scope=scope,
            defines=defines(reading, index),
        )
        for index in value_indices
    )


def _ordinals(reading: AnalyzedText) -> frozenset[str]:
    """Which of several is meant: "the third album"."""
    tokens = (word.token for word in reading.words)
    return frozenset(f"{token.literal}." for token in tokens if isinstance(token, Amount) and token.ordinal)


def _is_named(words: Sequence[Word]) -> bool:
    """True if "the harbour of Brest" has a name, joined to it by a short word before the verb."""
    for before, word in pairwise(words[:_SUBJECT]):
        if before.text.lower() in _VERBS:
            return False
        if word.kind == "name":
            return True
    return False


def _names(reading: AnalyzedText) -> tuple[frozenset[str], frozenset[int]]:
    """The names, each with the numbers that belong to it, and the places of those numbers."""
    names: set[str] = set()
    label_indices: set[int] = set()
    for index, word in enumerate(reading.words):
        if word.kind == "name" or isinstance(word.token, Literal):
            names.add(word.key)
        elif isinstance(word.token, Amount):
            before = next(
                (
                    neighbour
                    for neighbour in reversed(reading.words[max(0, index - 3) : index])
                    if neighbour.kind != "sign"
                ),
                None,
            )
            if before is not None and reading.words[index - 1].text != "(" and _is_label(before, word):
                names.add(f"{before.key} {word.token.literal}")
                label_indices.add(index)
    first = reading.words[0]
    if first.kind == "word" and first.text[0].isupper() and not first.common:
        names.add(first.key)
    return frozenset(names), frozenset(label_indices)


def _is_label(before: Word, word: Word) -> bool:
    """True if a number only labels something: "Figure 3", "Python 3", "EIP-1559", "no. 7"."""
    bare = isinstance(word.token, Amount) and word.token.units == ("",) and not word.token.currency
    is_label_word = before.kind == "name" or before.text.lower() in _LABELS
    return bare and is_label_word and not word.token.year if isinstance(word.token, Amount) else False


def _is_value(reading: AnalyzedText, index: int, word: Word) -> bool:
    token = word.token
    if not isinstance(token, Amount) or not token.values or token.year or token.ordinal or token.terms:
        return False  # a fraction is rounded: "half of them" does not disagree with 47 %
    if is_time(word) or (token.word and token.values[0] < 2):
        return False
    if _is_mark(reading.words, index):
        return False
    words = reading.words
    return not (
        _is_in_range(words[index + 1 : index + _BESIDE])
        or _is_in_range(words[max(0, index - _BESIDE + 1) : index][::-1])
    )


def _is_mark(words: Sequence[Word], index: int) -> bool:
    """True if a number is alone in brackets: a footnote mark, "systemd(1)"."""
    before, after = (words[position].text if 0 <= position < len(words) else "" for position in (index - 1, index + 1))
    return before == "[" or ((before, after) == ("(", ")") and words[index].text.isdecimal())


def _is_in_range(words: Sequence[Word]) -> bool:
    """True if the words beside a number (apart from quotation marks) make it part of a range or list."""
    neighbours = [word for word in words if word.text not in _QUOTES][:2]
    is_joined = len(neighbours) == 2 and neighbours[0].text.lower() in {"-", "to", "and", "or", ",", "/", "x", "×"}
    return is_joined and neighbours[1].token is not None


def _is_telling(word: Word) -> bool:
    return word.kind in ("word", "name") and not word.common and len(word.text) > 1


@lru_cache(maxsize=1024)
def _name_keys(names: tuple[str, ...]) -> frozenset[str]:
    return frozenset(word.key for text in names for word in analyze_text(text[:200]).words if _is_telling(word))


@lru_cache(maxsize=4096)
def years_in(text: str) -> frozenset[str]:
    """The years in a text."""
    return frozenset(re.findall(r"(?<!\d)(?:1[5-9]|20)\d\d(?!\d)", text))
