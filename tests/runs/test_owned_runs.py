"""Whose run it is: noted with it, hashed for providers, and told to no model."""

from __future__ import annotations

import re

import msgspec
import pytest
from research import Log, Sea
from test_rules_requests import played

from assay.core import events as e
from assay.core.brief import Brief
from assay.core.messages import Request
from assay.run.steps import digest

USER, LABELS = "ann.smith@corp.example", {"cost-centre": "4711-blue"}


async def test_a_user_and_labels_are_in_the_first_event_and_in_no_request() -> None:
    log = await played("orchestrated", user=USER, labels=LABELS)
    created: Brief = log.last(e.RunCreated).brief
    assert (created.user, created.labels) == (USER, LABELS)
    assert log.model.requests
    for request in log.model.requests:
        said = msgspec.json.encode(request).decode()
        assert not any(word in said for word in (USER, "ann.smith", "cost-centre", "4711-blue")), request.task


async def hashes(user: str) -> set[object]:
    log: Log = await played("orchestrated", user=user)
    return {request.user for request in log.model.requests}


async def test_a_provider_tells_users_apart_by_a_hash() -> None:
    (ann,), (again,), (bob,) = await hashes("ann"), await hashes("ann"), await hashes("bob")
    assert isinstance(ann, str)
    assert re.fullmatch(r"[0-9a-f]{32}", ann)
    assert ann == again != bob
    assert await hashes("") == {msgspec.UNSET}


async def test_whose_a_run_is_changes_no_step() -> None:
    sea = Sea()
    assert sea.brief(user="ann").user == "ann"
    request = Request(task="plan", system="", messages=())
    assert digest(request) == digest(msgspec.json.decode(msgspec.json.encode(request), type=Request))
    assert b"user" not in msgspec.json.encode(request)


@pytest.mark.parametrize("strategy", ["orchestrated", "reflective"])
async def test_steps_of_one_user_are_those_of_another(strategy: str) -> None:
    logs = [await played(strategy, user=user) for user in ("", "ann")]
    kinds = [[(each.type, each.path) for each in log.envelopes] for log in logs]
    assert kinds[0] == kinds[1]
