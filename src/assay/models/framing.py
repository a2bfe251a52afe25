"""How a message of ours reads to any model."""

from __future__ import annotations

from assay.core.messages import Message


def framed(message: Message) -> str:
    """A user message's text; where it has a name, between tags of that name, so that a model can tell what it is."""
    return f"<{message.name}>\n{message.text}\n</{message.name}>" if message.name else message.text
