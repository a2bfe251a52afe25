"""How much fits: output caps and the room a window leaves for a history, in tokens."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from assay.core.messages import Message, Profile, ToolDefinition
from assay.core.text import estimate_tokens

MARGIN = 0.05
MESSAGE_TOKENS = 8


def output(profile: Profile, wanted: int) -> int:
    """An output cap: what is wanted, what the model can, and at most a quarter of its window."""
    return max(1, min(wanted, profile.max_output, profile.window // 4))


def room(profile: Profile, system: str, tools: Sequence[ToolDefinition], max_tokens: int) -> int:
    """What is left of the window for messages."""
    fixed = estimate_tokens(system) + estimate_tokens(msgspec.json.encode(tools).decode()) + max_tokens
    return max(0, int(profile.window * (1 - MARGIN)) - fixed)


def size(message: Message) -> int:
    """What a message takes, estimated on the safe side."""
    calls = msgspec.json.encode(message.calls).decode() if message.calls else ""
    return estimate_tokens(message.text) + estimate_tokens(calls) + MESSAGE_TOKENS


def total(messages: Sequence[Message]) -> int:
    """What messages take together."""
    return sum(size(message) for message in messages)
