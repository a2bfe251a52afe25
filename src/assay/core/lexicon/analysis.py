"""Text to index terms: one analysis for documents and queries.

Words are lower-cased, stemmed (Snowball; Porter 1980, 2001) in the document's language and stripped of accents.
Scripts written without spaces, and Korean, become overlapping pairs of characters (the usual CJK bigrams).
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from assay.core.later import later
from assay.core.lexicon.word_lists import STOP_WORDS

if TYPE_CHECKING:
    import tantivy
else:
    tantivy = later("tantivy")
LONGEST = 80
"""Bytes; longer words are hashes or encoded data that nobody searches for."""
STEMMERS = {
    "ar": "arabic",
    "da": "danish",
    "de": "german",
    "el": "greek",
    "en": "english",
    "es": "spanish",
    "fi": "finnish",
    "fr": "french",
    "hu": "hungarian",
    "it": "italian",
    "nl": "dutch",
    "no": "norwegian",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sv": "swedish",
    "ta": "tamil",
    "tr": "turkish",
}
DEFAULT = "en"
"""The analysis of a text in an unknown language."""
UNSTEMMED = "xx"
PAIRED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3041-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]+"
)
PLAIN = bytes(ord(chr(code).lower()) if code < 128 and chr(code).isalnum() else ord(" ") for code in range(256))
"""ASCII in lower case, with a space for everything but letters and digits: twice as fast as a regular expression."""
KEPT = 200_000
"""The most stems in memory for each language."""
DIGITS = re.compile(r"0+(?=\d+$)")
JOINED = re.compile(
    "[\u093c\u094d\u09bc\u09cd\u0a3c\u0a4d\u0abc\u0acd\u0b4d\u0bcd\u0c4d\u0ccd\u0d4d\u0dca][\u200c\u200d]?"
)
"""Signs inside words of Indic scripts that the tokenizer takes for the end of a word: virama and nukta."""


def analysis_of(language: str) -> str:
    """The name of the analysis for a language: the language, or `xx` if it has no stemmer."""
    if language in STEMMERS:
        return language
    return DEFAULT if language in ("", "zh", "ja", "ko", "th") else UNSTEMMED


def terms(text: str, analysis: str) -> list[str]:
    """The index terms of `text`, in order."""
    if text.isascii():
        return list(filter(None, map(_stem_cache(analysis).__getitem__, text.encode().translate(PLAIN).split())))
    text = JOINED.sub("", unicodedata.normalize("NFKC", text))
    if PAIRED.search(text):
        text = PAIRED.sub(_pairs, text)
    return _analyzer(analysis).analyze(text)


def name_terms(text: str, analysis: str) -> list[str]:
    """The terms of a name, title or address: "pep-0006" gives `pep`, `6`."""
    return [DIGITS.sub("", term) for term in terms(text, analysis)]


class _StemCache(dict[bytes, str]):
    """Stems by ASCII word: the words of a library recur, so each is stemmed once."""

    def __init__(self, analysis: str) -> None:
        super().__init__()
        self._analyzer = _analyzer(analysis)

    def __missing__(self, word: bytes) -> str:
        if len(self) >= KEPT:
            self.clear()
        found = self._analyzer.analyze(word.decode())
        stem = self[word] = found[0] if found else ""
        return stem


@cache
def _stem_cache(analysis: str) -> _StemCache:
    return _StemCache(analysis)


@cache
def _analyzer(analysis: str) -> tantivy.TextAnalyzer:
    """Splits at everything but letters and digits, as `PLAIN` does for ASCII."""
    filters = tantivy.Filter
    builder = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple()).filter(filters.remove_long(LONGEST))
    builder = builder.filter(filters.lowercase())
    if analysis != UNSTEMMED:
        builder = builder.filter(filters.stemmer(STEMMERS[analysis]))
    return builder.filter(filters.ascii_fold()).build()


_SCRIPTS = (("\u0400", "\u04ff", "ru"), ("\u0600", "\u06ff", "ar"), ("a", "\u024f", "en"))


@lru_cache(maxsize=100_000)
def stem(word: str, analysis: str = "", *, accents: bool = False) -> str:
    """The key that all forms of a casefolded word have; without an analysis, the script decides it.

    With `accents` the key keeps them.
    """
    known = analysis or next((name for low, high, name in _SCRIPTS if low <= word[:1] <= high), UNSTEMMED)
    return "".join(_whole_words(known, accents).analyze(word)) or word


@cache
def _whole_words(analysis: str, accents: bool) -> tantivy.TextAnalyzer:
    filters = tantivy.Filter
    builder = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.raw()).filter(filters.lowercase())
    if analysis != UNSTEMMED:
        builder = builder.filter(filters.stemmer(STEMMERS[analysis]))
    return (builder if accents else builder.filter(filters.ascii_fold())).build()


def _pairs(match: re.Match[str]) -> str:
    run = match[0]
    return " " + " ".join(run[at : at + 2] for at in range(max(1, len(run) - 1))) + " "


@cache
def stop_terms(analysis: str) -> frozenset[str]:
    """The stop words of a language as index terms."""
    words = STOP_WORDS.get("hi" if analysis == UNSTEMMED else analysis, "")
    return frozenset(terms(words, analysis))
