"""The calls of a run and the tokens it sends to its models, by task, in whole runs with a scripted model.

python bench/prompts.py

Tokens are estimated (`core.text.estimate_tokens`) from the text that a chat completions service gets: system text,
messages and tool definitions.
"""

from __future__ import annotations

import asyncio
from collections import Counter

import msgspec
import scenario
from simulated import Bench

from assay.core.messages import Price, Profile, Request
from assay.core.text import estimate_tokens
from assay.models.openai.chat_services import ChatService
from assay.models.openai.wire import request_fields
from assay.models.script import Scripted
from assay.store.memory import memory_store

PROFILE = Profile(name="vllm:m", price=Price(input=1.0, output=2.0), deterministic=True)
SERVICE = ChatService(name="vllm", url="http://127.0.0.1:8000/v1")
STRATEGIES = ("orchestrated", "reflective")


class Sent(msgspec.Struct, frozen=True):
    """Calls of one task and the tokens they sent; `fixed` are those of the system texts."""

    calls: int
    tokens: int
    fixed: int


def tokens(request: Request) -> int:
    """What goes over the wire for a request."""
    sent = request_fields(request, "m", PROFILE, SERVICE)
    return estimate_tokens(msgspec.json.encode([sent["messages"], sent.get("tools", [])]).decode())


def tally(requests: list[Request]) -> dict[str, Sent]:
    """What was sent, by task, the whole last."""
    calls, sent, fixed = Counter[str](), Counter[str](), Counter[str]()
    for request in requests:
        for name in (request.task, "all"):
            calls[name] += 1
            sent[name] += tokens(request)
            fixed[name] += estimate_tokens(request.system)
    order = [*(name for name in calls if name != "all"), "all"]
    return {name: Sent(calls[name], sent[name], fixed[name]) for name in order}


async def requests(strategy: str) -> list[Request]:
    """The requests of one run."""
    model = Scripted(scenario.reply, profile=PROFILE)
    store = memory_store()
    try:
        await Bench(store, model, search=0.0, page=0.0).run(strategy)
    finally:
        await store.close()
    return model.requests


async def main() -> None:
    """Print a table for each strategy."""
    for strategy in STRATEGIES:
        print(f"{strategy}\n{'task':12} calls  tokens  of them in system texts")
        for task, sent in tally(await requests(strategy)).items():
            print(f"{task:12} {sent.calls:5} {sent.tokens:7} {sent.fixed:7}")


if __name__ == "__main__":
    asyncio.run(main())
