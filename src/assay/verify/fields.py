"""Claims which frame a field: `KEY of SUBJECT: VALUE`, where a cited passage is `KEY: VALUE` of that subject."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set
from itertools import pairwise

from assay.core.claims import Check
from assay.core.sources import Passage
from assay.core.text import words
from assay.core.translation import gettext as _
from assay.verify.amounts import Day, tokens
from assay.verify.evidence import ClaimEvidence, FieldPassage, field_of, names_of
from assay.verify.plain import plain

_NAMING = frozenset(("title", "name", "number", "id", "feature"))
_TURNS = re.compile(r"(?:except|but|not|no|unless|if|when|only|with|without|as|and|or)\b", re.IGNORECASE)


def framed(claim: str, evidence: ClaimEvidence) -> Check | None:
    """What the fields cited say to a framed claim; None when it frames none of them.

    Supported: the value is the field's whole value, or whole elements of it where it is a list. Contradicted: key
    and subject are the field's, the value is another. The subject must be what the field's own source is called.
    """
    fields = [field for field in map(field_of, evidence.passages) if field is not None]
    checks = [
        check
        for field in fields
        for subject, value in _frames(claim, field)
        if _is_subject(subject, field, fields, evidence) and (check := _compare(value, field)) is not None
    ]
    return min(checks, key=lambda check: check.verdict != "supported", default=None)


def _frames(claim: str, field: FieldPassage) -> Iterator[tuple[str, str]]:
    """Every reading of `claim` as a frame of `field`: a subject and a value."""
    for of in re.finditer(r" of ", claim):
        if tuple(words(claim[: of.start()])) == field.name:
            for colon in re.finditer(r": ", claim[of.end() :]):
                at = of.end() + colon.start()
                yield claim[of.end() : at], claim[at + 2 :]


def _is_subject(subject: str, field: FieldPassage, fields: Sequence[FieldPassage], evidence: ClaimEvidence) -> bool:
    """Whether the field's source is called `subject`.

    Every word of it is in the source's names, every number beside the word it stands beside there, and it has such
    a number or the whole of a name.
    """
    wanted = _numbered(words(subject))
    names = [_numbered(words(name)) for name in _called(field.passage, fields, evidence)]
    if not set(wanted) <= {word for name in names for word in name}:
        return False
    named = {pair for name in names for pair in pairwise(["", *name])}
    numbers = [pair for pair in pairwise(["", *wanted]) if pair[1][0].isdecimal()]
    ends = {name[-1] for name in names if name}
    if any(pair[0] and pair not in named and not _next_name(pair, named, ends) for pair in numbers):
        return False
    return bool(numbers) or any(name and set(name) <= set(wanted) for name in names)


def _next_name(pair: tuple[str, str], named: Set[tuple[str, str]], ends: Set[str]) -> bool:
    """Whether one name ends and another begins between two words: `PEP 8102 (2021 Term election)`."""
    return pair[0] in ends and ("", pair[1]) in named


def _called(passage: Passage, fields: Sequence[FieldPassage], evidence: ClaimEvidence) -> Iterator[str]:
    """Names of a passage's source: its title and the like, and cited fields of it which name or number it."""
    source = evidence.sources.get(passage.source)
    if source is not None:
        yield from names_of(source)
    for field in fields:
        series = len(field.name) == 1 and field.value.isdecimal()
        if field.passage.source == passage.source and (series or set(field.name) & _NAMING):
            yield f"{' '.join(field.name)} {field.value}" if series else field.value


def _numbered(found: Sequence[str]) -> list[str]:
    return [word.lstrip("0") or word for word in found]


def _compare(value: str, field: FieldPassage) -> Check | None:
    mine, theirs = _value(value), _value(field.value)
    if mine == theirs or set(_elements(value)) <= set(_elements(field.value)) or _one_day(mine, theirs):
        return Check(rule="field", verdict="supported", reason=_("the cited field says so"))
    said, stated = set(words(mine)), set(words(theirs))
    if said <= stated or stated <= said:
        return None  # a part of the value, or more than it: nothing this rule can decide
    key = " ".join(field.name)
    return Check(
        rule="field",
        verdict="contradicted",
        reason=_("the cited field {key} says {said}").format(key=repr(key), said=repr(theirs[:200])),
    )


def _value(text: str) -> str:
    return plain(" ".join(text.split())).text.strip().rstrip(".;,").strip("\"'")


def _elements(value: str) -> list[str]:
    """The elements of a value which is a list, else the value alone.

    Prose with commas is no list: leaving a part of it out may turn its meaning.
    """
    parts = [_value(re.sub(r"^\s*-\s+", "", part)) for part in re.split(r",\s+|;\s+|\n\s*", value.strip())]
    parts = [part for part in parts if part]
    if any(len(part.split()) > 6 or _TURNS.match(part) for part in parts) or _days(value):
        return [_value(value)]
    return parts


def _days(text: str) -> list[Day]:
    return [token for token in tokens(plain(text).text) if isinstance(token, Day)]


def _one_day(mine: str, theirs: str) -> bool:
    """Whether both values are one and the same full date, however written."""
    days = [(day.year, day.month, day.day) for text in (mine, theirs) for day in _days(text)]
    whole = all(len(_days(text)) == 1 and _days(text)[0].text.strip(".") == text for text in (mine, theirs))
    return whole and len(days) == 2 and days[0] == days[1] and all(days[0])
