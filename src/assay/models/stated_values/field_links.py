"""How a sentence links a value with the words of a field: "the tenant is X", "X (the tenant)", "a deposit of 40".

A value that only stands in the same sentence may be of anything else in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from assay.core.languages import question_language
from assay.core.lazy import regex
from assay.core.lexicon import NEGATIVES, stop_terms
from assay.core.text import words
from assay.models.stated_values.field_words import Span

MAX_LINK_WORDS = 5
"""The most words between a field's words and its value. By hand."""
MAX_BESIDE_WORDS = 2
"""The most words between a number and the field's words that it stands beside. By hand."""
_ARTICLE = r"(?:(?:an?|the|our|its|his|her|their|der|die|das|dem|den|ein|eine|le|la|les|un|une|el|los|una)\s+|l['’])?"
_IS = (
    r"(?:(?:is|are|was|were|remains?|became|becomes|has been|ist|sind|war|waren|bleibt|est|sont|était|es|son|era)"
    r"(?:\s+(?:now|still|currently|again|jetzt|derzeit))?)"
)
_OF = rf"(?:\s+(?:of|for|der|des|von|du|de|del|della)\s+{_ARTICLE}[\w'’-]+(?:\s+[A-Z][\w'’-]+)*)?"
_TITLE = r"(?:(?:Mr|Mrs|Ms|Dr|Prof|Sir|Dame|Lady|Lord|Cllr|Herr|Frau|Mme|M)\.?\s+)?"
_BY = r"(?:by|durch|von|par|por)"
_AFTER = regex(
    rf"{_OF}\s*(?:,\s*|:\s*|\s[–—-]\s|\s+{_IS}\s+|\s+(?:called|named|namens)\s+|(?:\s+{_IS})?\s+{_BY}\s+|\s+{_IS}\s+in\s+|\s+)"
    rf"{_ARTICLE}{_TITLE}",
)
"""What stands between a field's words and a name behind them."""
_BEFORE = regex(rf"\s*(?:,|\s[–—-])?\s+(?:{_IS}\s+)?{_ARTICLE}|\s+")
"""What stands between a name and a field's words behind it."""
_BRACKET = regex(rf"\s*[(\[][\"“'„]?(?:as\s+)?{_ARTICLE}")
"""The same of a field's words in brackets: "Marram Ltd (the Landlord)"."""
_ROLE = regex(rf"\bas\s+{_ARTICLE}$")
_OTHER = regex(r"[A-ZÀ-ÖØ-ÞĀ-ŽΑ-ΩА-Я]|\b(?:him|her|them|ihn|sie|le|la|lo)\b")
_CLAUSE_END = regex(r"[;:.!?]\s|,\s(?:and|but|who|which)\b")


def linked_name(text: str, spans: Sequence[Span], names: Iterable[re.Match[str]]) -> re.Match[str] | None:
    """The name that a sentence links with a field, whose words stand at `spans`; None without one."""
    first, last = _phrase(text, spans)
    ranked = [(rank, match) for match in names if (rank := _link(text, first, last, match)) is not None]
    return min(ranked, key=lambda pair: pair[0])[1] if ranked else None


def _link(text: str, first: int, last: int, name: re.Match[str]) -> int | None:
    """How directly a name is linked with the words from `first` to `last`; 0 is the most direct, None not at all."""
    if name.end() <= first:
        gap = text[name.end() : first]
        if _BRACKET.fullmatch(gap):
            return 0
        if _BEFORE.fullmatch(gap):
            return 3 if "," in gap else 2
        return 2 if _ROLE.search(gap) and _is_only_one(text[: name.start()], gap) else None
    gap = text[last : name.start()]
    return 1 if _AFTER.fullmatch(gap) and not _denies(gap) else None


def _is_only_one(before: str, gap: str) -> bool:
    """True if nobody else is named before "as the keeper": a name that begins the sentence, or stands next to it."""
    if len(gap.split()) <= 2:  # "as", and an article
        return True
    others = _OTHER.search(gap) or _CLAUSE_END.search(gap) or _denies(gap)
    return not before.strip() and not others


def _phrase(text: str, spans: Sequence[Span]) -> Span:
    """Where the words of a field stand together: the last run of them with at most two other words between."""
    first, last = spans[-1]
    for start, end in reversed(spans[:-1]):
        if len(text[end:first].split()) > MAX_LINK_WORDS // 2:
            break
        first = start
    return first, last


def _denies(text: str) -> bool:
    return not NEGATIVES.isdisjoint(words(text))


def is_linked_number(text: str, spans: Sequence[Span], number: re.Match[str]) -> bool:
    """True if only small words stand between a number and a field's words: "a deposit of £40", "12 ships"."""
    small = stop_terms(question_language(text) or "en")
    for start, end in spans:
        gap = text[end : number.start()] if number.start() >= end else text[number.end() : start]
        between = words(gap)
        if (
            len(between) < MAX_LINK_WORDS
            and set(between) <= small
            and not _denies(gap)
            and not re.search(r"[;()]", gap)
        ):
            return True
    return False


def numbers_beside(text: str, spans: Sequence[Span], numbers: Sequence[re.Match[str]]) -> set[int]:
    """Where the numbers begin that are nearest to some of these words, with at most two words between."""
    beside: set[int] = set()
    for start, end in spans:
        gaps = [
            (len(words(text[end : number.start()] if number.start() >= end else text[number.end() : start])), number)
            for number in numbers
        ]
        words_between, nearest = min(gaps, key=lambda pair: pair[0], default=(MAX_LINK_WORDS, None))
        if nearest is not None and words_between <= MAX_BESIDE_WORDS:
            beside.add(nearest.start())
    return beside


_PARTICIPLE = regex(r"(?:[a-z]{3,}ed|held|made|put|set|sold|built|taken|given|kept|led|paid|found|done)(?:\s+\w+)+")
_NO_THING = frozenset(
    "not no never unknown unclear expected planned likely due to in at on by with for from under".split()
)


def is_thing(value: str) -> bool:
    """True if what a sentence says that a field is can be its value, and not what was done to it, or is denied."""
    first = (words(value) or [""])[0]
    return first not in _NO_THING and not _PARTICIPLE.fullmatch(value.strip())
