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
    INTRODUCING_WEIGHT,
    OPENING_WEIGHTS,
)
from assay.core.relevance.signs import REASON
from assay.core.relevance.topic_question import QuotableStatement, TopicQuestion, keys
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


# Entries of a reference: which statements are about the function, the class or the option that a question names.
#
# An entry begins with a signature, `open(file, mode)`, or with a name that only code has. That is the label of its
# statements, as in a list of definitions, or the heading above them. An entry of fields ("Default value: 25") may have
# any name.

_SIGNATURE = regex(r"(?<![\w.-])(?P<name>-{0,2}[^\W\d][\w.:$#-]*)[(\[]")
"""A name directly before the brackets of its parameters."""
_IN_CODE = regex(r"(?<![\w.-])(?:--?[^\W\d][\w-]+|[^\W\d]\w*(?:[._]|::)\w[\w.:]*\w|[^\W\d]*[a-z][A-Z]\w+)(?![\w-])")
"""A name as only code has it: with a point or a low line inside, a capital inside, or with the hyphens of an option."""
_BRACKET = regex(r"\s[(\[]")
_SUBTITLE = regex(r"\s+[—–|:-]\s+")
"""Between the name of a page and what else its title says."""
_KINDS = (
    "attribute class command constant decorator directive event exception flag function macro method module option "
    "parameter property setting statement structure type variable"
)
"""What a question may call a thing in addition to its name: "the `lru_cache` decorator"."""


Name = tuple[bool, frozenset[str]]
"""Whether a name is that of an option, which has hyphens before it, and its keys."""


def of_entries(question: TopicQuestion, statements: Sequence[QuotableStatement]) -> list[float]:
    """What each statement gains since it is about an entry that the question names.

    If the question asks what the entry is, or for one thing of it ("what does it return?"), its first sentences gain
    most, in order, or the first that speak of that. Else all gain the same.
    """
    gains = [0.0] * len(statements)
    kinds = frozenset(keys(_KINDS, question.analysis))
    for name, about in _names_with_places(question, statements, kinds):
        more = frozenset(question.keys) - name[1] - kinds
        if question.wanted != "date" and (thing_asked(question) or (len(more) <= 1 and question.wanted == "other")):
            first = _entry_sentences(about, more, statements, question.analysis)
            for at, weight in zip(first, OPENING_WEIGHTS, strict=False):
                gains[at] = weight
        else:
            for at in about:
                gains[at] = ENTRY_WEIGHT
    asked = frozenset(question.keys) - kinds
    return [
        max(gain, _field_gain(asked, each, question.analysis)) for gain, each in zip(gains, statements, strict=True)
    ]


def _field_gain(asked: frozenset[str], each: QuotableStatement, analysis: str) -> float:
    """What a field gains since the question names its entry, by the share of the question's other words in its key."""
    name = _names(each.entry, analysis)
    more = asked - name
    if not name or not more or not name <= asked:
        return 0.0
    return OPENING_WEIGHTS[0] * len(more.intersection(keys(each.key, analysis))) / len(more)


def _names_with_places(
    question: TopicQuestion, statements: Sequence[QuotableStatement], kinds: frozenset[str]
) -> Iterator[tuple[Name, list[int]]]:
    """The names of entries in the question, each with the places of the statements about its entry; of a name that only
    code has and no entry, as that of a file, those that have it as written, unless the question asks what it is.
    """
    analysis, asked = question.analysis, thing_asked(question)
    in_code = {_name(match[0], analysis): match[0].casefold() for match in _IN_CODE.finditer(question.text)}
    for name in in_code or filter(_has_keys, [(False, asked - kinds or asked)]):
        about = [at for at, each in enumerate(statements) if name in _entry_names(each, analysis)]
        if not (about or asked) and (written := in_code.get(name, "")):
            about = [at for at, each in enumerate(statements) if written in each.text.casefold()]
        yield name, about


def _entry_sentences(
    about: Sequence[int], more: frozenset[str], statements: Sequence[QuotableStatement], analysis: str
) -> list[int]:
    """The sentences of an entry; if any, or a line with a key, has a further word of the question, only these."""
    ordered = sorted(about, key=lambda at: (statements[at].source, statements[at].place))
    rest = [at for at in ordered if not statements[at].title.startswith(statements[at].text)]
    told = [at for at in rest if statements[at].kind != "code"]
    further = [at for at in told if more.intersection(keys(statements[at].text, analysis))]
    return further or [at for at in told if statements[at].kind == "prose"]


def _entry_names(each: QuotableStatement, analysis: str) -> frozenset[Name]:
    """The names of the entry a statement is about: of its label or heading, or of its page if it has neither."""
    last = each.heading.rpartition(">")[2].strip("` ")
    page = "" if each.label or last else _SUBTITLE.split(each.title, 1)[0]
    return _label_names(each.label or page, analysis) | _label_names(last, analysis, in_code=True)


@lru_cache(maxsize=16384)
def _label_names(text: str, analysis: str, *, in_code: bool = False) -> frozenset[Name]:
    """The names in a label or a title, each in full, and its last part. Not `in_code`, all before a bracket is one."""
    found = (_SIGNATURE.search(text), _IN_CODE.match(text) if in_code else None)
    names = [
        *(match[match.lastgroup or 0] for match in found if match),
        *(() if in_code else (_BRACKET.split(text, 1)[0],)),
    ]
    parts = (_name(part, analysis) for name in names for part in (name, name.rpartition(".")[2]))
    return frozenset(filter(_has_keys, parts))


def _name(text: str, analysis: str) -> Name:
    return text.startswith("-"), frozenset(keys(text, analysis))


def _has_keys(name: Name) -> bool:
    return bool(name[1])


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


def lacks_a_name(features: Features) -> bool:
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


def is_about(features: Features, at: int) -> bool:
    """True if a row is about what the question names, and has something of what is asked about that: it describes only
    its own subject, and only what its key or its column says. A row without a reason does not say why.
    """
    question, each = features.question, features.statements[at]
    if each.kind != "row":
        return True
    if question.wanted == "reason" and not REASON.search(each.text):
        return False
    titled, own = features.matches_in(each.title).keys(), features.matches(at).keys()
    held = titled | own | features.matches_in(each.heading).keys()
    names = frozenset[str]() if question.capitalizing else question.names
    if not names | features.subjects <= held or _is_another_kind(question, each.text.partition(":")[0], held):
        return False
    rest = set(question.keys) - names - features.subjects - question.light - titled
    return not rest or not rest.isdisjoint(own)


def is_complete(features: Features, at: int) -> bool:
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
    return features.measure(at) > 0 and not any(features.measure(other) > 0 for other in beside)


def _is_another_kind(question: TopicQuestion, key: str, held: Collection[str]) -> bool:
    """True if the key of a row has a word of the question behind another one than there: "Flow rate" is no failure
    rate. `held` are the keys of the question in the row, with its context.
    """
    asked = {word: kind for kind, word in pairwise(words(question.text))}
    pairs = ((asked[word], kind) for kind, word in pairwise(words(key)) if word in asked)
    kinds = ((set(keys(kind, question.analysis)), keys(other, question.analysis)) for kind, other in pairs)
    return any(kind.intersection(question.keys) - set(held) and kind.isdisjoint(other) for kind, other in kinds)
