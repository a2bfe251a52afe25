"""A request in the form in which it is sent, the same whether it is asked or begun ahead (`Run.foresee`)."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, nullcontext

import msgspec

from assay.core.brief import Role, Timeouts
from assay.core.messages import Request, Task, input_tokens
from assay.run.place import RunPlace
from assay.run.speculation import ForeseenCall

LONG: frozenset[Task] = frozenset(("find", "analyze", "write"))
"""Tasks with long replies, during which a model may pause to reason."""
FILLED = 0.95
"""The usable part of a window: the size of a request is an estimate."""


def timed(request: Request, timeouts: Timeouts) -> Request:
    """`request` with the timeouts that its run sets for this kind of call."""
    return msgspec.structs.replace(
        request,
        timeout=timeouts.report if request.task in LONG else timeouts.tokens,
        first_token=timeouts.first_token,
        total=timeouts.total,
    )


def owned(request: Request, user: str) -> Request:
    """`request` with what a provider may know of its user: enough to tell users apart, and no name."""
    if not user:
        return request
    return msgspec.structs.replace(request, user=hashlib.sha256(f"assay user {user}".encode()).hexdigest()[:32])


def as_sent(place: RunPlace, name: str, request: Request) -> Request:
    """`request` in the form in which the model `name` gets it: with its user, and with the room it is known to need."""
    request = owned(request, place.brief.user)
    room = room_for(place, name, request)
    return msgspec.structs.replace(request, room=room) if room else request


def room_for(place: RunPlace, name: str, request: Request) -> int:
    """Extra tokens, beyond its answer, that a model gets in a call."""
    known = place.execution.breakers.room(name)
    return min(known, max(0, left_in_window(place, name, request))) if known else 0


def left_in_window(place: RunPlace, name: str, request: Request) -> int:
    """Tokens of a model's window that neither the request nor its answer takes."""
    window = place.world.models[name].profile.window
    return int(window * FILLED) - input_tokens(request) - request.max_tokens


def turn(place: RunPlace, name: str) -> AbstractAsyncContextManager[None]:
    """Wait for the rate limiter; the timeouts begin afterwards."""
    rate_limiter = place.world.rate_limiter
    return nullcontext() if rate_limiter is None else rate_limiter.turn(name)


def foresee(
    place: RunPlace, slot: str, role: Role, build: Callable[[], Request | None], *, certain: bool = False
) -> None:
    """Begin the call, if limits, settings and its model allow it and it was not begun yet.

    Only the first model of a role is asked: a fallback is for what goes wrong. A model that gives the same reply at
    once each time has nothing to gain.
    """
    execution = place.execution
    name = place.brief.models[role][0]
    model, most = place.world.models[name], execution.spare_tokens()
    if not most or model.profile.deterministic or execution.breakers.is_open(name, place.world.clock.monotonic()):
        return
    request = build()
    if request is None:
        return
    sent = as_sent(place, name, timed(request, place.brief.timeouts))
    most = sys.maxsize if certain else most
    if input_tokens(sent) < most and not execution.foreseen.expects(slot, name, sent):
        execution.foreseen.add(slot, ForeseenCall(name, model, sent, turn(place, name), most))
