"""Begins model calls before they are asked for; see `Run.foresee`."""

from __future__ import annotations

import sys
from collections.abc import Callable

from assay.core.brief import Role
from assay.core.messages import Request, input_tokens
from assay.run.place import RunPlace
from assay.run.sent_request import as_sent, timed, turn
from assay.run.speculation import ForeseenCall


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
