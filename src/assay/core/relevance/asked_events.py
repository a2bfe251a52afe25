"""The event whose time a question asks for ("when did he die?"), and which statements tell the time of it.

Any sentence may tell some time: the year in which somebody wrote a book is not that of his death.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from assay.core.lexicon import stop_terms
from assay.core.patterns import regex
from assay.core.relevance.relations import same_verb
from assay.core.relevance.topic_question import TopicQuestion, keys

_ENGLISH = regex(
    r"(?:when|(?:in |on )?(?:what|which) (?:year|month|day|date|century))\s+"
    r"(?:was|were|is|are|did|does|do|has|have|had|will)\s.*?(?P<verb>\S+)",
    re.IGNORECASE,
)
_LIVES = {
    "en": (
        "die died dies dead death killed executed murdered perished passed drowned deceased burial buried funeral",
        "born birth birthday",
    ),
    "de": ("starb starben sterben gestorben verstarb verstorben tod todes tot getötet ermordet", "geboren geburt"),
    "es": ("murió murieron muerte falleció fallecimiento muerto asesinado", "nació nacieron nacimiento nacido nacida"),
    "fr": ("mort morte mourut décès décédé décédée", "né née naquit naissance"),
    "it": ("morì morto morta morte", "nato nata nacque nascita"),
    "pt": ("morreu morto morta morte faleceu", "nascido nascida nasceu nascimento"),
    "nl": ("stierf overleed overleden gestorven dood", "geboren geboorte"),
    "ru": ("умер умерла умерли погиб погибла смерть смерти смертью скончался", "родился родилась рождение рождения"),
}
"""The end and the beginning of a life, in the words by which each language tells it."""
_LIFESPAN = regex(r"\([^()]{0,40}?\d{3,4}\b[^()]{0,30}[–—-][^()]{0,40}?\d{3,4}[^()]{0,20}\)|†|\d{3,4}\s?[–—]\s?\d{3,4}")
_GENERAL = frozenset(
    "happen happened occur occurred begin began begun start started end ended finish finished last exist existed come "
    "came become became appear appeared place going gone used made done".split()
)
"""Verbs that statements of a time rarely repeat: what lasted "from 1939 to 1945" began in 1939."""


_WORD = regex(r"[^\W\d_]{2,}")
_POINTING = regex(
    r"(?<![^\W_])(?:he|she|it|his|her|its|they|their|er|sie|es|sein|seine|seiner|ihr|ihre|ihrer|él|ella|su|il|elle|son|"
    r"sa|lui|lei|suo|sua|он|она|его|её|ее)(?!\w)",
    re.IGNORECASE,
)


def points_to_it(text: str) -> bool:
    """True if a text has a word for something named before it: "he", "its"."""
    return _POINTING.search(text) is not None


def asked_event(question: TopicQuestion) -> str:
    """The verb of the event whose time a question asks for; "" for other questions and verbs without a content."""
    if question.wanted != "date" or question.negating != (question.language or question.negating):
        return ""
    return _event(question.text, question.analysis, question.negating)


@lru_cache(maxsize=512)
def _event(question: str, analysis: str, language: str) -> str:
    said = [word.casefold() for word in _WORD.findall(question)]
    if told := next((word for word in said if _life(word, language)), ""):
        return told
    match = _ENGLISH.fullmatch(question.strip(" ?.!"))
    verb = match["verb"] if match else ""
    empty = verb in _GENERAL or not verb.islower() or not verb.isalpha() or len(verb) < 3
    return "" if empty or stop_terms(analysis).issuperset(keys(verb, analysis)) else verb


def is_of_life(question: TopicQuestion, word: str) -> bool:
    """True if a word tells of a birth or a death."""
    return bool(_life(word, question.negating))


@lru_cache(maxsize=4096)
def _life(word: str, language: str) -> frozenset[str]:
    """The words for the same end of a life."""
    known = (frozenset(words.split()) for words in _LIVES.get(language, ()))
    return next((words for words in known if word in words), frozenset())


def tells_event(question: TopicQuestion, verb: str, texts: Sequence[str]) -> bool:
    """True if one of these texts, a statement and what is around it, names an event."""
    same = _life(verb, question.negating)
    for text in texts:
        said = [word.casefold() for word in _WORD.findall(text)]
        if not same.isdisjoint(said) or (same and _LIFESPAN.search(text)):
            return True
        if any(same_verb(verb, word, question.analysis) for word in said):
            return True
    return False
