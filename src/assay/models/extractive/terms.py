"""Words as the built-in model compares them: light stems, and the words which carry a topic.

The stemmer is a short list of endings for languages written with Latin, Cyrillic and Arabic letters, after the
idea of S-stemmers (Harman 1991, "How effective is suffixing?"): it only has to map forms of one word to one key.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from assay.core.text import words
from assay.models.extractive.lexicon import CJK_FUNCTION, STOP, STOP_ALL

_LATIN = (
    "ings",
    "ions",
    "ing",
    "ion",
    "edly",
    "ies",
    "ers",
    "ed",
    "es",
    "er",
    "en",
    "ly",
    "em",
    "s",
    "e",
    "y",
)
_CYRILLIC = (
    "иями", "ями", "ами", "ого", "его", "ому", "ему", "ыми", "ими", "ией", "иях", "ия", "ие", "ии", "ий", "ый", "ой",
    "ая", "яя", "ое", "ее", "ов", "ев", "ей", "ам", "ям", "ах", "ях", "ом", "ем", "ен", "на", "ны", "но", "ть", "ся",
    "а", "я", "о", "е", "и", "ы", "у", "ю", "ь",
)  # fmt: skip
_ARABIC_HEADS = ("وال", "بال", "كال", "فال", "ال", "لل")
_ARABIC_TAILS = ("ات", "ون", "ين", "ها", "ة", "ه", "ي")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_HIRAGANA = re.compile(r"[\u3040-\u309f]")


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """The key under which forms of `word` (casefolded) are equal; at least 3 letters are left of it."""
    if len(word) < 4 or word[0].isdigit():
        return word
    if "\u0400" <= word[0] <= "\u04ff":
        return _cut(word, _CYRILLIC, 3)
    if "\u0600" <= word[0] <= "\u06ff":
        return _arabic(word)
    return _latin(word) if word.isascii() or unicodedata.name(word[0], "").startswith("LATIN") else word


def _cut(word: str, endings: tuple[str, ...], keep: int) -> str:
    for ending in endings:
        if word.endswith(ending) and len(word) - len(ending) >= keep:
            return word[: -len(ending)]
    return word


def _latin(word: str) -> str:
    if word.endswith(("ss", "us", "is")):
        return word
    root = _cut(word, ("ations", "ation"), 4)
    if root == word:
        root = _cut(word, _LATIN, 3)
    if root.endswith("e") and len(root) > 4 and root != word:
        root = root[:-1]
    doubled = len(root) > 3 and root[-1] == root[-2] and root[-1] not in "aeilosz"
    return root[:-1] if doubled and root != word else root


def _arabic(word: str) -> str:
    for head in _ARABIC_HEADS:
        if word.startswith(head) and len(word) - len(head) >= 3:
            word = word[len(head) :]
            break
    return _cut(word, _ARABIC_TAILS, 3)


def stems(text: str) -> list[str]:
    """The stems of all words of `text`, in order."""
    return [stem(word) for word in words(text)]


def is_cjk(text: str) -> bool:
    """Whether `text` has a Chinese or Japanese character."""
    return _CJK.search(text) is not None


def carries_topic(word: str) -> bool:
    """Whether a casefolded word can say what a text is about."""
    if is_cjk(word):
        return not (_HIRAGANA.search(word) or any(letter in CJK_FUNCTION for letter in word))
    return word not in STOP_ALL and (len(word) > 1 or word.isdigit())


def topic_words(text: str) -> list[str]:
    """The words of `text` which carry a topic, in order, each once."""
    return list(dict.fromkeys(word for word in words(text) if carries_topic(word)))


def is_german(text: str) -> bool:
    """Whether more German than English function words occur: German writes every noun with a capital letter."""
    found = words(text)
    return sum(word in STOP["de"] for word in found) > sum(word in STOP["en"] for word in found)
