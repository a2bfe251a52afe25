"""Numbers in German, French and Spanish words: "zwölf", "zweihundertdreißig", "quatre-vingt-dix", "treinta y dos"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from assay.core.lazy import regex

_ONES = (
    "eins ein eine einen einer un ún une uno una|zwei deux dos dós|drei trois tres trés|vier quatre cuatro"
    "|fünf cinq cinco"
    "|sechs six seis séis|sieb sieben sept siete|acht huit ocho|neun neuf nueve|zehn dix diez|elf onze once"
    "|zwölf douze doce|dreizehn treize trece|vierzehn quatorze catorce|fünfzehn quinze quince|sechzehn seize dieciséis"
    "|siebzehn diecisiete|achtzehn dieciocho|neunzehn diecinueve"
)
_TENS = (
    "zwanzig vingts vingt veinte veinti|dreißig dreissig trente treinta|vierzig quarante cuarenta"
    "|fünfzig cinquante cincuenta|sechzig soixante sesenta|siebzig septante setenta|achtzig octante huitante ochenta"
    "|neunzig nonante noventa"
)
_HUNDREDS = "|doscient|trescient|cuatrocient|quinient|seiscient|setecient|ochocient|novecient"
_VALUES = (
    {word: value for value, words in enumerate(_ONES.split("|"), 1) for word in words.split()}
    | {word: 10 * ten for ten, words in enumerate(_TENS.split("|"), 2) for word in words.split()}
    | {f"{word}{end}": 100 * hundred for hundred, word in enumerate(_HUNDREDS.split("|"), 1) for end in ("os", "as")}
    | dict.fromkeys(("hundert", "cent", "cents", "cien", "ciento"), 100)
    | dict.fromkeys(("tausend", "mille", "mil"), 1000)
    | dict.fromkeys(("million", "millionen", "millions", "millón", "millones"), 10**6)
    | dict.fromkeys(("milliarde", "milliarden", "milliard", "milliards"), 10**9)
)
_NOT_ALONE = frozenset(("cent", "cents", "mil", "million", "once", "sieb", *_ONES.partition("|")[0].split()))
"""Articles, and words that English texts have in another sense."""
_WORD = "|".join(sorted(_VALUES, key=len, reverse=True))
_JOINT = r"(?:und|-et-|-| et | y | )?"
_PARTS = regex(rf"({_JOINT})({_WORD})", re.IGNORECASE)
NUMBER_WORDS = regex(
    rf"(?<![\w-])(?>{_WORD})(?>{_JOINT}(?:{_WORD}))*+(?![\w-])(?! (?:et|y|und) (?:demi|medi|ein))(?: \(\d{{1,9}}\))?",
    re.IGNORECASE,
)


def numbers_in_words(text: str) -> Iterator[re.Match[str]]:
    """The numbers of a text that are written in these languages' words."""
    return (match for match in NUMBER_WORDS.finditer(text) if value_of(match[0]) is not None)


def value_of(words: str) -> int | None:
    """The value of words for one number; None if they are none, or several: "drei vier"."""
    words = words.casefold().partition(" (")[0]
    if words in _NOT_ALONE or NUMBER_WORDS.fullmatch(words) is None:
        return None
    total, group = 0, 0
    for joint, word in _PARTS.findall(words):
        value = _VALUES[word]
        if value >= 1000:
            smaller = total % (1000 * value)  # of "dos mil quinientos millones" what counts millions
            if smaller + group >= (1000 if value == 1000 else 10**6):
                return None
            total, group = total - smaller + max(smaller + group, 1) * value, 0
        elif value == 100 and group < 10:
            group = max(group, 1) * value
        elif value == 20 and group % 100 == 4 and joint == "-":  # quatre-vingt
            group += 76
        elif _may_follow(group, value, joint):
            group += value
        else:
            return None
    return total + group


def _may_follow(group: int, value: int, joint: str) -> bool:
    """True if a number below a thousand may go on with this one: 60 with 17, as in French, and 5 with "undzwanzig"."""
    below = group % 100
    if value < 10:
        return below == 0 or (below >= 20 and below % 10 == 0)
    if value < 20:
        return below in (0, 60, 80)
    if value < 100:
        return below == 0 or (below < 10 and joint == "und")
    return group == 0
