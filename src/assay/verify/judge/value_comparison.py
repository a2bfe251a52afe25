"""What the judge found in the place of each hidden value, held against what the claim says there: by code.

A value counts only when it stands in the evidence itself: a judge which names another has made it up.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

from assay.core.text import words
from assay.verify.amounts import Token, tokens
from assay.verify.analyzed_text import COMMON
from assay.verify.judge.answers import JudgedValue
from assay.verify.judge.masks import Hidden, Kind
from assay.verify.numbers import states
from assay.verify.plain import plain

Outcome = Literal["same", "other", "not stated", "invented", "missing"]

_NOT_STATED = frozenset(
    (
        *("", "not stated", "none", "n/a", "na", "null", "unknown", "not given", "not mentioned", "not specified"),
        *("not in the evidence", "not provided", "unspecified", "unstated", "nothing", "-", "not found", "no value"),
    )
)


class ComparedValue(msgspec.Struct, frozen=True, kw_only=True):
    """A value of the claim, and what the evidence gives in its place as the judge found it, empty for nothing."""

    text: str
    kind: Kind
    outcome: Outcome
    said: str = ""


def compared(hidden: Sequence[Hidden], given: Sequence[JudgedValue], texts: Sequence[str]) -> tuple[ComparedValue, ...]:
    """A slot for each hidden value, in order; `texts` are those the judge was shown."""
    evidence = _Evidence(texts)
    return tuple(
        _slot(each, [entry.value for entry in given if entry.slot == each.letter], evidence) for each in hidden
    )


class _Evidence:
    """The texts shown, read when they are first asked about."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.plain = [plain(text).text for text in texts]
        self._tokens: tuple[Token, ...] | None = None
        self._words: frozenset[str] | None = None

    @property
    def tokens(self) -> tuple[Token, ...]:
        if self._tokens is None:
            self._tokens = tuple(token for text in self.plain for token in tokens(text))
        return self._tokens

    @property
    def words(self) -> frozenset[str]:
        if self._words is None:
            self._words = frozenset(word for text in self.plain for word in words(text))
        return self._words


_ORDER: tuple[Outcome, ...] = ("same", "other", "not stated", "invented", "missing")
"""Of several values for one slot the best counts: the evidence may give more than one which fits."""


def _slot(hidden: Hidden, values: Sequence[str], evidence: _Evidence) -> ComparedValue:
    outcomes = [(_outcome(hidden, value, evidence), value) for value in values] or [("missing", "")]
    outcome, said = min(outcomes, key=lambda each: _ORDER.index(each[0]))
    told = said if outcome in ("same", "other", "invented") else ""
    return ComparedValue(text=hidden.text, kind=hidden.kind, outcome=outcome, said=told)


def _outcome(hidden: Hidden, value: str, evidence: _Evidence) -> Outcome:
    folded = plain(value).text
    if folded.strip(" .'\"").lower() in _NOT_STATED:
        return "not stated"
    if hidden.token is None:
        return _named(hidden.text, folded, evidence)
    found = [token for token in tokens(folded) if any(states(each, token, evidence.tokens) for each in evidence.tokens)]
    if found:
        # What the judge shortened counts as it stands in the evidence too: "1.5 million" for 1,523,400.
        meant = [*found, *(each for each in evidence.tokens for token in found if states(each, token, evidence.tokens))]
        return "same" if any(states(token, hidden.token, evidence.tokens) for token in meant) else "other"
    return "not stated" if any(folded in text for text in evidence.plain) and not tokens(folded) else "invented"


def _named(name: str, said: str, evidence: _Evidence) -> Outcome:
    """Names are the same when one has all words of the other, or is its initials."""
    ours, theirs = _telling(name), _telling(said)
    if not theirs or not set(theirs) <= evidence.words:
        return "invented"
    if set(ours) <= set(theirs) or set(theirs) <= set(ours):
        return "same"
    initials = ("".join(word[0] for word in ours), "".join(word[0] for word in theirs))
    return "same" if initials[0] in theirs or initials[1] in ours else "other"


def _telling(name: str) -> list[str]:
    found = words(plain(name).text)
    return [word for word in found if word not in COMMON] or found
