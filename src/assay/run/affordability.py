"""What a budget pays for: the worst case of a call, one report at the least, and what is set apart for it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Self

import msgspec

from assay.core.brief import Brief
from assay.core.errors import TooLittle, UsageError
from assay.core.messages import REASONING_ROOM, Profile, Request, input_tokens
from assay.core.ports import Model, World
from assay.core.usage import Budget, Usage

REPORT_SHARE = 0.40
VERIFY_SHARE = 0.15
REPORT_OUTPUT = 20_000
SMALLEST = Usage(model_calls=1, input_tokens=3_000, output_tokens=1_000)
"""The smallest call which makes a report of some findings."""
LEAST_TOKENS = SMALLEST.tokens
LEAST_OUTPUT = 256


class Reserve(msgspec.Struct, frozen=True, kw_only=True):
    """What of a budget is set apart at the start: one report call at its worst case, and a part for verification."""

    report: Budget
    checking: Budget

    @classmethod
    def of(
        cls, budget: Budget, writer: Profile | None = None, *, verify: bool = True, output: int = REPORT_OUTPUT
    ) -> Self:
        """At most 40 % for the report and 15 % for verification; nothing for what is not limited, or not wanted.

        `output` is the most tokens a report may have.
        """
        share = VERIFY_SHARE if verify else 0.0
        worst = None if writer is None else _longest(writer, output)
        usd = None if worst is None or writer is None or writer.price is None else writer.price.most(worst)
        return cls(
            report=Budget(
                usd=None if budget.usd is None else min(budget.usd * REPORT_SHARE, _or(usd, budget.usd)),
                tokens=None
                if budget.tokens is None
                else min(round(budget.tokens * REPORT_SHARE), budget.tokens if worst is None else worst.tokens),
            ),
            checking=Budget(
                usd=None if budget.usd is None else budget.usd * share,
                tokens=None if budget.tokens is None else round(budget.tokens * share),
            ),
        )

    def kept(self, budget: Budget, *, writing: bool) -> Budget:
        """The budget without what is set apart for those who come later."""
        later = (self.checking,) if writing else (self.report, self.checking)
        usd = None if budget.usd is None else budget.usd - sum(each.usd or 0.0 for each in later)
        tokens = None if budget.tokens is None else budget.tokens - sum(each.tokens or 0 for each in later)
        return msgspec.structs.replace(budget, usd=usd, tokens=tokens)


def _or(value: float | None, other: float) -> float:
    return other if value is None else value


def _longest(writer: Profile, output: int) -> Usage:
    """The worst case of one report call."""
    output = min(output, writer.max_output, writer.window // 4)
    return Usage(model_calls=1, input_tokens=writer.window - output, output_tokens=output + reasoning(writer, "medium"))


def reasoning(profile: Profile, effort: str) -> int:
    """The tokens a model may use for its reasoning beside the output it is allowed."""
    return REASONING_ROOM[effort] if profile.native_reasoning else 0


def worst_case(models: Sequence[Model], request: Request, room: int = 0) -> Usage:
    """The most a call can cost, whichever of its models answers; `room` is what one of them was seen to need more."""
    inputs = input_tokens(request)
    output = request.max_tokens + max(room, *(reasoning(model.profile, request.effort) for model in models))
    usage = Usage(model_calls=1, input_tokens=inputs, output_tokens=output)
    prices = (model.profile.price for model in models)
    usd = max((price.most(usage) for price in prices if price is not None), default=0.0)
    return msgspec.structs.replace(usage, usd=usd)


def fitted(models: Sequence[Model], request: Request, room: Budget) -> Request:
    """`request` with its output cut to what `room` still pays for, where that leaves a useful answer."""
    worst = worst_case(models, request)
    over = [] if room.tokens is None else [worst.tokens - room.tokens]
    if room.usd is not None and worst.usd > room.usd:
        dearest = max(model.profile.price.output if model.profile.price else 0.0 for model in models)
        over.append(int((worst.usd - room.usd) * 1e6 / dearest) + 1 if dearest else 0)
    output = request.max_tokens - max((*over, 0))
    return msgspec.structs.replace(request, max_tokens=output) if output >= LEAST_OUTPUT else request


def check(budget: Budget, writer: Profile | None = None, everyone: Iterable[Profile] = ()) -> None:
    """Refuse a budget below one report call, and a limit of money where a price is not known.

    Args:
        writer: who writes the report.
        everyone: every model the run may ask.

    Raises:
        UsageError: naming the least that works, or the setting which names the price.
    """
    if budget.seconds is not None and budget.seconds <= 0:
        raise UsageError("a run needs more than 0 seconds")
    smallest = _smallest(writer)
    if budget.tokens is not None and budget.tokens < smallest.tokens:
        raise TooLittle(f"{budget.tokens} tokens do not pay for one report: allow at least {smallest.tokens}")
    for name in ("searches", "pages", "agents"):
        limit = getattr(budget, name)
        if limit is not None and limit < 1:
            raise UsageError(f"a limit of {limit} {name} leaves no research: allow at least 1")
    if budget.usd is not None:
        _check_money(budget.usd, smallest, writer, everyone)


def _smallest(writer: Profile | None) -> Usage:
    more = 0 if writer is None else reasoning(writer, "medium")
    return msgspec.structs.replace(SMALLEST, output_tokens=SMALLEST.output_tokens + more)


def _check_money(usd: float, smallest: Usage, writer: Profile | None, everyone: Iterable[Profile]) -> None:
    unpriced = sorted({profile.name for profile in everyone if profile.price is None})
    if unpriced:
        raise UsageError(
            f"a limit of money needs the price of every model, and none is known for {', '.join(unpriced)}; "
            f'name it in the settings file: [catalogue."{unpriced[0]}"] with input_price and output_price, '
            "in US dollars for a million tokens"
        )
    least = writer.price.most(smallest) if writer is not None and writer.price is not None else 0.0
    if usd <= 0 or usd < least:
        whose = f" by {writer.name}" if writer is not None else ""
        raise TooLittle(f"${usd:g} does not pay for one report{whose}; allow at least ${max(least, 0.0001):.4f}")


def check_brief(brief: Brief, world: World) -> None:
    """Refuse a brief whose budget cannot do; see `check`.

    Raises:
        UsageError: as `check`.
    """
    names = {name for models in brief.models.values() for name in models} & world.models.keys()
    check(brief.budget, writer(brief, world), [world.models[name].profile for name in sorted(names)])


def writer(brief: Brief, world: World) -> Profile | None:
    """Who writes the report, None where no model is named."""
    first = next(iter(brief.models.get("complex", ())), "")
    return world.models[first].profile if first in world.models else None
