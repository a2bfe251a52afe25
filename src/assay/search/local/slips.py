"""Misspelt words of a question: what the index has instead of a word that it does not have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence

import msgspec
import tantivy

from assay.core.function_words import STOP_WORDS
from assay.core.lazy import regex
from assay.core.lexicon import terms
from assay.core.messages import Rarity
from assay.core.relevance.topic_question import CAPITALIZING, language_of
from assay.search.local.index import PASSAGES_SCHEMA
from assay.search.local.local_ranks import IndexSnapshot
from assay.search.local.words import Words

MAX_CHECKED_WORDS = 12
"""Words of a question that are looked up. For speed."""
PASSAGES_READ = 20
"""Passages with a near form that are read for its spelling. For speed."""
MIN_LETTERS, LONG_WORD_LETTERS = 5, 8
"""Letters of a word that may be misspelt; from how many on any but the first may be wrong ("price" is no "prize")."""
_WORD = regex(r"(?<![\w.@/-])[^\W\d_]{3,}(?![\w@/-]|\.\w)")


def rarity_of(view: IndexSnapshot, text: str, scope: Collection[int] | None) -> Rarity:
    """How rare the words of a question are, and those that are probably meant by its slips."""
    meant_words = corrections(view, text, scope)
    rarity = view.rarity(Words(" ".join((text, *meant_words.values())), view.analyses), scope)
    return msgspec.structs.replace(rarity, meant=meant_words)


def corrections(view: IndexSnapshot, text: str, scope: Collection[int] | None) -> dict[str, str]:
    """The words of a question that are nowhere in the index, with what is probably meant: a function word of its
    language, or a word of the documents. A name is kept, since somebody else may have a similar one.
    """
    language = language_of(text)
    functions = frozenset(STOP_WORDS.get(language or "en", "").split())
    meant: dict[str, str] = {}
    for match in list(_WORD.finditer(text))[:MAX_CHECKED_WORDS]:
        word = match[0]
        words = Words(word, view.analyses)
        if len(words.plain) != 1 or word.casefold() in functions or view.knows(words):
            continue
        is_name = match.start() and word[0].isupper() and language not in CAPITALIZING
        if is_name:
            continue
        guess = _meant_function_word(word.casefold(), functions, first=not match.start())
        if guess or (guess := _meant_word(word.casefold(), _near_words(view, words, scope), view.analyses)):
            meant[word] = guess
    return meant


def _meant_function_word(word: str, functions: Iterable[str], *, first: bool) -> str:
    """The function word that a word is with two letters exchanged, or one doubled; "" if it is none.

    The `first` word may also lack one: questions begin with such words ("wich"). Elsewhere it may be another word:
    "wie warm" is not "wie warum".
    """
    least = 3 if first else 4
    candidates = [candidate for candidate in functions if len(candidate) >= least and _is_slip(word, candidate)]
    candidates = candidates if first else [candidate for candidate in candidates if len(candidate) <= len(word)]
    return min(candidates, key=lambda candidate: (sorted(candidate) != sorted(word), candidate), default="")


def _near_words(view: IndexSnapshot, words: Words, scope: Collection[int] | None) -> Counter[str]:
    """The words of passages that have a form near to one of `words`."""
    counts: Counter[str] = Counter()
    for form in words.plain[0]:
        query = tantivy.Query.fuzzy_term_query(PASSAGES_SCHEMA, "text", form)
        for text in view.texts(query, scope, PASSAGES_READ):
            counts.update(match[0].casefold() for match in _WORD.finditer(text))
    return counts


def _meant_word(word: str, counts: Counter[str], analyses: Sequence[str]) -> str:
    """The most frequent of the words that `word` may be a slip for, in any form ("recieve" for "received")."""
    if len(word) < MIN_LETTERS:
        return ""
    word_forms = _forms(word, analyses)
    candidates = [
        candidate
        for candidate in counts
        if candidate[0] == word[0]
        and any(
            _is_slip(form, other_form) or _is_near(form, other_form)
            for form, other_form in zip(word_forms, _forms(candidate, analyses), strict=True)
        )
    ]
    return max(candidates, key=lambda candidate: (_is_slip(word, candidate), counts[candidate], candidate), default="")


def _forms(word: str, analyses: Sequence[str]) -> list[str]:
    """The word, and its form in each analysis; empty for a short one, which is near to many."""
    forms = (word, *("".join(terms(word, analysis)) for analysis in analyses))
    return [form if len(form) >= MIN_LETTERS else "" for form in forms]


def _is_slip(word: str, other: str) -> bool:
    """True if two neighbouring letters are exchanged, or one has a letter once that the other has twice.

    Also if a short word lacks one inside, as function words do ("wich").
    """
    if len(word) == len(other):
        differences = [index for index in range(len(word)) if word[index] != other[index]]
        return len(differences) == 2 and differences[1] == differences[0] + 1 and sorted(word) == sorted(other)
    short, long = sorted((word, other), key=len)
    if len(long) != len(short) + 1:
        return False
    index = next((index for index, letter in enumerate(short) if letter != long[index]), len(short))
    is_doubled = index > 0 and long[index] == long[index - 1]
    return short[index:] == long[index + 1 :] and (
        is_doubled or (long is other and len(word) < MIN_LETTERS and index < len(short))
    )


def _is_near(word: str, other: str) -> bool:
    """True if one letter of a long word is another, or missing, before its last one: an ending is no slip."""
    if len(word) < LONG_WORD_LETTERS or abs(len(word) - len(other)) > 1:
        return False
    short, long = sorted((word, other), key=len)
    index = next((index for index, letter in enumerate(short) if letter != long[index]), len(short))
    rest_start = index + (len(long) == len(short))
    return index < len(short) - 1 and short[rest_start:] == long[index + 1 :]
