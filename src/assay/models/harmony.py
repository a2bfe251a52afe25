"""OpenAI's harmony format, in which gpt-oss writes, where a server passes it on unread.

A message is `<|start|>assistant<|channel|>CHANNEL to=RECIPIENT<|message|>BODY` and an end. Reasoning is in the channel
`analysis`, the answer in `final`, calls in `commentary` with a recipient (https://github.com/openai/harmony).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from assay.core.messages import TextDelta, ThinkingDelta
from assay.models.calls import Written

STARTS = ("<|channel|>", "<|start|>")

_MARK = re.compile(r"<\|(start|channel|message|constrain|end|return|call)\|>")
_LONGEST = len("<|constrain|>")
_RECIPIENT = re.compile(r"to=(?:functions\.)?([\w.-]+)")


class Harmony:
    """Takes pieces of such a text in order."""

    def __init__(self) -> None:
        self._held = ""
        self._header: list[str] = []
        self._body: list[str] | None = None
        self._channel, self._recipient = "", ""

    def take(self, text: str) -> Iterator[TextDelta | ThinkingDelta | Written]:
        """What is certain after this piece."""
        self._held += text
        while (mark := _MARK.search(self._held)) is not None:
            before, self._held = self._held[: mark.start()], self._held[mark.end() :]
            yield from self._said(before)
            yield from self._marked(mark[1])
        at = self._held.rfind("<", max(0, len(self._held) - _LONGEST))
        cut = at if at >= 0 and _may_begin(self._held[at:]) else len(self._held)
        said, self._held = self._held[:cut], self._held[cut:]
        yield from self._said(said)

    def end(self) -> Iterator[TextDelta | ThinkingDelta | Written]:
        """What was held back: the text is over."""
        held, self._held = self._held, ""
        yield from self._said(held)
        yield from self._marked("end")

    def _said(self, text: str) -> Iterator[TextDelta | ThinkingDelta]:
        if not text:
            return
        if self._body is None:
            self._header.append(text)
        elif self._recipient:
            self._body.append(text)
        else:
            yield TextDelta(text) if self._channel == "final" else ThinkingDelta(text)

    def _marked(self, mark: str) -> Iterator[Written]:
        if mark == "message":
            header = "".join(self._header)
            recipient = _RECIPIENT.search(header)
            self._recipient = recipient[1] if recipient else ""
            self._channel = next((each for each in ("analysis", "commentary") if each in header), "final")
            self._body = []
            return
        if self._body is not None:
            if self._recipient:
                yield Written(self._recipient, "".join(self._body))
            self._body, self._recipient = None, ""
            self._header.clear()
        if mark in ("channel", "constrain"):
            self._header.append(" ")


def _may_begin(text: str) -> bool:
    """Whether `text` may be the first signs of a mark."""
    names = ("start", "channel", "message", "constrain", "end", "return", "call")
    return any(f"<|{name}|>".startswith(text) for name in names)
