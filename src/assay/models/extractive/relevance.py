"""How well a sentence fits a question: the weight of the terms it holds, where they stand, and the kind of answer.

Terms weigh by their rarity among the passages shown (inverse document frequency, Spärck Jones 1972). A term may also
stand near a sentence: in the name it describes (a definition list), the heads of its table, the heading above it.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise

from assay.core.text import words
from assay.models.extractive.kinds import asked_for, predicate, related
from assay.models.extractive.lexicon import DEGREE_ASKERS, DEGREE_NOUNS, MEASURES, QUALITIES
from assay.models.extractive.passages import Sentence, keys
from assay.models.extractive.question import Question, defined, versions
from assay.models.extractive.shelf import Book
from assay.models.extractive.terms import carries_topic, is_cjk, stem

NAME_WEIGHT = 1.6
FRAME_WEIGHT = 0.35
BORDER = 0.4
NEARBY = 0.4
"""What a term counts which only the title, the heading or the rest of the passage holds."""
BELOW = 0.6
"""The same for the heading right above the first sentences of a section."""
COLUMNS = 0.75
"""The same for a table row, which its column heads and heading complete."""
DESCRIBED = 0.85
"""The same for the name which a description belongs to."""
FIRST = 2
"""Sentences below a heading which it speaks of most."""
BESIDE_POINT = 0.7
"""For a sentence with a name out of the question and nothing of what is asked about it."""
ROW = 0.8
"""A table row or a line with a key says less to a reader than a sentence."""
VALUE = 0.1
DEFINITION = 0.25
TOGETHER = 0.2
"""For a sentence in which the question's words stand side by side as they do in the question."""
POINTING = 0.85
"""For a sentence which begins by pointing back at the one before, not at its heading: alone it says too little."""
UNNAMED = 0.8
"""For a sentence without the word for the thing asked for: "field" in "which field holds it?"."""
UNMEASURED = 0.8
"""For a sentence without an amount where one is asked for."""
UNCALLED = 0.5
"""For a sentence which is not about the thing that the question calls as code does: `max_retries`, `/etc/hosts`."""

_DATE = re.compile(r"\b(?:1[5-9]|20)\d\d\b|\d{1,2}[./]\d{1,2}[./]\d{2,4}|年")
_PERSON = re.compile(r"[^\W\d_a-z]\w+ (?:[^\W\d_a-z][\w.]* )*[^\W\d_a-z]\w+")
_NUMBER = re.compile(r"\d")
_NUMERAL = r"\b(?:zero|one|two|three|four|five|six|seven|eight|nine|ten|twelve|hundred|thousand|million|billion)\b"
_AMOUNT = re.compile(rf"(?<![\w.])\d|{_NUMERAL}|\b(?:unlimited|none|disabled|off|true|false)\b", re.IGNORECASE)
_LITERAL = re.compile(r"[`\"“‘][^`\"”’]+[`\"”’]|(?<!\w)(?:--?\w|[./~$:]\w)|\b[A-Z]{3,}\b|\w_\w|\w\(\)")
_BACK = re.compile(
    r"(?:this|these|those|they|it|its|hence|thus|however|therefore|additionally|also|otherwise|instead|such|then"
    r"|in other words|by contrast|in this case|for example|as a result|in addition|note that)\b",
    re.IGNORECASE,
)
_IS = (
    r"(?:means?|refers? to|denotes?|stands? for|consists? of|contains?"
    r"|(?:is|are|was|were)(?=\W+(?:\w+ly\W+)?(?:an?|the|any|one|what|those|all)\b))"
)


def weigh(
    terms: Sequence[str], names: frozenset[str], frames: frozenset[str], books: Sequence[Book]
) -> dict[str, float]:
    """The weight of each term in `books`: rare ones and names more, `frames` less, what is in none the most."""
    seen: Counter[str] = Counter()
    wanted = frozenset(terms)
    for book in books:
        for sentence in book.sentences:
            seen.update(term for term in wanted if related(term, sentence.stems | sentence.above))
    size = max(sum(len(book.passages) for book in books), 1)

    def kind(term: str) -> float:
        return FRAME_WEIGHT if term in frames else NAME_WEIGHT if term in names else 1.0

    characters = {letter for term in wanted if seen[term] and is_cjk(term) for letter in term}

    def across(term: str) -> float:
        """Less for a pair of characters nothing holds which may lie across the border of two words."""
        return BORDER if not seen[term] and is_cjk(term) and set(term) & characters else 1.0

    return {term: kind(term) * across(term) * math.log(1 + size / (seen[term] + 0.5)) for term in dict.fromkeys(terms)}


def fits(question: Question, weights: Mapping[str, float], book: Book, gate: float) -> bool:
    """Whether a document holds enough of what is asked, half the weight of its names, and the rarest of them."""
    names = {term: weight for term, weight in weights.items() if term in question.names}
    rarest = max(names, key=lambda term: names[term], default="")
    named = not names or (rarest in book.all_stems and _coverage(names, book.all_stems) >= 0.5)
    return named and _coverage(weights, book.all_stems) >= gate


def _coverage(weights: Mapping[str, float], held: frozenset[str]) -> float:
    return sum(weight for term, weight in weights.items() if related(term, held)) / (sum(weights.values()) or 1.0)


class Scorer:
    """Scores sentences for one question, whose terms have `weights`."""

    def __init__(self, question: Question, weights: Mapping[str, float]) -> None:
        self._question, self._weights = question, weights
        self._total = sum(weights.values()) or 1.0
        self._asking = predicate(question, ())
        self._qualities = _QUALITY_STEMS & set(question.terms)
        self._noun = _noun(question)
        self._defines = _defining(defined(question))
        self._dated = asked_for(question) == "date"
        self._measures = _measures(question)
        self._bonuses = _bonuses(question)
        self._pairs = _pairs(question)
        self._called = tuple(name.casefold() for name in question.called)

    def __call__(self, sentence: Sentence, book: Book) -> float:
        """The share of the terms' weight in the sentence, less for what stands near it; 0 without a term."""
        held = {term for term in self._weights if related(term, sentence.stems)}
        if not held and not self._is_first(sentence):
            return 0.0
        if (sentence.kind == "code" and not self._calls(sentence.text)) or not self._is_of_version(sentence, book):
            return 0.0
        own = sum(self._weights[term] for term in held)
        near = sum(
            weight * _nearness(term, sentence, book) for term, weight in self._weights.items() if term not in held
        )
        return (own + near) / self._total * self._plainness(sentence, book) + self._bonus(sentence)

    def _is_first(self, sentence: Sentence) -> bool:
        """Whether a sentence opens a section or description whose name holds most of what is asked."""
        if sentence.kind != "prose" or sentence.place >= FIRST:
            return False
        named = sentence.term | sentence.above
        return bool(named) and sum(w for term, w in self._weights.items() if related(term, named)) > 0.6 * self._total

    def _plainness(self, sentence: Sentence, book: Book) -> float:
        """Less for fragments and rows, and for what holds nothing of what is asked of the subject."""
        rare = max(self._weights, key=lambda term: self._weights[term] if term in book.all_stems else 0.0)
        plain = _length(sentence.text) if sentence.kind == "prose" else 1.0 if rare in sentence.stems else ROW
        plain *= 1.0 - (1.0 - BESIDE_POINT) * self._missing(sentence)
        plain *= UNNAMED if self._noun and not related(self._noun, sentence.stems | sentence.term) else 1.0
        plain *= UNMEASURED if self._measures and not _AMOUNT.search(sentence.text) else 1.0
        plain *= POINTING if sentence.place and _BACK.match(sentence.text) else 1.0
        return plain if self._is_called(sentence) else plain * UNCALLED

    def _is_of_version(self, sentence: Sentence, book: Book) -> bool:
        """Whether a sentence is about a version asked about: 3.1 is not 3.12, though they share a word.

        One without any version is, when its passage, heading, name or the title has the one asked about.
        """
        asked, said = self._question.versions, versions(sentence.text)
        if not asked or said:
            return not asked or any(self._same(one, each) for one in said for each in asked)
        near = sentence.above | sentence.term | sentence.beside
        return bool(asked & versions(book.title)) or any(keys(version) <= near for version in asked)

    def _same(self, said: str, asked: str) -> bool:
        """Whether a version is the one asked about, or a part of it; a date is asked of the first of its parts."""
        return said in {asked, f"{asked}.0"} or (not self._dated and said.startswith(f"{asked}."))

    def _missing(self, sentence: Sentence) -> float:
        """How far a sentence lacks what is asked of the subject: the share of qualities, else all or nothing."""
        if self._qualities:
            said = sentence.stems | sentence.term | sentence.above
            return sum(not related(term, said) for term in self._qualities) / len(self._qualities)
        said = sentence.stems | sentence.above if sentence.kind == "row" else sentence.stems
        return float(bool(self._asking) and not any(related(term, said) for term in self._asking))

    def _calls(self, text: str) -> bool:
        folded = text.casefold()
        return any(name in folded for name in self._called)

    def _is_called(self, sentence: Sentence) -> bool:
        """Whether the thing the question calls by a name as in code is in the sentence or is what it describes."""
        named = sentence.term | sentence.above
        return not self._called or self._calls(sentence.text) or any(named >= keys(name) for name in self._called)

    def _bonus(self, sentence: Sentence) -> float:
        """A little more for the kind of thing asked for: a date for "when", a number for "how many"."""
        found = sum(bonus for pattern, bonus in self._bonuses if pattern.search(sentence.text))
        if self._pairs:
            said = [stem(word) for word in words(sentence.text)]
            found += TOGETHER * len(self._pairs & set(pairwise(said))) / len(self._pairs)
        return found + (DEFINITION if self._defines and self._defines.match(sentence.text) else 0.0)


_QUALITY_STEMS = frozenset(stem(word) for word in QUALITIES)


def _nearness(term: str, sentence: Sentence, book: Book) -> float:
    """What a term counts which the sentence itself does not hold."""
    if related(term, sentence.term):
        return DESCRIBED
    around = book.title_stems | sentence.above | sentence.beside
    if sentence.kind == "row":
        return COLUMNS if related(term, around) else 0.0
    if sentence.place < FIRST and related(term, sentence.above):
        return BELOW
    return NEARBY if related(term, around) else 0.0


def _pairs(question: Question) -> frozenset[tuple[str, str]]:
    """Pairs of words which stand side by side in the question, and both name its topic."""
    found = pairwise([(word, stem(word)) for word in question.words])
    topical = [(a, b) for (one, a), (two, b) in found if carries_topic(one) and carries_topic(two)]
    return frozenset(pair for pair in topical if not _QUALITY_STEMS & set(pair))


def _length(text: str) -> float:
    """Very short and very long sentences say less to a reader."""
    size = len(text) if text.isascii() else 2 * len(text)
    return 0.75 if size < 40 else 1.0 if size < 350 else 0.85


def _measures(question: Question) -> bool:
    """Whether an amount is asked for: "how long ...?", "the maximum number of ..."."""
    asked = any(first in DEGREE_ASKERS and second in DEGREE_NOUNS for first, second in pairwise(question.words))
    return asked or bool(set(question.words) & MEASURES)


def _bonuses(question: Question) -> list[tuple[re.Pattern[str], float]]:
    """Patterns of the kind of thing asked for, and what they count."""
    asked = set(question.words)
    pairs = set(pairwise(question.words))
    found = []
    if asked & {"when", "wann", "когда", "متى", "year"}:
        found.append((_DATE, VALUE))
    if asked & {"who", "whom", "wer", "кто"}:
        found.append((_PERSON, VALUE / 2))
    if pairs & {("how", "many"), ("how", "much"), ("wie", "viele")} or asked & {"сколько", "كم"}:
        found.append((_NUMBER, VALUE))
    elif _measures(question) or asked & QUALITIES:
        found.append((_AMOUNT, VALUE))
    if counted := _counted(question):
        found.append((counted, VALUE))
    if question.words[:1] in {("which",), ("what",)} and set(question.words[1:4]) & _CALLED:
        found.append((_LITERAL, VALUE))
    return found


def _noun(question: Question) -> str:
    """The key of the word after "which" or "what", "" where it carries no topic."""
    word = question.words[1] if question.words[:1] in {("which",), ("what",)} and len(question.words) > 2 else ""
    return stem(word) if stem(word) in question.rest else ""


_COUNTED = re.compile(r"\b(?:how (?:many|much)|number of|wie viele?)\s+(\w{3,})", re.IGNORECASE)


def _counted(question: Question) -> re.Pattern[str] | None:
    """An amount right before what is counted: "64 tables" for "the number of tables"."""
    match = _COUNTED.search(question.text)
    root = match[1].casefold()[:-1] if match else ""
    return re.compile(rf"(?:\d|{_NUMERAL})\s+(?:\w+\s+)?{re.escape(root)}", re.IGNORECASE) if root else None


_CALLED = frozenset(
    "command commands function functions option options flag file directory field program key keyword method".split()
)


def _defining(phrase: str) -> re.Pattern[str] | None:
    """What a sentence begins with which says what `phrase` is."""
    if not phrase:
        return None
    one = phrase if phrase.endswith("ss") else phrase.removesuffix("s")
    said = r"[\W_]+".join(re.escape(word) for word in one.split())
    return re.compile(
        rf"\W*(?:(?:an?|the|each|every|this)\s+)?[\"“'`]?{said}(?:e?s)?\b\W*(?:\w+\W+){{0,4}}?{_IS}\b", re.IGNORECASE
    )
