"""The field that is asked for, and how far a sentence has its words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec

from assay.core.dimensions import dimension_of
from assay.core.lexicon import stop_terms
from assay.core.relevance.topic_question import keys, near_keys
from assay.models.stated_values.written_values import WORD, Span

SHARE = 0.5
"""The least share of a field's words that a sentence, with the text above it, must have."""
DESCRIBED = 0.75
"""The same of the words of its description, which has more of them."""


DATING = frozenset("date day when time on which datum tag wann jour quand fecha cuándo".split())
"""Words of a description that only ask for a date; no sentence with one has to say them."""


class FieldAsked(msgspec.Struct, frozen=True, kw_only=True):
    """A field: its name in words, the schema's description, the names in the question, and the question's `topics`.

    `unit` is the unit in which its label counts, as written there; `label` is without it.
    """

    label: str
    description: str
    names: tuple[str, ...]
    schema: Mapping[str, Any]
    topics: str = ""
    unit: str = ""

    @property
    def text(self) -> str:
        """All of these, as a question would say them."""
        return " ".join((self.description or self.label, *self.names))


class StatedValue(NamedTuple):
    """A value as written, and its passage."""

    value: str
    passage: str


def matching(asked: FieldAsked, text: str, analysis: str) -> tuple[float, list[Span]]:
    """How far a sentence has the words of a field's name, or else of its description, and where; nowhere if too few.

    The description of a measure ("length in metres") does not say whose it is.
    """
    share, at = _share(text, asked.label, analysis)
    if share < SHARE and not dimension_of(f"{asked.label} {asked.description}"):
        told = asked.description
        if asked.schema.get("format") in ("date", "date-time"):
            told = " ".join(word for word in told.split() if word.casefold() not in DATING)
        share, at = _share(text, told, analysis)
        return (share, at) if share >= DESCRIBED and len(at) > 1 else (share, [])
    return (share, at) if share >= SHARE else (share, [])


def _share(text: str, wanted: str, analysis: str) -> tuple[float, list[Span]]:
    """The share of the words wanted that a sentence has, and where they stand in it; a year alone is not enough."""
    own = frozenset(keys(wanted, analysis)) - stop_terms(analysis)
    found = WORD.finditer(text) if own else ()
    at = {word.span(): key for word in found if (key := _among(word[0], own, analysis))}
    if all(map(str.isdigit, at.values())) and not all(map(str.isdigit, own)):
        return 0.0, []
    return len(set(at.values())) / max(len(own), 1), list(at)


def _among(word: str, own: frozenset[str], analysis: str) -> str:
    """The key that a word has, exactly or nearly; "" for none."""
    found = frozenset(keys(word, analysis))
    near = near_keys(own, found)
    return next((key for key in sorted(own) if key in found or key in near), "")
