"""What a provider's cache needs: each request of a loop begins with all that lasts of the one before it."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import msgspec
import pytest
from research import Sea, one_agent, two_agents

from assay.core.messages import Message, Profile, Request
from assay.models.openai import SERVICES
from assay.models.openai.wire import request_fields
from assay.models.script import Scene, Scripted


def lasting(request: Request) -> tuple[Message, ...]:
    return request.messages[: len(request.messages) - request.passing]


def loops(requests: list[Request]) -> list[list[Request]]:
    """The requests of each loop, in their order: those whose lasting messages begin alike."""
    found: dict[bytes, list[Request]] = {}
    for request in requests:
        if request.passing:
            opening = [each for each in lasting(request)[:3] if each.role == "user" and each.name != "note"]
            found.setdefault(msgspec.json.encode((request.system, opening)), []).append(request)
    return list(found.values())


@pytest.mark.parametrize("script", [one_agent, two_agents])
async def test_every_request_of_a_loop_begins_with_the_one_before(script: Callable[[], list[Scene]]) -> None:
    model = Scripted(script(), profile=Profile(name="scripted"))
    await Sea().run(model)
    found = loops(model.requests)
    assert any(len(each) > 1 for each in found)
    for loop in found:
        for before, after in itertools.pairwise(loop):
            assert lasting(after)[: len(lasting(before))] == lasting(before)
            assert len(after.messages) > len(before.messages) or before.task != after.task
            assert (after.system, after.tools) == (before.system, before.tools)
        for request in loop:  # what changes from turn to turn comes after what lasts
            assert not {"rules", "report_findings"} & {each.name for each in lasting(request)}


async def test_so_do_the_bodies_and_each_loop_has_a_key_of_its_own() -> None:
    model = Scripted(two_agents(), profile=Profile(name="scripted"))
    await Sea().run(model)
    keys = []
    for loop in loops(model.requests):
        sent = [request_fields(each, "m", model.profile, SERVICES["openai"]) for each in loop]
        for request, (before, after) in zip(loop, itertools.pairwise(sent), strict=False):
            kept = len(before["messages"]) - request.passing
            assert after["messages"][:kept] == before["messages"][:kept]
            assert after.get("tools") == before.get("tools")
        assert len({each["prompt_cache_key"] for each in sent}) == 1
        keys.append(sent[0]["prompt_cache_key"])
    assert len(set(keys)) == len(keys) > 2
    for request in model.requests:
        alone = request_fields(request, "m", model.profile, SERVICES["vllm"])
        assert "prompt_cache_key" not in alone  # no server but OpenAI's is known to take it
