"""The words of claim and evidence, as the embedded verifier compares them."""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache
from importlib import resources

import msgspec

from assay.core.lexicon.analysis import stem
from assay.core.lexicon.word_lists import FUNCTION, NUMBER_WORDS, ORDINALS, SCALES, TENS

NUMBERS = {
    "zero": "0",
    **{word: str(value) for word, value in (NUMBER_WORDS | TENS).items() if word != "one"},
    **{word: str(value) for word, value in ORDINALS.items() if value <= 10},
    "twice": "2",
    "half": "0.5",
    "dozen": "12",
}
"""Words which are compared as the figures they stand for."""
_SCALES = {word: SCALES[word] for word in ("hundred", "thousand", "million", "billion", "trillion")}

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
        one, scale = found[at], _SCALES.get(found[at + 1].text.lower())
        if one.number and scale and one.stem.replace(".", "", 1).isdecimal():
            found[at] = msgspec.structs.replace(one, stem=_figure(f"{float(one.stem) * 10**scale:.4f}"))
    return tuple(found)


@lru_cache(maxsize=50_000)
def _token(text: str, first: bool) -> WordToken:
    lower = text.lower()
    if text[0].isdecimal():
        return WordToken(text, _figure(text), number=True, first=first)
    if lower in NUMBERS:
        return WordToken(text, NUMBERS[lower], number=True, first=first)
    bare = lower[:-2] if lower.endswith("'s") else lower
    function = bare in FUNCTION or lower in FUNCTION
    name = text[0].isupper() and not function and (not first or (len(text) > 1 and text.isupper()))
    return WordToken(text, stem(bare, "en"), name=name, function=function, first=first)


def _figure(text: str) -> str:
    """One form for equal numbers: `1,000.50` and `1000.5`; a per cent sign is left out."""
    plain = re.sub(r",(?=\d{3}(?!\d))", "", text.rstrip("%")).replace(",", ".")
    if plain.count(".") == 1:
        plain = plain.rstrip("0").rstrip(".")
    return plain.lstrip("0") or "0"


# Which words exclude each other: a table, and prefixes which turn a word round.

_PREFIXES = ("un", "in", "im", "il", "ir", "dis", "non", "mis", "de", "anti")


@cache
def table() -> dict[str, frozenset[str]]:
    """The opposites of each stem, both ways."""
    found: dict[str, set[str]] = {}
    text = resources.files(__package__).joinpath("opposites.txt").read_text(encoding="utf-8")
    for line in text.splitlines():
        if line.startswith("#") or "|" not in line:
            continue
        one, other = ({stem(word, "en") for word in side.split()} for side in line.split("|"))
        for here, there in ((one, other), (other, one)):
            for key in here:
                found.setdefault(key, set()).update(there - {key})
    return {key: frozenset(others) for key, others in found.items()}


@cache
def opposites(key: str) -> frozenset[str]:
    """Stems which exclude the stem `key`: those of the table, and itself with or without a prefix that turns it."""
    turned = {prefix + key for prefix in _PREFIXES if len(key) > 3}
    bare = {key[len(prefix) :] for prefix in _PREFIXES if key.startswith(prefix) and len(key) - len(prefix) > 3}
    return table().get(key, frozenset()) | turned | bare
