"""Limits and rates of each user: as in the settings, unless an admin has set others."""

from __future__ import annotations

import math
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from contextvars import ContextVar
from typing import get_type_hints

import msgspec
from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from assay.core.allowance import OwnerLimits
from assay.core.errors import AssayError, DiskFull, TooMany
from assay.core.ports.users import Buckets, BucketState, GivenLimits, LimitStore, Rate
from assay.server.guards import ProblemAnswer
from assay.server.problems import Problem, failure_problem, problem
from assay.services.daily import limits_of_users
from assay.settings import Settings

FRESH_SECONDS = 5.0
"""Seconds after which a change on one server applies on all of them."""


class UserLimits(OwnerLimits, frozen=True, kw_only=True):
    """The limits of a user; None is no limit."""

    requests_per_minute: int | None = None
    runs_per_hour: int | None = None


DAILY = tuple(get_type_hints(OwnerLimits))
"""Those that the library enforces."""


class LimitBook:
    """The limits of all users, read again from time to time."""

    def __init__(
        self, store: LimitStore | None, settings: Settings, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._store, self._clock = store, clock
        self.usual = UserLimits(
            requests_per_minute=settings.server.requests_per_minute or None,
            runs_per_hour=settings.server.runs_per_hour or None,
            **msgspec.structs.asdict(limits_of_users(settings.limits)),
        )
        self._user_limits: dict[str, GivenLimits] = {}
        self._stale_at = 0.0

    async def refresh(self) -> None:
        """Read the limits, unless that was done just now.

        Raises:
            StoreError: they cannot be read.
        """
        if self._store is not None and self._clock() >= self._stale_at:
            self._user_limits = await self._store.all()
            self._stale_at = self._clock() + FRESH_SECONDS

    def limits_of(self, user: str) -> UserLimits:
        """The limits of a user, as last read."""
        limits = self._user_limits.get(user)
        return msgspec.structs.replace(self.usual, **limits) if limits else self.usual

    def daily_limits(self, user: str) -> OwnerLimits | None:
        """The limits that the library needs for a user; None if the user has none of their own."""
        if user not in self._user_limits:
            return None
        limits = msgspec.structs.asdict(self.limits_of(user))
        return OwnerLimits(**{name: limits[name] for name in DAILY})

    def overrides(self) -> dict[str, GivenLimits]:
        """The limits set for single users."""
        return dict(self._user_limits)

    async def set_limits(self, user: str, limits: GivenLimits) -> None:
        """Set the limits of a user; they apply here at once.

        Raises:
            StoreError: they cannot be written.
        """
        if self._store is not None:
            await self._store.set_limits(user, limits)
        self._stale_at = 0.0
        await self.refresh()


# Limits on requests and new runs, shown in `RateLimit` headers (draft-ietf-httpapi-ratelimit-headers-11).

REQUESTS, RUNS = "requests", "runs"
MINUTE, HOUR = 60.0, 3_600.0

_bucket_states: ContextVar[list[BucketState] | None] = ContextVar("told", default=None)
"""The tokens taken for the current request."""


class Rates:
    """The rates of users, over the buckets of the store."""

    def __init__(self, buckets: Buckets | None, limits: LimitBook) -> None:
        self._buckets, self._limits = buckets, limits

    async def take_request_token(self, owner: str) -> BucketState | None:
        """Take a token for a request; None if there is no limit."""
        await self._limits.refresh()
        rate = _rate(REQUESTS, self._limits.limits_of(owner).requests_per_minute, MINUTE)
        try:
            return await self._buckets.take(owner, rate) if rate and self._buckets else None
        except DiskFull:  # requests cannot be counted, but those that read can be answered
            return None

    @asynccontextmanager
    async def run_token(self, owner: str) -> AsyncIterator[None]:
        """Take a token for a run or job that may begin in the block; it is returned if none begins.

        Raises:
            TooMany: the user has begun as many as allowed.
        """
        rate = _rate(RUNS, self._limits.limits_of(owner).runs_per_hour, HOUR) if owner else None
        if rate is None or self._buckets is None:
            yield
            return
        state = await self._buckets.take(owner, rate)
        if (states := _bucket_states.get()) is not None:
            states.append(state)
        if state.wait:
            raise TooMany(
                f"{state.rate.most} runs and jobs an hour are allowed (server.runs_per_hour): "
                f"the next one in {math.ceil(state.wait)} s",
                state.wait,
            )
        try:
            yield
        except BaseException:
            await self._buckets.give_back(owner, rate)
            raise


def _rate(name: str, limit: int | None, seconds: float) -> Rate | None:
    return None if limit is None else Rate(name=name, most=limit, seconds=seconds)


class RateLimitMiddleware:
    """Counts the requests of each user, refuses excess ones, and shows in headers what is left."""

    def __init__(self, app: ASGIApp, rates: Rates, answer: ProblemAnswer) -> None:
        self._app, self._rates, self._answer = app, rates, answer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        owner = str(scope.get("state", {}).get("owner", ""))
        if scope["type"] != "http" or not owner:
            await self._app(scope, receive, send)
            return
        states: list[BucketState] = []
        denial: Problem | None = None
        try:
            if state := await self._rates.take_request_token(owner):
                states.append(state)
                denial = _refusal(state) if state.wait else None
        except AssayError as error:
            denial = failure_problem(scope["method"], scope["path"], error)

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start" and states:
                headers = MutableHeaders(scope=message)
                for name, value in rate_headers(states).items():
                    headers[name] = value
            await send(message)

        token = _bucket_states.set(states)
        try:
            application = self._app if denial is None else self._answer(Request(scope, receive), denial)
            await application(scope, receive, send_with_headers)
        finally:
            _bucket_states.reset(token)


def _refusal(state: BucketState) -> Problem:
    wait = math.ceil(state.wait)
    text = f"{state.rate.most} requests a minute are allowed (server.requests_per_minute): the next one in {wait} s"
    return problem("rate-limited", text, retry_after=wait)


def rate_headers(states: list[BucketState]) -> dict[str, str]:
    """The headers about limits: the policies and their states. After `t` seconds everything is available again."""
    policies = (f'"{state.rate.name}";q={state.rate.most};w={state.rate.seconds:.0f}' for state in states)
    levels = (f'"{state.rate.name}";r={state.left};t={math.ceil(state.full)}' for state in states)
    return {"RateLimit-Policy": ", ".join(policies), "RateLimit": ", ".join(levels)}
