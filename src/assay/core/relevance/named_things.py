"""The things that a question names: what defines them, their entries in a reference, and names that are nowhere."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

from assay.core.lazy import regex
from assay.core.lexicon import stop_terms
from assay.core.relevance.features import Features
from assay.core.relevance.relevance_constants import (
    DEFINING_WEIGHT,
    ENTRY_WEIGHT,
    FEWEST_NAMING,
    OPENING_WEIGHTS,
)
from assay.core.relevance.signs import REASON
from assay.core.relevance.topic_question import QuotableStatement, TopicQuestion, keys, near_keys
from assay.core.tables.records import is_field
from assay.core.text import words

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


def definition_gains(question: TopicQuestion, statements: Sequence[QuotableStatement]) -> list[float]:
    """What each statement gains since it defines what the question asks the meaning of; 0 for all if it asks none."""
    asked, analysis = thing_asked(question), question.analysis
    return [
        DEFINING_WEIGHT if asked and (_is_described(each, asked, analysis) or _defines(each, asked, analysis)) else 0.0
        for each in statements
    ]


def _is_described(each: QuotableStatement, asked: frozenset[str], analysis: str) -> bool:
    """True if a statement describes what its label names, as in a list of definitions."""
    told = each.text.removeprefix(each.label)
    return each.kind == "prose" and len(told.split()) >= FEWEST_TOLD and _names(each.label, analysis) == asked


def _defines(each: QuotableStatement, asked: frozenset[str], analysis: str) -> bool:
    """True if a statement opens with the thing, and says what it is."""
    found = _DEFINING.match(_OPENING.sub("", each.text, count=1))
    return found is not None and _names(found["thing"], analysis) == asked


def is_defined_by(question: TopicQuestion, name: str) -> bool:
    """True if a question asks the meaning of this name and of nothing else."""
    return bool(asked := thing_asked(question)) and _names(name, question.analysis) == asked


def thing_asked(question: TopicQuestion) -> frozenset[str]:
    """The keys of what a question asks the meaning of; empty if it asks something else."""
    return _thing_keys(question.text, question.analysis)


@lru_cache(maxsize=512)
def _thing_keys(question: str, analysis: str) -> frozenset[str]:
    plain = question.strip(" ¿?？.!")
    match = next(filter(None, (pattern.fullmatch(plain) for pattern in _ASKED)), None)
    said = next(filter(None, match.groups()), "") if match else ""
    return _names(_WITHIN.split(said)[0], analysis)


@lru_cache(maxsize=16384)
def _names(text: str, analysis: str) -> frozenset[str]:
    """The keys of the words of a name that have a topic."""
    return frozenset(keys(text, analysis)) - stop_terms(analysis)


# Entries of a reference: what is said of the function, the class or the option that a question names, as only code has
# its name, and fields of entries with any name ("Default value: 25").

_IN_CODE = regex(r"(?<![\w.-])(?:--?[^\W\d][\w-]+|[^\W\d]\w*(?:[._]|::)\w[\w.:]*\w|[^\W\d]*[a-z][A-Z]\w+)(?![\w-])")
"""A name as only code has it: with a point or a low line inside, a capital inside, or with the hyphens of an option."""
_SUBTITLE = regex(r"\s+[—–|:-]\s+")
"""Between the name of a page and what else its title says."""
_PARAMETERS = regex(r"[(\[].*", re.DOTALL)


def entry_gains(question: TopicQuestion, statements: Sequence[QuotableStatement]) -> list[float]:
    """What each statement gains since it is about an entry that the question names.

    If the question asks what the entry is, or for one thing of it ("what does it return?"), its first sentences gain
    most, in order, or the first that speak of that. Else all gain the same. A field gains by the share of the
    question's other words in its key.
    """
    analysis, asked = question.analysis, frozenset(question.keys)
    gains = [_entry_field_gain(asked, each, analysis) for each in statements]
    thing = thing_asked(question)
    written = {frozenset(keys(match[0], analysis)) for match in _IN_CODE.finditer(question.text)}
    for name in filter(None, written or {thing}):
        about = [at for at, each in enumerate(statements) if _is_about_entry(each, name, analysis, bool(written))]
        more = asked - name
        told = [at for at in about if statements[at].kind == "prose"]
        further = [at for at in about if more.intersection(keys(statements[at].text, analysis))]
        opening = zip(further or told, OPENING_WEIGHTS, strict=False) if len(more) <= 1 or thing else ()
        for at, gain in opening or ((at, ENTRY_WEIGHT) for at in about):
            gains[at] = max(gain, gains[at])
    return gains


def _is_about_entry(each: QuotableStatement, name: frozenset[str], analysis: str, in_code: bool) -> bool:
    """True if a statement's label or heading is called so, or its page if it has neither."""
    above = [text for text in (each.label, each.heading.rpartition(">")[2]) if text]
    return any(_is_called(text, name, analysis, in_code) for text in above or _SUBTITLE.split(each.title, 1)[:1])


@lru_cache(maxsize=16384)
def _is_called(entry: str, name: frozenset[str], analysis: str, in_code: bool) -> bool:
    head = _PARAMETERS.sub("", entry).strip()
    if not in_code:
        return _names(head, analysis) == name
    word = head.rpartition(" ")[2] if _PARAMETERS.search(entry) else head
    return " " not in word and any(frozenset(keys(part, analysis)) == name for part in (word, word.rpartition(".")[2]))


def _entry_field_gain(asked: frozenset[str], each: QuotableStatement, analysis: str) -> float:
    name = _names(each.entry, analysis)
    more = asked - name
    if not name or not more or not name <= asked:
        return 0.0
    return OPENING_WEIGHTS[0] * len(more.intersection(keys(each.key, analysis))) / len(more)


# A name of the question that is nowhere: a question about the museum in Oslo is not answered by documents that never
# mention Oslo.
#
# A name counts as there if a near form of a word of it is ("Hollyn", "Hollin"), if its initials are, or if it is the
# initials of something that is there.

_RUN = regex(
    r"(?<![^\W_])[^\W\d_][\w'’-]*(?:[\s-](?:(?:of|the|and|for|de|la|du|des|der|del|di|e|y)\s|&\s)*"
    r"(?=[^\W\d_])(?-i:[A-ZÀ-ÖØ-ÞА-Я])[\w'’-]*)+"
)
"""Words with capitals, and small ones between them."""
_WORD = regex(r"[^\W\d_][\w'’]*")
_CUT = regex(r"(?<![^\W_])[^\W\d_]+(?=\.\s*[^\W_])")
"""A word with a full stop inside a question: "Mr." is no name."""
_SHORT = regex(r"(?<![^\W_])[A-ZÀ-ÖØ-ÞА-Я]{2,6}(?![^\W_])")
"""An abbreviation."""


def has_missing_name(features: Features) -> bool:
    """True if a name in the question, of one or more words, is nowhere.

    A few sentences may speak of it as "it", or "the town", unless it was counted in the whole scope, and that is not a
    few sentences; documents that share no other word with the question may be in another language, and so write the
    name in another way.
    """
    question, known = features.question, features.matched_keys()
    others = set(question.keys).difference(*question.named)
    if known.isdisjoint(others or question.keys):
        return False
    many = len(features.statements) >= FEWEST_NAMING
    absent = {key for key in question.keys if key not in known and (many or features.is_nowhere(key))}
    texts = list(_texts(features))
    cut = frozenset(key for word in _CUT.findall(question.text) for key in keys(word, question.analysis))
    names = filter(None, (_without_letters(name - cut) for name in question.named))
    return any(name <= absent and not _is_abbreviated(name, question.text, texts, question.analysis) for name in names)


def _without_letters(name: frozenset[str]) -> frozenset[str]:
    """A name without single letters: the "s" of "Oslo's" is no word."""
    return frozenset(key for key in name if len(key) > 1) or name


def _is_abbreviated(name: frozenset[str], question: str, texts: Iterable[str], analysis: str) -> bool:
    """True if a name is the initials of words in a text, or its own initials are in one."""
    short = {match[0] for match in _SHORT.finditer(question) if name.intersection(keys(match[0], analysis))}
    long = {_initials(run[0]) for run in _RUN.finditer(question) if name <= frozenset(keys(run[0], analysis))}
    long = {each for each in long if len(each) > 1}
    return any(
        any(each in _initials(run[0]) for each in short for run in _RUN.finditer(text))
        or any(match[0] in each for each in long for match in _SHORT.finditer(text))
        for text in texts
    )


def _initials(run: str) -> str:
    return "".join(word[0] for word in _WORD.findall(run) if word[0].isupper())


def _texts(features: Features) -> Iterator[str]:
    for each in features.statements:
        yield from (f"{each.label} {each.text}", each.heading, each.title, each.address)


# What a row is about.


def is_row_on_subject(features: Features, at: int) -> bool:
    """True if a row is about what the question names, and has something of what is asked about that: it describes only
    its own subject, and only what its key or its column says: the key in any form, the value in that word. A row
    without a reason does not say why.
    """
    question, each = features.question, features.statements[at]
    if each.kind != "row":
        return True
    if question.wanted == "reason" and not REASON.search(each.text):
        return False
    titled, own = features.matches_in(each.title).keys(), features.matches(at).keys()
    held = titled | own | features.matches_in(each.heading).keys()
    names = frozenset[str]() if question.capitalizes_nouns else question.names
    if not names | features.subjects <= held or is_another_kind(question, each.text.partition(":")[0], held):
        return False
    rest = set(question.keys) - names - features.subjects - question.light - titled
    if not rest or not is_field(each.text):
        return not rest or not rest.isdisjoint(own)
    near = near_keys(rest, keys(f"{each.label} {each.text.partition(':')[0]}", question.analysis))
    return bool(near) or any(features.matches(at).get(key) == 1.0 for key in rest)


def is_complete_row(features: Features, at: int) -> bool:
    """True if a row has all that is asked about what its title names, the "Price" in the data sheet of a "Corsa Notte";
    or alone there has the measure asked for, if nothing else is.
    """
    question, each = features.question, features.statements[at]
    titled, own = features.matches_in(each.title).keys(), features.matches(at).keys()
    asked = set(question.keys) - question.light - titled
    if each.kind != "row" or not titled:
        return False
    if asked:
        return not asked.isdisjoint(own) and asked <= own | features.matches_in(each.heading).keys()
    beside = (other for other, there in enumerate(features.statements) if there.source == each.source and other != at)
    return features.measure_match(at) > 0 and not any(features.measure_match(other) > 0 for other in beside)


def is_another_kind(question: TopicQuestion, key: str, held: Collection[str]) -> bool:
    """True if the key of a row has a word of the question behind another one than there: "Flow rate" is no failure
    rate. `held` are the keys of the question in the row, with its context.
    """
    asked = {word: kind for kind, word in pairwise(words(question.text))}
    pairs = ((asked[word], kind) for kind, word in pairwise(words(key)) if word in asked)
    kinds = ((set(keys(kind, question.analysis)), keys(other, question.analysis)) for kind, other in pairs)
    return any(kind.intersection(question.keys) - set(held) and kind.isdisjoint(other) for kind, other in kinds)
