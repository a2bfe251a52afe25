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
    MIN_NAMING_STATEMENTS,
    OPENING_WEIGHTS,
)
from assay.core.relevance.signs import REASON
from assay.core.relevance.topic_question import QuotableStatement, TopicQuestion, keys, near_keys
from assay.core.tables.cells import row_cells
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


MIN_DESCRIPTION_WORDS = 3
"""The fewest words that describe something."""


def definition_gains(question: TopicQuestion, statements: Sequence[QuotableStatement]) -> list[float]:
    """What each statement gains since it defines what the question asks the meaning of; 0 for all if it asks none."""
    thing, analysis = thing_asked(question), question.analysis
    return [
        DEFINING_WEIGHT
        if thing and (_is_described(statement, thing, analysis) or _defines(statement, thing, analysis))
        else 0.0
        for statement in statements
    ]


def _is_described(statement: QuotableStatement, thing: frozenset[str], analysis: str) -> bool:
    """True if a statement describes what its label names, or the first of two cells: in a list of definitions."""
    name, description = statement.label, statement.text.removeprefix(statement.label)
    if statement.kind == "row":
        cells = row_cells(statement.text)
        name, description = (cell.rpartition(": ")[2] for cell in cells) if len(cells) == 2 else ("", "")
    return (
        statement.kind in ("prose", "row")
        and sum(word.isalpha() for word in description.split()) >= MIN_DESCRIPTION_WORDS
        and _names(name, analysis) == thing
    )


def _defines(statement: QuotableStatement, thing: frozenset[str], analysis: str) -> bool:
    """True if a statement opens with the thing, and says what it is."""
    match = _DEFINING.match(_OPENING.sub("", statement.text, count=1))
    return match is not None and _names(match["thing"], analysis) == thing


def is_defined_by(question: TopicQuestion, name: str) -> bool:
    """True if a question asks the meaning of this name and of nothing else."""
    return bool(thing := thing_asked(question)) and _names(name, question.analysis) == thing


def thing_asked(question: TopicQuestion) -> frozenset[str]:
    """The keys of what a question asks the meaning of; empty if it asks something else."""
    return _thing_keys(question.text, question.analysis)


@lru_cache(maxsize=512)
def _thing_keys(question: str, analysis: str) -> frozenset[str]:
    plain = question.strip(" ¿?？.!")
    match = next(filter(None, (pattern.fullmatch(plain) for pattern in _ASKED)), None)
    phrase = next(filter(None, match.groups()), "") if match else ""
    return _names(_WITHIN.split(phrase)[0], analysis)


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


def is_code_name(text: str) -> bool:
    """True if a text is a name as only code has it."""
    return _IN_CODE.fullmatch(text) is not None


def entry_gains(question: TopicQuestion, statements: Sequence[QuotableStatement]) -> list[float]:
    """What each statement gains since it is about an entry that the question names.

    If the question asks what the entry is, or for one thing of it ("what does it return?"), its first sentences gain
    most, in order, or the first that speak of that. Else all gain the same. A field gains by the share of the
    question's other words in its key.
    """
    analysis, question_keys = question.analysis, frozenset(question.keys)
    gains = [_entry_field_gain(question_keys, statement, analysis) for statement in statements]
    thing = thing_asked(question)
    code_names = {frozenset(keys(match[0], analysis)) for match in _IN_CODE.finditer(question.text)}
    for name in filter(None, code_names or {thing}):
        entry_indices = [
            index
            for index, statement in enumerate(statements)
            if _is_about_entry(statement, name, analysis, bool(code_names))
        ]
        other_keys = question_keys - name
        prose_indices = [index for index in entry_indices if statements[index].kind == "prose"]
        matching_indices = [
            index for index in entry_indices if other_keys.intersection(keys(statements[index].text, analysis))
        ]
        opening = (
            zip(matching_indices or prose_indices, OPENING_WEIGHTS, strict=False)
            if len(other_keys) <= 1 or thing
            else ()
        )
        for index, gain in opening or ((index, ENTRY_WEIGHT) for index in entry_indices):
            gains[index] = max(gain, gains[index])
    return gains


def _is_about_entry(statement: QuotableStatement, name: frozenset[str], analysis: str, in_code: bool) -> bool:
    """True if a statement's label or heading is called so, or its page if it has neither."""
    above = [text for text in (statement.label, statement.heading.rpartition(">")[2]) if text]
    return any(_is_called(text, name, analysis, in_code) for text in above or _SUBTITLE.split(statement.title, 1)[:1])


@lru_cache(maxsize=16384)
def _is_called(entry: str, name: frozenset[str], analysis: str, in_code: bool) -> bool:
    head = _PARAMETERS.sub("", entry).strip()
    if not in_code:
        return _names(head, analysis) == name
    word = head.rpartition(" ")[2] if _PARAMETERS.search(entry) else head
    return " " not in word and any(frozenset(keys(part, analysis)) == name for part in (word, word.rpartition(".")[2]))


def _entry_field_gain(question_keys: frozenset[str], statement: QuotableStatement, analysis: str) -> float:
    name = _names(statement.entry, analysis)
    other_keys = question_keys - name
    if not name or not other_keys or not name <= question_keys:
        return 0.0
    return OPENING_WEIGHTS[0] * len(other_keys.intersection(keys(statement.key, analysis))) / len(other_keys)


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
    question, matched_keys = features.question, features.matched_keys()
    other_keys = set(question.keys).difference(*question.name_keys)
    if matched_keys.isdisjoint(other_keys or question.keys):
        return False
    has_many = len(features.statements) >= MIN_NAMING_STATEMENTS
    absent = {key for key in question.keys if key not in matched_keys and (has_many or features.is_nowhere(key))}
    texts = list(_texts(features))
    cut_keys = frozenset(key for word in _CUT.findall(question.text) for key in keys(word, question.analysis))
    names = filter(None, (_without_letters(name - cut_keys) for name in question.name_keys))
    return any(name <= absent and not _is_abbreviated(name, question.text, texts, question.analysis) for name in names)


def _without_letters(name: frozenset[str]) -> frozenset[str]:
    """A name without single letters: the "s" of "Oslo's" is no word."""
    return frozenset(key for key in name if len(key) > 1) or name


def _is_abbreviated(name: frozenset[str], question: str, texts: Iterable[str], analysis: str) -> bool:
    """True if a name is the initials of words in a text, or its own initials are in one."""
    short = {match[0] for match in _SHORT.finditer(question) if name.intersection(keys(match[0], analysis))}
    long = {_initials(run[0]) for run in _RUN.finditer(question) if name <= frozenset(keys(run[0], analysis))}
    long = {abbreviation for abbreviation in long if len(abbreviation) > 1}
    return any(
        any(abbreviation in _initials(run[0]) for abbreviation in short for run in _RUN.finditer(text))
        or any(match[0] in abbreviation for abbreviation in long for match in _SHORT.finditer(text))
        for text in texts
    )


def _initials(run: str) -> str:
    return "".join(word[0] for word in _WORD.findall(run) if word[0].isupper())


def _texts(features: Features) -> Iterator[str]:
    for statement in features.statements:
        yield from (f"{statement.label} {statement.text}", statement.heading, statement.title, statement.address)


# What a row is about.


def is_row_on_subject(features: Features, index: int) -> bool:
    """True if a row is about what the question names, and has something of what is asked about that: it describes only
    its own subject, and only what its key or its column says: the key in any form, the value in that word. A row
    without a reason does not say why.
    """
    question, statement = features.question, features.statements[index]
    if statement.kind != "row":
        return True
    if question.answer_kind == "reason" and not REASON.search(statement.text):
        return False
    title_keys, own_keys = features.matches_in(statement.title).keys(), features.matches(index).keys()
    row_keys = title_keys | own_keys | features.matches_in(statement.heading).keys()
    names = frozenset[str]() if question.capitalizes_nouns else question.names
    if not names | features.subjects <= row_keys or is_another_kind(
        question, statement.text.partition(":")[0], row_keys
    ):
        return False
    other_keys = set(question.keys) - names - features.subjects - question.light - title_keys
    if not other_keys or not is_field(statement.text):
        return not other_keys or not other_keys.isdisjoint(own_keys)
    field_key = f"{statement.label} {statement.text.partition(':')[0]}"
    in_key = near_keys(other_keys, keys(field_key, question.analysis))
    return bool(in_key) or any(features.matches(index).get(key) == 1.0 for key in other_keys)


def is_complete_row(features: Features, index: int) -> bool:
    """True if a row has all that is asked about what its title names, the "Price" in the data sheet of a "Corsa Notte";
    or alone there has the measure asked for, if nothing else is.
    """
    question, statement = features.question, features.statements[index]
    title_keys, own_keys = features.matches_in(statement.title).keys(), features.matches(index).keys()
    question_keys = set(question.keys) - question.light - title_keys
    if statement.kind != "row" or not title_keys:
        return False
    if question_keys:
        return (
            not question_keys.isdisjoint(own_keys)
            and question_keys <= own_keys | features.matches_in(statement.heading).keys()
        )
    others = (
        other_index
        for other_index, other_statement in enumerate(features.statements)
        if other_statement.source == statement.source and other_index != index
    )
    return features.measure_match(index) > 0 and not any(
        features.measure_match(other_index) > 0 for other_index in others
    )


def is_another_kind(question: TopicQuestion, key: str, row_keys: Collection[str]) -> bool:
    """True if the key of a row has a word of the question behind another one than there: "Flow rate" is no failure
    rate. `row_keys` are the keys of the question in the row, with its context.
    """
    asked_kinds = {word: kind for kind, word in pairwise(words(question.text))}
    pairs = ((asked_kinds[word], kind) for kind, word in pairwise(words(key)) if word in asked_kinds)
    kinds = ((set(keys(kind, question.analysis)), keys(row_kind, question.analysis)) for kind, row_kind in pairs)
    return any(
        kind.intersection(question.keys) - set(row_keys) and kind.isdisjoint(row_kind) for kind, row_kind in kinds
    )
