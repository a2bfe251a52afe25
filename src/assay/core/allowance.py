"""What a number of runs has taken of an allowance, and what it leaves."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from assay.core.errors import Overtaken
from assay.core.ports.journal import FINAL, Allowance, Spent
from assay.core.usage import Budget


class Left(msgspec.Struct, frozen=True):
    """What is left of money and tokens, never below zero; None where there is no limit."""

    usd: float | None
    tokens: int | None


class _Limited(msgspec.Struct, frozen=True):
    """What is read of a brief."""

    budget: Budget = Budget()


def taken(run: Spent) -> tuple[float, int]:
    """US dollars and tokens: what an ended run has used, of any other its limit where that is more."""
    usd, tokens = run.usage.usd, run.usage.tokens
    if run.status in FINAL:
        return usd, tokens
    budget = msgspec.json.decode(run.brief, type=_Limited).budget
    return max(usd, budget.usd or 0.0), max(tokens, budget.tokens or 0)


def left(allowance: Allowance, runs: Iterable[Spent]) -> Left:
    """What these runs, all there are since the allowance began, leave of it."""
    usd, tokens = allowance.usd, allowance.tokens
    for run in runs:
        of_usd, of_tokens = taken(run)
        usd = None if usd is None else usd - of_usd
        tokens = None if tokens is None else tokens - of_tokens
    return Left(None if usd is None else max(0.0, usd), None if tokens is None else max(0, tokens))


def check(allowance: Allowance, runs: Iterable[Spent], brief: bytes) -> None:
    """Look whether a new run, by its stored brief, takes no more than is left.

    Raises:
        Overtaken: it would.
    """
    rest, wanted = left(allowance, runs), msgspec.json.decode(brief, type=_Limited).budget
    if rest.usd is not None and (wanted.usd is None or wanted.usd > rest.usd):
        raise Overtaken
    if rest.tokens is not None and (wanted.tokens is None or wanted.tokens > rest.tokens):
        raise Overtaken
