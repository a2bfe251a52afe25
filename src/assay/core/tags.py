"""How messages read to a model: each between tags of its name, which nothing inside it can open or close."""

from __future__ import annotations

import re

from assay.core.messages import Message

NAMES = (
    "answers",
    "assumptions",
    "background",
    "brief",
    "conversation",
    "coverage",
    "documents",
    "evidence",
    "fields",
    "findings",
    "headers",
    "instructions",
    "note",
    "objection",
    "parts",
    "plan",
    "question",
    "reflections",
    "report_findings",
    "rules",
    "seen",
    "sentence",
    "steering",
    "task",
    "template",
)
"""Every name a message has. A page which writes such a tag must not be taken for us."""

_OURS = "|".join(NAMES)
_TAG = re.compile(rf"<(?=\s*(?:(?i:/\s*(?:{_OURS}))|(?:{_OURS}))\b)")


def tagged(message: Message) -> str:
    """A message's text as it is sent: between the tags of its name where it has one, and without any other such tag."""
    text = untagged(message.text)
    return f"<{message.name}>\n{text}\n</{message.name}>" if message.name else text


def untagged(text: str) -> str:
    """`text` with the `<` of what looks like one of our tags written as `&lt;`."""
    return _TAG.sub("&lt;", text)
