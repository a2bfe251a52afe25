"""Statements: what may answer a question, with its words as keys."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

import msgspec

from assay.core.detection import of_question
from assay.core.relevance.analysis import analysis_of, terms

Kind = Literal["prose", "row", "code"]

SAMPLE = 600
"""Code points of a text by which its language is told."""
_UNSPACED = re.compile("[\u0e00-\u0eff\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]")


class QuotableStatement(msgspec.Struct, frozen=True, kw_only=True):
    """A sentence, a table row or a line with a key, as it would be quoted.

    `source` is the place of its document among those found, 0 for the best; `place` that of its passage in the
    document. `label` is the name it describes or the heads of its columns; `heading` stands above it.
    """

    text: str
    source: int = 0
    place: int = 0
    label: str = ""
    heading: str = ""
    title: str = ""
    kind: Kind = "prose"


@lru_cache(maxsize=4096)
def language_of(text: str) -> str:
    """The language a text is in, "" where it cannot be told."""
    return of_question(text[:SAMPLE])


def analysis_for(text: str) -> str:
    """The analysis of the language a text is in."""
    return analysis_of(language_of(text))


@lru_cache(maxsize=16384)
def keys(text: str, analysis: str) -> tuple[str, ...]:
    """The keys of the words of `text`, in order."""
    return tuple(terms(text, analysis))


def is_unspaced(text: str) -> bool:
    """Whether a text has letters of a script which is written without spaces, or of Korean."""
    return _UNSPACED.search(text) is not None
