"""Entries of a reference: which statements are about the function, the class or the option that a question names.

An entry begins with a signature, `open(file, mode)`, or with a name that only code has. That is the label of its
statements, as in a list of definitions, or the heading above them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from assay.core.patterns import regex
from assay.core.relevance.definitions import thing_asked
from assay.core.relevance.relevance_constants import ENTRY_WEIGHT, OPENING_WEIGHTS
from assay.core.relevance.topic_question import QuotableStatement, TopicQuestion, keys

_SIGNATURE = regex(r"(?<![\w.-])(?P<name>-{0,2}[^\W\d][\w.:$#-]*)[(\[]")
"""A name directly before the brackets of its parameters."""
_IN_CODE = regex(r"(?<![\w.-])(?:--?[^\W\d][\w-]+|[^\W\d]\w*(?:[._]|::)\w[\w.:]*\w|[^\W\d]*[a-z][A-Z]\w+)(?![\w-])")
"""A name as only code has it: with a point or a low line inside, a capital inside, or with the hyphens of an option."""
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
    most, in order, or the first that speak of that; else all gain the same.
    """
    gains, asked, analysis = [0.0] * len(statements), thing_asked(question), question.analysis
    kinds = frozenset(keys(_KINDS, analysis))
    named = [_name(match[0], analysis) for match in _IN_CODE.finditer(question.text)]
    for name in named or [(False, asked - kinds or asked)]:
        held = (
            (each, at)
            for at, each in enumerate(statements)
            if name in _names(each.label, each.heading, each.title, analysis)
        )
        about = [at for _, at in sorted(held, key=lambda one: (one[0].source, one[0].place))]
        more = frozenset(question.keys) - name[1] - kinds
        if asked or (len(more) <= 1 and question.wanted == "other"):
            prose = [at for at in about if statements[at].kind == "prose" and not _is_title(statements[at])]
            telling = [at for at in prose if more.intersection(keys(statements[at].text, analysis))]
            for at, weight in zip(telling or prose, OPENING_WEIGHTS, strict=False):
                gains[at] = weight
        else:
            for at in about:
                gains[at] = ENTRY_WEIGHT
    return gains


@lru_cache(maxsize=16384)
def _names(label: str, heading: str, title: str, analysis: str) -> frozenset[Name]:
    """The names of the entry below a label, a heading or, if there is no heading, a title: in full, and the last part."""
    last = heading.rpartition(">")[2].strip("` ")
    signed = [match["name"] for text in (label, last) if (match := _SIGNATURE.search(text))]
    plain = [label or last or _SUBTITLE.split(title, 1)[0]]
    names = [*signed, *(match[0] for match in (_IN_CODE.match(last),) if match), *filter(None, plain)]
    return frozenset(_name(part, analysis) for name in names for part in (name, name.rpartition(".")[2]))


def _is_title(each: QuotableStatement) -> bool:
    return each.title.startswith(each.text)


def _name(text: str, analysis: str) -> Name:
    return text.startswith("-"), frozenset(keys(text, analysis))
