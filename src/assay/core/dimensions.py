"""What is measured of a thing, as languages say it: a length is what is "450 metres long", an age is "12 years old".

A dimension has nouns ("length"), and words that go with a number of it ("long"). Either may stand on either side of the
number and its unit: "450 metres long", "450 metres in length", "a length of 450 metres", "weighs three tonnes".
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

UNSURE = "ton"
"""A unit that has a different weight in each country."""
_NOUNS = {
    "length": "length länge longueur longitud lunghezza comprimento lengte",
    "height": "height höhe hauteur altura altezza hoogte",
    "depth": "depth tiefe profondeur profundidad profondità profundidade diepte",
    "width": "width breadth breite largeur anchura larghezza largura breedte",
    "age": "age alter âge edad età idade leeftijd",
    "weight": "weight mass gewicht masse poids peso masa massa",
}
_WORDS = {
    "en": "long; high tall; deep; wide broad; old aged; weigh* weighing",
    "de": "lang*; hoch hohe*; tief*; breit*; alt*; wieg* wog* schwer*",
    "fr": "long* longue*; haut*; profond*; large*; âgé*; pèse* pesai* pesant",
    "es": "larg*; alt*; profund* hond*; anch*; tiene tenía; pesa*",
    "it": "lung*; alt*; profond*; larg*; ha; pesa*",
    "pt": "comprid*; alt*; profund* fund*; larg*; tem tinha; pesa*",
    "nl": "lang*; hoog hoge; diep*; breed brede; oud*; weegt wegen woog",
}
"""The words that go with a number, for the dimensions in their order; `*` is an ending of up to two letters. By
language, since one word may be two dimensions: "largo" is long in Spanish and wide in Italian.
"""
_EXTENT = {
    "km": r"km|kilom[eè]t\w*|kilómetr\w*|chilometr\w*|quil[ôó]metr\w*",
    "cm": r"cm|[cz]entim[eè]t\w*|centímetr\w*",
    "mm": r"mm|mill?im[eè]t\w*|milímetr\w*",
    "m": r"m|met(?:er|re|ro|ri)\w*|mètres?",
    "mile": r"miles?|meilen?|milles?|millas?|miglia|milhas?",
    "yard": r"yards?|yd",
    "foot": r"feet|foot|ft|fuß|pieds?|pies|piedi|pés|voet",
    "inch": r"inch(?:es)?|zoll|pouces?|pulgadas?|pollici|polegadas?",
}
_UNITS = {
    **dict.fromkeys(("length", "height", "depth", "width"), _EXTENT),
    "age": {
        "year": r"years?|yrs?|jahre?n?|ans?|années?|años?|ann[io]|anos?|jaar",
        "month": r"months?|monate?n?|mois|mes(?:es)?|mes[ei]|m[eê]s(?:es)?|maand(?:en)?",
    },
    "weight": {
        "kg": r"kg|kilos?|kilogram\w*|kilogramm\w*|quilos?|chil[io]",
        "tonne": r"t|tonn?(?:e|en|es|ellate?)|toneladas?|ton",
        UNSURE: r"tons",
        "g": r"g|gram\w*|gramm\w*",
        "pound": r"pounds?|lbs?|pfund|livres?|libras?|libbre",
    },
}
"""The units of `core.measures` in which a dimension is measured, as languages write them."""
_LINK = r"(?:de|d['’]|di|da|in|of|en|von|van|an|um)"
_NUMBER = r"(?<![\w.,–-])(?P<number>\d{1,3}(?:[ \u00a0\u202f]\d{3})+(?:[.,]\d+)?|\d+(?:[.,'’]\d+)*)"
_BETWEEN = r"[ \u00a0\u202f-]?"


class StatedMeasure(NamedTuple):
    """A number of a dimension in a text: `[start, end)` of what says it, the number as written, and its unit.

    `thing` is what follows a length that stands before what is long: "the 4-kilometre Drogden Tunnel".
    """

    start: int
    end: int
    number: str
    unit: str
    thing: str


def dimension_of(text: str) -> str:
    """The dimension that a text names by its noun; "" for none."""
    folded = text.casefold()
    return next((name for name, nouns in _NOUNS.items() if _any_word_pattern(nouns).search(folded)), "")


def unit_of(text: str, dimension: str) -> str:
    """The unit of a dimension that a text names: `m` for "length in metres"; "" for none."""
    match = re.search(rf"(?<!\w){_units_pattern(dimension)}(?!\w)", text, re.IGNORECASE)
    return _matched_group(match) if match else ""


def stated_measures(text: str, dimension: str, language: str) -> list[StatedMeasure]:
    """The numbers of a dimension in a text, by the words of its language; of all, if it is unknown or has none here."""
    matches = _measure_pattern(dimension, language if language in _WORDS else "").finditer(text)
    return [
        StatedMeasure(
            *match.span(),
            match["number"] or match["after"] or match["joined"],
            _matched_group(match),
            match["thing"] or "",
        )
        for match in matches
    ]


def _matched_group(match: re.Match[str]) -> str:
    return next((name.strip("_") for name, value in match.groupdict().items() if value and name[0] == "_"), "")


def _units_pattern(dimension: str, mark: str = "") -> str:
    return "(?:" + "|".join(f"(?P<_{name}{mark}>{words})" for name, words in _UNITS[dimension].items()) + ")"


@cache
def _any_word_pattern(words: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{'|'.join(words.split())})(?!\w)")


@cache
def dimension_words(dimension: str, language: str = "") -> frozenset[str]:
    """The words that name a dimension in a language, or in all; `*` is an ending."""
    index = list(_NOUNS).index(dimension)
    word_lists = [_WORDS[language]] if language else _WORDS.values()
    return frozenset(
        (
            *_NOUNS[dimension].split(),
            *(word for word_list in word_lists for word in word_list.split("; ")[index].split()),
        )
    )


@cache
def _measure_pattern(dimension: str, language: str) -> re.Pattern[str]:
    nouns = "|".join(word.replace("*", r"\w{0,2}") for word in sorted(dimension_words(dimension, language)))
    after, joined = (_NUMBER.replace("<number>", f"<{name}>") for name in ("after", "joined"))
    end, not_of = r"(?!\w)", r"(?! (?:de|di|of) (?!edad|età|idade|age))"
    return re.compile(
        rf"{_NUMBER}{_BETWEEN}{_units_pattern(dimension)}[ -](?:{_LINK} ?)?(?:{nouns}){end}"
        rf"|(?<!\w)(?:{nouns})(?: [^\W\d]+){{0,2}}? (?:{_LINK} ?)?{after}{_BETWEEN}"
        rf"{_units_pattern(dimension, '_')}{end}{not_of}"
        rf"|{joined}-{_units_pattern(dimension, '__')}(?= (?P<thing>\w+(?: \w+){{0,3}}))"
        rf"{'' if dimension == 'length' else '(?!)'}",
        re.IGNORECASE,
    )
