"""What is measured of a thing, as languages say it: a length is what is "450 metres long", an age is "12 years old".

A dimension has nouns ("length"), and words that go with a number of it ("long"). Either may stand on either side of the
number and its unit: "450 metres long", "450 metres in length", "a length of 450 metres", "weighs three tonnes".
"""

from __future__ import annotations

import re
from decimal import Decimal
from functools import cache
from typing import NamedTuple

from assay.core.lazy import regex

_NOUNS = {
    "length": "length länge longueur longitud lunghezza comprimento lengte",
    "height": "height höhe hauteur altura altezza hoogte",
    "depth": "depth tiefe profondeur profundidad profondità profundidade diepte",
    "width": "width breadth breite largeur anchura larghezza largura breedte",
    "age": "age alter âge edad età idade leeftijd",
    "weight": "weight mass gewicht masse poids peso masa massa",
}
_WORDS = {
    "en": {
        "length": "long",
        "height": "high tall",
        "depth": "deep",
        "width": "wide broad",
        "age": "old aged",
        "weight": "weigh weighs weighed weighing",
    },
    "de": {
        "length": "lang lange langer langes langen",
        "height": "hoch hohe hoher hohes hohen",
        "depth": "tief tiefe tiefer tiefes tiefen",
        "width": "breit breite breiter breites breiten",
        "age": "alt alte alter altes alten",
        "weight": "wiegt wiegen wog wogen schwer schwere schwerer schweres",
    },
    "fr": {
        "length": "long longue longs longues",
        "height": "haut haute hauts hautes",
        "depth": "profond profonde profonds profondes",
        "width": "large larges",
        "age": "âgé âgée âgés âgées",
        "weight": "pèse pèsent pesait pesant",
    },
    "es": {
        "length": "largo larga largos largas",
        "height": "alto alta altos altas",
        "depth": "profundo profunda profundos profundas hondo honda",
        "width": "ancho ancha anchos anchas",
        "age": "tiene tenía",
        "weight": "pesa pesan pesaba",
    },
    "it": {
        "length": "lungo lunga lunghi lunghe",
        "height": "alto alta alti alte",
        "depth": "profondo profonda profondi profonde",
        "width": "largo larga larghi larghe",
        "age": "ha",
        "weight": "pesa pesano pesava",
    },
    "pt": {
        "length": "comprido comprida",
        "height": "alto alta altos altas",
        "depth": "profundo profunda fundo funda",
        "width": "largo larga largos largas",
        "age": "tem tinha",
        "weight": "pesa pesam pesava",
    },
    "nl": {
        "length": "lang lange",
        "height": "hoog hoge",
        "depth": "diep diepe",
        "width": "breed brede",
        "age": "oud oude",
        "weight": "weegt wegen woog",
    },
}
"""By language, since one word may be two dimensions: "largo" is long in Spanish and wide in Italian."""
_EXTENT = {
    "km": r"km|kilom[eè]t\w*|kilómetr\w*|chilometr\w*|quil[ôó]metr\w*",
    "cm": r"cm|[cz]entim[eè]t\w*|centímetr\w*",
    "mm": r"mm|mill?im[eè]t\w*|milímetr\w*",
    "m": r"m|met(?:er|re|ro|ri)\w*|mètres?",
    "mi": r"miles?|meilen?|milles?|millas?|miglia|milhas?",
    "yd": r"yards?|yd",
    "ft": r"feet|foot|ft|fuß|pieds?|pies|piedi|pés|voet",
    "in": r"inch(?:es)?|zoll|pouces?|pulgadas?|pollici|polegadas?",
}
_UNITS = {
    **dict.fromkeys(("length", "height", "depth", "width"), _EXTENT),
    "age": {
        "year": r"years?|yrs?|jahre?n?|ans?|années?|años?|ann[io]|anos?|jaar",
        "month": r"months?|monate?n?|mois|mes(?:es)?|mes[ei]|m[eê]s(?:es)?|maand(?:en)?",
    },
    "weight": {
        "kg": r"kg|kilos?|kilogram\w*|kilogramm\w*|quilos?|chil[io]",
        "t": r"t|tonn?(?:e|en|es|ellate?)|toneladas?|ton",
        "ton": r"tons",
        "g": r"g|gram\w*|gramm\w*",
        "lb": r"pounds?|lbs?|pfund|livres?|libras?|libbre",
    },
}
_SIZES = {
    unit: Decimal(size)
    for unit, size in (
        *(("km", "1000"), ("m", "1"), ("cm", "0.01"), ("mm", "0.001")),
        *(("mi", "1609.344"), ("yd", "0.9144"), ("ft", "0.3048"), ("in", "0.0254")),
        *(("year", "12"), ("month", "1")),
        *(("t", "1000"), ("kg", "1"), ("g", "0.001"), ("lb", "0.45359237")),
    )
}
"""Units as multiples of one of their dimension. A "ton" is none: it has a different weight in each country."""
_LINK = r"(?:de|d['’]|di|da|in|of|en|von|van|an|um)"
_NUMBER = r"(?<![\w.,–-])(?P<number>\d{1,3}(?:[ \u00a0\u202f]\d{3})+(?:[.,]\d+)?|\d+(?:[.,'’]\d+)*)"
_BETWEEN = r"[ \u00a0\u202f-]?"


class StatedMeasure(NamedTuple):
    """A number of a dimension in a text: `[start, end)` of what says it, the number as written, and its unit."""

    start: int
    end: int
    number: str
    unit: str


def dimension_of(text: str) -> str:
    """The dimension that a text names by its noun; "" for none."""
    folded = text.casefold()
    return next((name for name, nouns in _NOUNS.items() if _any(nouns).search(folded)), "")


def unit_of(text: str, dimension: str) -> str:
    """The unit of a dimension that a text names: `m` for "length in metres"; "" for none."""
    match = re.search(rf"(?<!\w){_units(dimension)}(?!\w)", text, re.IGNORECASE)
    return _matched_group(match) if match else ""


def converted(value: Decimal, unit: str, to: str) -> Decimal | None:
    """A number of a unit in another of the same dimension; None if one of them has no certain size."""
    if unit == to:
        return value
    return value * _SIZES[unit] / _SIZES[to] if unit in _SIZES and to in _SIZES else None


def stated(text: str, dimension: str, language: str) -> list[StatedMeasure]:
    """The numbers of a dimension in a text, by the words of its language; of all, if it is unknown or has none here."""
    found = _measure_pattern(dimension, language if language in _WORDS else "").finditer(text)
    return [StatedMeasure(*match.span(), match["number"] or match["after"], _matched_group(match)) for match in found]


def lengths_of_things(text: str) -> list[tuple[StatedMeasure, str]]:
    """The numbers that English says before a long thing, with what follows: "the 4-kilometre Drogden Tunnel"."""
    found = _LENGTH_OF_THING.finditer(text)
    return [
        (StatedMeasure(*match.span("said"), match["number"], _matched_group(match)), match["thing"]) for match in found
    ]


def _matched_group(match: re.Match[str]) -> str:
    return next((name.strip("_") for name, value in match.groupdict().items() if value and name[0] == "_"), "")


def _units(dimension: str, mark: str = "") -> str:
    return "(?:" + "|".join(f"(?P<_{name}{mark}>{words})" for name, words in _UNITS[dimension].items()) + ")"


_LENGTH_OF_THING = regex(rf"(?P<said>{_NUMBER}-{_units('length')}) (?P<thing>\w+(?: \w+){{0,3}})", re.IGNORECASE)


@cache
def _any(words: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{'|'.join(words.split())})(?!\w)")


@cache
def words_of(dimension: str) -> frozenset[str]:
    """The words that name a dimension and its units, in all languages; units that are patterns are left out."""
    said = [*_NOUNS[dimension].split(), *(word for each in _WORDS.values() for word in each[dimension].split())]
    return frozenset((*said, *_UNITS[dimension]))


@cache
def _measure_pattern(dimension: str, language: str) -> re.Pattern[str]:
    known = [_WORDS[language]] if language else list(_WORDS.values())
    said = "|".join(
        word for words in (*(each[dimension] for each in known), _NOUNS[dimension]) for word in words.split()
    )
    after = _NUMBER.replace("<number>", "<after>")
    end, other = r"(?!\w)", r"(?! (?:de|di|of) (?!edad|età|idade|age))"
    return re.compile(
        rf"{_NUMBER}{_BETWEEN}{_units(dimension)}[ -](?:{_LINK} ?)?(?:{said}){end}"
        rf"|(?<!\w)(?:{said})(?: [^\W\d]+){{0,2}}? (?:{_LINK} ?)?{after}{_BETWEEN}{_units(dimension, '_')}{end}{other}",
        re.IGNORECASE,
    )
