"""The words of claim and evidence, as the embedded verifier compares them."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

import msgspec
from tantivy import Filter, TextAnalyzer, TextAnalyzerBuilder, Tokenizer

from assay.verify.verifier.lexicon import FUNCTION, NUMBER_WORDS, SCALES

_WORD = re.compile(r"\d+(?:[.,]\d+)*%?|[^\W\d_]+(?:['’][^\W\d_]+)*|[^\W_]+")
_MARKUP = re.compile(r"\[\d{1,3}\]|(?<!\w)-LSB-.{0,200}?-RSB-(?!\w)|(?<!\w)-[LR][RSC]B-(?!\w)|https?://\S+")
"""What is no part of the sentence: citations by number, addresses, brackets as some treebanks write them."""


class WordToken(msgspec.Struct, frozen=True, gc=False):
    """A word: as written, its stem, and what kind it is.

    `number` tells a figure (also a number word), `name` a word with a capital which does not begin its sentence,
    `function` a word which only joins others. `first` is the first word of a sentence.
    """

    text: str
    stem: str
    number: bool = False
    name: bool = False
    function: bool = False
    first: bool = False

    @property
    def content(self) -> bool:
        return not self.function


def tokens(sentence: str) -> tuple[WordToken, ...]:
    """The words of one sentence, in order."""
    found: list[WordToken] = []
    for match in _WORD.finditer(_MARKUP.sub(" ", unicodedata.normalize("NFKC", sentence))):
        found.append(_token(match[0].replace("’", "'"), not found))
    return _scaled(found)


def _scaled(found: list[WordToken]) -> tuple[WordToken, ...]:
    """A figure and the scale word after it ("3 million") as one number; the scale word stays a word of its own."""
    for at in range(len(found) - 1):
        one, scale = found[at], SCALES.get(found[at + 1].text.lower())
        if one.number and scale and one.stem.replace(".", "", 1).isdecimal():
            found[at] = msgspec.structs.replace(one, stem=_figure(f"{float(one.stem) * 10**scale:.4f}"))
    return tuple(found)


@lru_cache(maxsize=50_000)
def _token(text: str, first: bool) -> WordToken:
    lower = text.lower()
    if text[0].isdecimal():
        return WordToken(text, _figure(text), number=True, first=first)
    if lower in NUMBER_WORDS:
        return WordToken(text, NUMBER_WORDS[lower], number=True, first=first)
    bare = lower[:-2] if lower.endswith("'s") else lower
    function = bare in FUNCTION or lower in FUNCTION
    name = text[0].isupper() and not function and (not first or (len(text) > 1 and text.isupper()))
    return WordToken(text, stem_of(bare), name=name, function=function, first=first)


def _figure(text: str) -> str:
    """One form for equal numbers: `1,000.50` and `1000.5`; a per cent sign is left out."""
    plain = re.sub(r",(?=\d{3}(?!\d))", "", text.rstrip("%")).replace(",", ".")
    if plain.count(".") == 1:
        plain = plain.rstrip("0").rstrip(".")
    return plain.lstrip("0") or "0"


@lru_cache(maxsize=100_000)
def stem_of(word: str) -> str:
    """The stem of a lower-case word (Snowball's English; Porter 2001), without accents."""
    found = _analyzer().analyze(word)
    return found[0] if found else word


@lru_cache(maxsize=1)
def _analyzer() -> TextAnalyzer:
    simple = TextAnalyzerBuilder(Tokenizer.raw()).filter(Filter.lowercase()).filter(Filter.stemmer("english"))
    return simple.filter(Filter.ascii_fold()).build()
