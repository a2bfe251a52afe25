"""What came of an attempt at a model, in a few words."""

from __future__ import annotations

from assay.core.messages import Reply
from assay.core.ports import Fact
from assay.core.usage import Usage

REFUSAL_SHOWN = 300
"""Code points of a refusal in an event."""


def named(name: str, reason: str) -> str:
    """Why the model `name` failed, with its whole name where the reason begins with that of its provider."""
    provider = name.partition(":")[0]
    rest = reason.removeprefix(provider)
    return f"{name}{rest}" if rest != reason and rest[:1] in (" ", ":") else f"{name}: {reason}"


def unspoken(reply: Reply) -> bool:
    """Whether a reply was cut at its cap before it said anything: all of it went into thinking, shown or not."""
    return reply.stop == "length" and not reply.text.strip() and not reply.calls


def refusal(reply: Reply) -> str:
    """A refusal in one line, with the model's own words where it said some."""
    words = " ".join(reply.text.split())
    short = words if len(words) <= REFUSAL_SHOWN else words[:REFUSAL_SHOWN] + "…"
    return f"it refused to answer{': ' if short else ''}{short}"


def counts(usage: Usage) -> dict[str, Fact]:
    """What a call took, for who watches it."""
    names = ("input_tokens", "output_tokens", "cached_tokens", "cache_write_tokens", "reasoning_tokens", "usd")
    return {name: getattr(usage, name) for name in names}
