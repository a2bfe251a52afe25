"""A text as the checks compare it: words with stems, numbers as one word, sentences, and name order."""

from __future__ import annotations

import re
import unicodedata
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Literal as Choice

import msgspec

from assay.core.languages import detect_language, question_language
from assay.core.lazy import regex
from assay.core.lexicon import plain_digits
from assay.core.lexicon import stem as english
from assay.core.text import sentences, words
from assay.verify.amounts import Token, tokens

# Text for comparison: without Markdown, in one Unicode form, and traceable to its original.

_MARKUP = regex(
    r"""
      (?P<link>!?\[(?P<label>(?:[^\[\]\\]|\\.)*)\]\((?:[^\s()]|\([^\s()]*\))*(?:[ ]+"[^"\n]*")?\))
    | <(?P<auto>[a-z][a-z0-9+.-]{1,31}:[^\s<>]*|[^\s<>@]+@[^\s<>@]+)>
    | ^[ \t]*(?:\#{1,6}|>|[-*+•])[ \t]+(?:\#{1,6}[ \t]+)?
    | \\(?=[!-/:-@\[-`{-~])
    | `+ | ~~
    | (?<![0-9])\*+(?=\S) | (?<=\S)\*+(?![0-9])
    | (?<![^\W_])(?<![^\W_]\\)_+(?=\S) | (?<=\S)_+(?![^\W_])
    """,
    re.VERBOSE | re.MULTILINE | re.IGNORECASE,
)
_SAME = {
    **dict.fromkeys("“”„‟«»〝〞＂", '"'),
    **dict.fromkeys("‘’‚‛′‹›ʼ", "'"),
    **dict.fromkeys("‐‑‒–—―−﹣－", "-"),
    **dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff\u00ad", ""),
}
_KEPT_APART = ("<super>", "<sub>", "<fraction>")
"""Compatibility forms whose value changes when they are folded: 10² is not 102."""


class FoldedText(msgspec.Struct, frozen=True):
    """A folded text; `starts` and `ends` map each character to its piece of the original."""

    text: str
    starts: array[int]
    ends: array[int]

    def original_span(self, start: int, end: int) -> tuple[int, int]:
        """The place of `text[start:end]` (not empty) in the original, as code points `[start, end)`."""
        return self.starts[start], self.ends[end - 1]

    def index_at(self, origin: int) -> int:
        """The first character of `text` from the original at `origin` or later; the length if there is none."""
        return bisect_left(self.starts, origin)


@lru_cache(maxsize=1024)
def fold_text(text: str) -> FoldedText:
    """Fold `text` for comparison: no Markdown, NFKC, one kind of quotation mark and dash, single spaces, trimmed.

    Case, superscripts, subscripts and fractions are kept.
    """
    positions = _without_markup(text)
    signs: list[str] = []
    starts, ends = array("I"), array("I")
    if text.isascii():
        pieces: Iterable[tuple[int, str, int]] = ((position, text[position], 1) for position in positions)
    else:
        pieces = (
            (position, sign, len(cluster))
            for position, cluster in _clusters(text, positions)
            for sign in _fold_cluster(cluster)
        )
    for position, sign, length in pieces:
        space = sign.isspace()
        if space and (not signs or signs[-1] == " "):
            continue
        signs.append(" " if space else sign)
        starts.append(position)
        ends.append(position + length)
    if signs and signs[-1] == " ":
        del signs[-1], starts[-1], ends[-1]
    return FoldedText("".join(signs), starts, ends)


def _without_markup(text: str) -> list[int]:
    """The places of the characters that are not Markdown markup."""
    positions: list[int] = []
    last = 0
    for match in _MARKUP.finditer(text):
        positions.extend(range(last, match.start()))
        inner = "label" if match["link"] else "auto" if match["auto"] else ""
        if inner:
            positions.extend(range(*match.span(inner)))
        last = match.end()
    positions.extend(range(last, len(text)))
    return positions


def _clusters(text: str, positions: list[int]) -> list[tuple[int, str]]:
    """Characters with their combining marks, each with the place of its first code point."""
    clusters: list[tuple[int, str]] = []
    for position in positions:
        if clusters and unicodedata.combining(text[position]):
            clusters[-1] = (clusters[-1][0], clusters[-1][1] + text[position])
        else:
            clusters.append((position, text[position]))
    return clusters


def _fold_cluster(cluster: str) -> str:
    if cluster.isascii():
        return cluster
    if unicodedata.decomposition(cluster[0]).startswith(_KEPT_APART):
        return unicodedata.normalize("NFC", cluster)
    return "".join(_SAME.get(sign, sign) for sign in plain_digits(unicodedata.normalize("NFKC", cluster)))


Kind = Choice["word", "name", "number", "sign"]
WORD = regex(r"(?:[^\W\d_]\.){2,}|[^\W\d_]+(?:['’][^\W\d_]+)?|[^\w\s]")
_NEGATED = regex(r"n['’]t$", re.IGNORECASE)
_BETWEEN = frozenset((",", ";", ":", "(", ")", "|", "and", "but", "while", "whereas"))
COMMON = frozenset(
    """
    a an the this that these those it its he she they them his her their we our you your i who whom whose which what
    of in on at to for from by with as into onto upon about over under between among through during since until till
    and or but nor so if then than because while although though where when also there here
    is are was were be been being am has have had having do does did will would shall should can could may might must
    not no s t according despite however both all some most many several each every other such only one two first
    """.split()
)
"""Common English words, which say little about the topic of a sentence."""


class Word(msgspec.Struct, frozen=True, gc=False):
    """A word of the folded text `[start, end)`; a number or date is one word. `key` is compared: its stem.

    `sentence` and `clause` count from the text's beginning; a clause ends at a comma or the like, and at "and".
    `common` words say little about the topic of a sentence.
    """

    text: str
    key: str
    start: int
    end: int
    kind: Kind
    sentence: int
    clause: int = 0
    token: Token | None = None
    common: bool = False


class AnalyzedText(msgspec.Struct, frozen=True):
    """A folded text, its words in order, and their indices by key."""

    plain: FoldedText
    words: tuple[Word, ...]
    places: dict[str, tuple[int, ...]]

    def nearest(self, key: str, index: int) -> int | None:
        """The nearest other word with `key` to the word at `index`; None if there is none."""
        indices = self.places.get(key)
        if indices is None:
            return None
        if len(indices) == 1:
            return indices[0] if indices[0] != index else None
        position = bisect_left(indices, index)
        after = position + (position < len(indices) and indices[position] == index)
        if position == 0:
            return indices[after] if after < len(indices) else None
        before = indices[position - 1]
        return indices[after] if after < len(indices) and indices[after] - index < index - before else before

    def sentence_ranges(self) -> Iterator[range]:
        """The indices of each sentence's words."""
        start = 0
        for index in range(1, len(self.words) + 1):
            if index == len(self.words) or self.words[index].sentence != self.words[start].sentence:
                yield range(start, index)
                start = index

    def origin(self, first: int, last: int) -> tuple[int, int]:
        """Code points of the original text from word `first` to word `last`."""
        return self.plain.original_span(self.words[first].start, self.words[last].end)


class Texts(msgspec.Struct, frozen=True):
    """The texts a claim is compared with: passages and their headings, with the id of the passage of each.

    `names` are the names of the cited documents, as words.
    """

    readings: tuple[AnalyzedText, ...]
    passages: tuple[str, ...]
    names: tuple[tuple[str, ...], ...] = ()

    def has(self, key: str) -> bool:
        """True if one of them has a word with this stem."""
        return any(key in reading.places for reading in self.readings)

    def language(self, claim: AnalyzedText) -> str:
        """The language of a claim and these texts, "" if unknown."""
        text = " ".join(reading.plain.text for reading in (claim, *self.readings))
        return detect_language(text) or question_language(text)  # which reads short texts


def read_texts(passages: Iterable[tuple[str, str]], names: Iterable[str] = ()) -> Texts:
    """Read pairs of a passage's id and a text of it; `names` are those of the documents."""
    pairs = tuple(passages)
    return Texts(
        readings=tuple(analyze_text(text) for _, text in pairs),
        passages=tuple(id for id, _ in pairs),
        names=tuple(tuple(words(name)) for name in names),
    )


@lru_cache(maxsize=2048)
def analyze_text(text: str) -> AnalyzedText:
    """Analyze `text`. Results are cached, since the same passage is read for many claims."""
    folded = fold_text(text)
    ends = [folded.index_at(end) for _, end in sentences(text)]
    numbers = tokens(folded.text)
    text_words: list[Word] = []
    start = 0
    for token in (*numbers, None):
        until = token.start if token else len(folded.text)
        text_words.extend(_words(folded.text, start, until, ends, text_words))
        if token:
            text_words.append(_number(token, ends))
            start = token.end
    text_words = _clauses(_mark_first_names(text_words))
    indices: dict[str, list[int]] = {}
    for index, word in enumerate(text_words):
        if word.kind != "sign":
            indices.setdefault(word.key, []).append(index)
    return AnalyzedText(folded, tuple(text_words), {key: tuple(positions) for key, positions in indices.items()})


def _clauses(text_words: list[Word]) -> list[Word]:
    count = 0
    for index, word in enumerate(text_words):
        count += word.text in _BETWEEN or (index > 0 and word.sentence != text_words[index - 1].sentence)
        if count:
            text_words[index] = msgspec.structs.replace(word, clause=count)
    return text_words


def _mark_first_names(text_words: list[Word]) -> list[Word]:
    """Treat the first word of a sentence as a name if a name follows it, or if it is one elsewhere in the text."""
    names = {word.key for word in text_words if word.kind == "name"}
    for index, word in enumerate(text_words):
        if word.kind != "word" or not word.text[0].isupper() or word.common:
            continue
        after = text_words[index + 1] if index + 1 < len(text_words) else None
        follows = after is not None and after.kind == "name" and after.start - word.end == 1
        if follows or word.key in names:
            text_words[index] = msgspec.structs.replace(word, kind="name")
    return text_words


def _number(token: Token, ends: list[int]) -> Word:
    sentence = bisect_right(ends, token.start)
    return Word(token.text, f"#{token.text.lower()}", token.start, token.end, "number", sentence, token=token)


def _words(text: str, start: int, end: int, ends: list[int], before: list[Word]) -> list[Word]:
    text_words: list[Word] = []
    for match in WORD.finditer(text, start, end):
        sentence = bisect_right(ends, match.start())
        word = match[0]
        if not word[0].isalpha():
            text_words.append(Word(word, word, match.start(), match.end(), "sign", sentence))
            continue
        first = not (text_words or before) or (text_words or before)[-1].sentence != sentence
        kind: Kind = "name" if word[0].isupper() and (not first or word[1:2].isupper()) else "word"
        key = stem(word)
        common = key in COMMON or word.lower() in COMMON
        text_words.append(Word(word, key, match.start(), match.end(), kind, sentence, common=common))
    return text_words


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """The stem of an English word, lower case; "n't" is "not"."""
    lower = word.casefold().replace("’", "'").removesuffix("'s")
    if _NEGATED.search(lower):
        return "not"
    return english(lower.replace(".", ""), "en", accents=True) or lower
