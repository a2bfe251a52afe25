"""The use of an allowance by runs, and its rest."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from assay.core.errors import Overtaken
from assay.core.ports.journal import FINAL, Allowance, RunSpending
from assay.core.usage import Budget


class Remainder(msgspec.Struct, frozen=True):
    """The money and tokens left, never below zero; None if there is no limit."""

    usd: float | None
    tokens: int | None


class _LimitedBrief(msgspec.Struct, frozen=True):
    """The part of a brief that is read."""

    budget: Budget = Budget()


def used_or_held(run: RunSpending) -> tuple[float, int]:
    """US dollars and tokens: what an ended run has used; for any other its limit, if that is more."""
    usd, tokens = run.usage.usd, run.usage.tokens
    if run.status in FINAL:
        return usd, tokens
    budget = msgspec.json.decode(run.brief, type=_LimitedBrief).budget
    return max(usd, budget.usd or 0.0), max(tokens, budget.tokens or 0)


def remainder_of(allowance: Allowance, runs: Iterable[RunSpending]) -> Remainder:
    """The rest of an allowance after these runs, which are all since it began, and what was used outside them."""
    usd, tokens, outside = allowance.usd, allowance.tokens, allowance.outside
    for of_usd, of_tokens in ((outside.usd, outside.tokens), *map(used_or_held, runs)):
        usd = None if usd is None else usd - of_usd
        tokens = None if tokens is None else tokens - of_tokens
    return Remainder(None if usd is None else max(0.0, usd), None if tokens is None else max(0, tokens))


class OwnerLimits(msgspec.Struct, frozen=True, kw_only=True):
    """The limits of one user: runs, money and tokens a day (UTC), runs queued or executed at once; None: no limit."""

    runs_per_day: int | None = None
    usd_per_day: float | None = None
    tokens_per_day: int | None = None
    runs_at_once: int | None = None


def check_allowance(allowance: Allowance, runs: Sequence[RunSpending], active_count: int, brief: bytes) -> None:
    """Check that a new run, by its stored brief, needs no more than is left; `active_count` runs are queued or
    executed.

    Raises:
        Overtaken: it needs more.
    """
    if allowance.runs is not None and len(runs) >= allowance.runs:
        raise Overtaken
    if allowance.at_once is not None and active_count >= allowance.at_once:
        raise Overtaken
    remaining, budget = remainder_of(allowance, runs), msgspec.json.decode(brief, type=_LimitedBrief).budget
    if remaining.usd is not None and (budget.usd is None or budget.usd > remaining.usd):
        raise Overtaken
    if remaining.tokens is not None and (budget.tokens is None or budget.tokens > remaining.tokens):
        raise Overtaken
