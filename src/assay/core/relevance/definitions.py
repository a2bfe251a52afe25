"""Definitions: what a question asks the meaning of ("what is a sponsor?"), and which statements define it.

What something does is asked like what it is ("what does the script do?"): a sentence whose subject it is tells that.

A definition opens with the thing and says what it is ("a sponsor is a member who …"), or names it before a colon, a
dash or an equals sign, as a glossary does. The first sentence under a heading that is only its name is nearly one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from assay.core.lexicon import stop_terms
from assay.core.patterns import regex
from assay.core.relevance.relevance_constants import DEFINING_WEIGHT, INTRODUCING_WEIGHT
from assay.core.relevance.topic_question import QuotableStatement, TopicQuestion, keys

_ASKED = [
    regex(pattern, re.IGNORECASE)
    for pattern in (
        r"(?:what|who)(?:['’]s|\s+(?:is|are|was|were)(?:\s+meant\s+by)?)\s+(?P<thing>.+)",
        r"what\s+(?:do|does|did)\s+(?P<thing>.+?)\s+(?:mean|stand\s+for|denote)",
        r"(?:was|wer)\s+(?:ist|sind|war|waren|bedeutet|bedeuten|heißt)\s+(?P<thing>.+)",
        r"(?:qu['’]est-ce\s+(?:que\s+|qu['’])|qui\s+(?:est|sont|était)\s+|que\s+signifien?t?\s+)(?P<thing>.+)",
        r"(?:qué|quién|quiénes)\s+(?:es|son|era|fue|significan?)\s+(?P<thing>.+)",
        r"что\s+(?:такое|означает|значит)\s+(?P<thing>.+)|кто\s+так(?:ой|ая|ие)\s+(?P<who>.+)",
    )
]
_DEEDS = regex(r"what\s+(?:does|do|did)\s+(?P<thing>.+?)\s+do", re.IGNORECASE)
_DOING = regex(
    r"(?:(?:the|this)\s+)?(?P<thing>\S+(?:\s\S+){0,2}?)(?:\s+(?:command|script|program|utility|tool|option|function|"
    r"parameter|variable|file|setting|directive|game|method|class|module))?\s+(?:[a-z]+ly\s+|will\s+|can\s+)?"
    r"(?!is\b|was\b|has\b|does\b)[a-z]{2,}s\b",
    re.IGNORECASE,
)
"""A thing with a verb: "the script sends a signal"."""
_WITHIN = regex(r"\s(?:in|on|at|for|within|with|bei|im|für|dans|en|para|в|для)\s", re.IGNORECASE)
"""Before where a thing is what it is: "a pool in Ninja"."""
_OPENING = regex(r"^(?:[A-Z]:\s+)?[\W_]*")
"""What may stand before a definition: quotation marks, and the "A:" of questions and answers."""
_NOUN = r"(?:an?|the|one|any\w*|some\w*|another|each|every\w*|what|whatever|those|people|short)\b"
_KIND_OF = r"(?:(?:simply|just|essentially|basically|usually|generally|also)\s+)?"
_PLURAL = (
    r"are\s+(?!\w+(?:ed|ing|en|ght|wn|lt)\b|(?:not|in|on|at|to|by|for|from|of|with|also|only|always|never|often|no|as|"
    r"very|too|more|most|less|done|sent|made|kept|held|put|built|found|read|run|here|there|now|then)\b)[^\W\d_]"
)
"""A noun without an article; a participle or an adverb says nothing of what the things are."""
_SAYS = (
    rf"(?:(?:is|are|was|were)\s+{_KIND_OF}{_NOUN}|{_PLURAL}|means?\b|denotes?\b|refers?\s+to\b|stands?\s+for\b"
    r"|(?:ist|sind|war|waren)\s+(?:eine?|der|die|das)\b|bedeutet\b|bezeichnet\b"
    r"|(?:est|sont|était)\s+(?:une?|les?|la|l['’]|des)|signifie\b|désigne\b"
    r"|(?:es|son|era|fue)\s+(?:una?|unos|unas|el|la|los|las)\b|significa\b)"
)
_DEFINING = regex(
    rf"(?!(?i:this|these|those|that|such|his|her|its|their|our|my|your)\b)(?P<thing>[^:=;.!?()]{{1,80}}?)(?:\s*\([^)]*\))?(?:,[^,]{{1,60}},)?"
    rf"\s*(?:(?<=[\s)\"”’'`])(?i:{_SAYS})|[:=]\s+\S|\s[–—-]\s*(?:это\s)?)"
)


FEWEST_TOLD = 3
"""The fewest words that describe something."""


def defining(question: TopicQuestion, statements: Sequence[QuotableStatement]) -> list[float]:
    """What each statement gains since it defines what the question asks the meaning of; 0 for all if it asks none."""
    asked, deeds = thing_asked(question), _deeds(question.text) is not None
    places = range(len(statements))
    return [_gain(asked, statements, at, question.analysis, deeds=deeds) if asked else 0.0 for at in places]


def _deeds(question: str) -> re.Match[str] | None:
    return _DEEDS.fullmatch(question.strip(" ?.!"))


def _gain(
    asked: frozenset[str], statements: Sequence[QuotableStatement], at: int, analysis: str, *, deeds: bool
) -> float:
    each = statements[at]
    if _is_described(each, asked, analysis) or _defines(each, asked, analysis, deeds=deeds):
        return DEFINING_WEIGHT
    earlier = (other for other in statements[:at] if other.source == each.source)
    first = _introduces(each, asked, analysis) and not any(_introduces(other, asked, analysis) for other in earlier)
    return INTRODUCING_WEIGHT if first else 0.0


def _is_described(each: QuotableStatement, asked: frozenset[str], analysis: str) -> bool:
    """True if a statement describes what its label names, as in a list of definitions."""
    told = each.text.removeprefix(each.label)
    return each.kind == "prose" and len(told.split()) >= FEWEST_TOLD and _names(each.label, analysis) == asked


def _defines(each: QuotableStatement, asked: frozenset[str], analysis: str, *, deeds: bool) -> bool:
    """True if a statement opens with the thing, and says what it is. Code that assigns a value to a name does not."""
    found = _DEFINING.match(_OPENING.sub("", each.text, count=1))
    told = found is not None and _names(found["thing"], analysis) == asked
    if deeds and each.kind == "prose" and not told:
        done = _DOING.match(_OPENING.sub("", each.text, count=1))
        return done is not None and _names(done["thing"], analysis) == asked
    return told and (each.kind != "code" or re.search(rf"=\s+{_NOUN}", each.text) is not None)


def _introduces(each: QuotableStatement, asked: frozenset[str], analysis: str) -> bool:
    """True if a sentence speaks of the thing under a heading that is only its name."""
    heading = each.heading.rpartition(">")[2]
    under = each.kind == "prose" and bool(heading) and _names(heading, analysis) == asked
    return under and asked <= set(keys(each.text, analysis))


def is_defined_by(question: TopicQuestion, name: str) -> bool:
    """True if a question asks the meaning of this name and of nothing else."""
    return bool(asked := thing_asked(question)) and _names(name, question.analysis) == asked


def thing_asked(question: TopicQuestion) -> frozenset[str]:
    """The keys of what a question asks the meaning of; empty if it asks something else."""
    return _thing(question.text, question.analysis)


@lru_cache(maxsize=512)
def _thing(question: str, analysis: str) -> frozenset[str]:
    plain = question.strip(" ¿?？.!")
    match = _deeds(question) or next(filter(None, (pattern.fullmatch(plain) for pattern in _ASKED)), None)
    said = next(filter(None, match.groups()), "") if match else ""
    return _names(_WITHIN.split(said)[0], analysis)


@lru_cache(maxsize=16384)
def _names(text: str, analysis: str) -> frozenset[str]:
    """The keys of the words of a name that have a topic."""
    return frozenset(keys(text, analysis)) - stop_terms(analysis)
