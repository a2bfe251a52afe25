"""How often: which statements only tell another amount.

Any number may say how often something happens ("six times", "for 30 days", "in 1990 and 1994"), except that of a
length, a weight or a price: "the tide rises seven metres" does not say how often it turns.
"""

from __future__ import annotations

import re
from functools import cache

from assay.core.lexicon import NUMBER_WORDS, NUMERALS, TENS
from assay.core.measures import MEASURES, NAMES
from assay.core.patterns import regex
from assay.core.relevance.signs import has_number
from assay.core.relevance.topic_question import TopicQuestion

_ASKED = regex(r"\b(?:how (?:often|frequently|regularly)|wie (?:oft|häufig|regelmäßig))\b", re.IGNORECASE)
_RATE = regex(
    r"\b(?:often|seldom|rarely|always|never|every|each|per|once|twice|thrice|times?|again|regularly|whenever|when|after|(?:at|bei)\s\d+"
    r"|frequent\w*|usually|sometimes|occasionally|hourly|daily|nightly|weekly|monthly|quarterly|yearly|annual\w*"
    r"|an? (?:second|minute|hour|day|night|week|month|season|year|decade|century)|intervals?"
    r"|jede[nmrs]?|alle|pro|oft|häufig|selten|immer|nie|regelmäßig|\w*mals?|wenn|nach"
    r"|(?:stünd|täg|wöchent|monat|jähr)lich\w*)\b",
    re.IGNORECASE,
)
"""Words that say how often, in English and German."""
_OTHERS = ("length", "mass", "area", "volume", "speed", "temperature")
_MONEY = r"dollars?|euros?|pounds?|pence|cents?|francs?|marks?|kron\w+|yen|rupees?|usd|eur|gbp|chf"


def tells_other_amount(question: TopicQuestion, text: str) -> bool:
    """True if a question asks how often, and a text has no numbers but lengths, weights, prices and the like."""
    if not _ASKED.search(question.text) or _RATE.search(text):
        return False
    rest, amounts = _amounts().subn(" ", text)
    return bool(amounts) and not has_number(rest, question.language)


@cache
def _amounts() -> re.Pattern[str]:
    units = (re.escape(name) for name, unit in NAMES.items() if MEASURES[unit].dimension in _OTHERS)
    longest_first = "|".join(sorted(units, key=len, reverse=True))
    number = rf"(?<![\w.,])(?:\d+(?:[.,]\d+)*|(?:{'|'.join((*NUMBER_WORDS, *TENS, *NUMERALS))})\b)"
    numbers = rf"{number}(?:(?:\s|\s?[-–]|\s(?:to|and|or|bis|und|oder)\s){number}){{0,3}}"
    return re.compile(
        rf"[$€£¥]\s?{numbers}|{numbers}(?:[\s\u00a0-]?(?:{longest_first}|{_MONEY})(?!\w)|\s?[$€£¥])", re.IGNORECASE
    )
