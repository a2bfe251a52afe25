"""Entries of a reference: which statements are about the function, the class or the option that a question names.

An entry begins with a signature, `open(file, mode)`, or with a name that only code has. That is the label of its
statements, as in a list of definitions, or the heading above them. An entry of fields ("Default value: 25") may
have any name.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from assay.core.lexicon import stop_terms
from assay.core.patterns import regex
from assay.core.relevance.definitions import thing_asked
from assay.core.relevance.relevance_constants import ENTRY_WEIGHT, OPENING_WEIGHTS
from assay.core.relevance.topic_question import QuotableStatement, TopicQuestion, keys

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
    for name, about in _named(question, statements, kinds):
        more = frozenset(question.keys) - name[1] - kinds
        if question.wanted != "date" and (thing_asked(question) or (len(more) <= 1 and question.wanted == "other")):
            first = _first(about, more, statements, question.analysis)
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
    name = _field_of(each.entry, analysis)
    more = asked - name
    if not name or not more or not name <= asked:
        return 0.0
    return OPENING_WEIGHTS[0] * len(more.intersection(keys(each.key, analysis))) / len(more)


@lru_cache(maxsize=16384)
def _field_of(entry: str, analysis: str) -> frozenset[str]:
    """The keys of the name of an entry that has fields."""
    return frozenset(keys(entry, analysis)) - stop_terms(analysis)


def _named(
    question: TopicQuestion, statements: Sequence[QuotableStatement], kinds: frozenset[str]
) -> Iterator[tuple[Name, list[int]]]:
    """The names of entries in the question, each with the places of the statements about its entry."""
    analysis, asked = question.analysis, thing_asked(question)
    in_code = [_name(match[0], analysis) for match in _IN_CODE.finditer(question.text)]
    for name in in_code or filter(_has_keys, [(False, asked - kinds or asked)]):
        yield name, [at for at, each in enumerate(statements) if name in _names(each, analysis)]


def _first(
    about: Sequence[int], more: frozenset[str], statements: Sequence[QuotableStatement], analysis: str
) -> list[int]:
    """The sentences of an entry as they stand; if any of them, or a line with a key ("Default: `5000`"), has a further
    word of the question, only those.
    """
    ordered = sorted(about, key=lambda at: (statements[at].source, statements[at].place))
    told = [at for at in ordered if statements[at].kind != "code" and not _is_title(statements[at])]
    further = [at for at in told if more.intersection(keys(statements[at].text, analysis))]
    return further or [at for at in told if statements[at].kind == "prose"]


def _names(each: QuotableStatement, analysis: str) -> frozenset[Name]:
    """The names of the entry a statement is about: of its label or heading, or of its page if it has neither."""
    last = each.heading.rpartition(">")[2].strip("` ")
    page = "" if each.label or last else _SUBTITLE.split(each.title, 1)[0]
    return _spelled(each.label or page, analysis) | _spelled(last, analysis, in_code=True)


@lru_cache(maxsize=16384)
def _spelled(text: str, analysis: str, *, in_code: bool = False) -> frozenset[Name]:
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


def _is_title(each: QuotableStatement) -> bool:
    return each.title.startswith(each.text)
