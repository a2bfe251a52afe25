"""Separates the answer in a reply from the reasoning that a model writes into the same text.

Services that know their models send reasoning in a separate field. Others pass on what the model writes: between tags,
in the channels of OpenAI's harmony format, or with a closing tag alone, because the opening tag was part of the
prompt's template. The last kind cannot be recognised before its closing tag. The answer streamed until then is taken
back, and the model's next replies count as thinking until that tag.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Literal

from assay.core.lazy import regex
from assay.core.messages import Delta, Retracted, TextDelta, ThinkingDelta
from assay.models.streams import PartialCalls, WrittenCall

# OpenAI's harmony format, which gpt-oss writes, if a server passes it on unparsed.

STARTS = ("<|channel|>", "<|start|>")
_MARK = regex(r"<\|(start|channel|message|constrain|end|return|call)\|>")
_MAX_MARK_CHARS = len("<|constrain|>")
_RECIPIENT = regex(r"to=(?:functions\.)?([\w.-]+)")


class Harmony:
    """Takes pieces of such a text in order."""

    def __init__(self) -> None:
        self._buffer = ""
        self._header: list[str] = []
        self._body: list[str] | None = None
        self._channel, self._recipient = "", ""

    def feed(self, text: str) -> Iterator[TextDelta | ThinkingDelta | WrittenCall]:
        """Yield what is certain after this piece."""
        self._buffer += text
        while (mark := _MARK.search(self._buffer)) is not None:
            before, self._buffer = self._buffer[: mark.start()], self._buffer[mark.end() :]
            yield from self._channel_delta(before)
            yield from self._read_mark(mark[1])
        mark_start = self._buffer.rfind("<", max(0, len(self._buffer) - _MAX_MARK_CHARS))
        ready_end = mark_start if mark_start >= 0 and _may_begin(self._buffer[mark_start:]) else len(self._buffer)
        ready, self._buffer = self._buffer[:ready_end], self._buffer[ready_end:]
        yield from self._channel_delta(ready)

    def end(self) -> Iterator[TextDelta | ThinkingDelta | WrittenCall]:
        """Yield the text held back until now: the text is over."""
        remaining, self._buffer = self._buffer, ""
        yield from self._channel_delta(remaining)
        yield from self._read_mark("end")

    def _channel_delta(self, text: str) -> Iterator[TextDelta | ThinkingDelta]:
        if not text:
            return
        if self._body is None:
            self._header.append(text)
        elif self._recipient:
            self._body.append(text)
        else:
            yield TextDelta(text) if self._channel == "final" else ThinkingDelta(text)

    def _read_mark(self, mark: str) -> Iterator[WrittenCall]:
        if mark == "message":
            header = "".join(self._header)
            recipient = _RECIPIENT.search(header)
            self._recipient = recipient[1] if recipient else ""
            self._channel = next((name for name in ("analysis", "commentary") if name in header), "final")
            self._body = []
            return
        if self._body is not None:
            if self._recipient:
                yield WrittenCall(self._recipient, "".join(self._body))
            self._body, self._recipient = None, ""
            self._header.clear()
        if mark in ("channel", "constrain"):
            self._header.append(" ")


def _may_begin(text: str) -> bool:
    """True if `text` may be the beginning of a mark."""
    names = ("start", "channel", "message", "constrain", "end", "return", "call")
    return any(f"<|{name}|>".startswith(text) for name in names)


TAGS = {
    "<think>": "</think>",
    "<thinking>": "</thinking>",
    "<thought>": "</thought>",
    "<reasoning>": "</reasoning>",
    "<seed:think>": "</seed:think>",
    "[THINK]": "[/THINK]",
    "◁think▷": "◁/think▷",
}
"""How models write reasoning beside their answer: Qwen, DeepSeek and most others, Magistral, Seed, Kimi."""
CLOSINGS = tuple(TAGS.values())
_BEGINNINGS = (*TAGS, *STARTS)
_CLOSING = regex("|".join(map(re.escape, CLOSINGS)))
_SIGNS = regex(r"[<\[◁]")
_STRIPPED = regex(r"analysis(?=[A-Z][a-z']* )")
_STRIPPED_END = "assistantfinal"
"""Harmony without its special tokens, which a server dropped: `analysisThe user asks … assistantfinalThe answer`."""
SpeechPart = TextDelta | ThinkingDelta | Retracted | WrittenCall
ReplyState = Literal["start", "thinking", "answer", "channels"]


class ReplyText:
    """Takes the pieces of one reply's text in order; the result does not depend on how the text was cut."""

    def __init__(self, *, opens_thinking: bool = False) -> None:
        """`opens_thinking`: this model is known to begin with reasoning and to mark only its end."""
        self._text: list[str] = []
        self._thinking: list[str] = []
        self._buffer = ""
        self._state: ReplyState = "start"
        self._closings: tuple[str, ...] = CLOSINGS
        self._unsure = opens_thinking
        self._unsure_thoughts: list[str] = []
        self._harmony = Harmony()
        self._has_begun = False
        self.lone = False
        """True if a closing tag came without its opening tag."""

    @property
    def text(self) -> str:
        """The answer so far."""
        return "".join(self._text)

    @property
    def thinking(self) -> str:
        """The reasoning so far."""
        return "".join((*self._thinking, *self._unsure_thoughts))

    def add_reasoning(self, text: str) -> Iterator[SpeechPart]:
        """Yield more reasoning, which the service sent separately."""
        if text:
            self._thinking.append(text)
            yield ThinkingDelta(text)

    def feed(self, text: str) -> Iterator[SpeechPart]:
        """Yield what is certain after this piece of the text."""
        if self._state == "answer" and not self._buffer and _SIGNS.search(text) is None:
            yield from self._add_answer(text)  # nearly always
            return
        self._buffer += text
        if self._state == "start":
            self._detect_opening()
        while self._buffer:
            before = self._buffer
            match self._state:
                case "start":
                    return
                case "thinking":
                    yield from self._read_reasoning()
                case "answer":
                    yield from self._read_answer()
                case "channels":
                    yield from self._collect(self._harmony.feed(self._take_held()))
            if self._buffer == before:
                return

    def end(self, *, calls: bool = False) -> Iterator[SpeechPart]:
        """Yield the text held back until now: the text is over. `calls`: there are tool calls beside it."""
        match self._state:
            case "channels":
                yield from self._collect(self._harmony.end())
            case "thinking" if self._unsure:
                self._unsure_thoughts.append(self._take_held())
                if not calls:
                    yield from self._retract_reasoning()
            case "thinking":
                yield from self.add_reasoning(self._take_held())
            case "answer":
                yield from self._read_answer(final=True)
            case "start":
                remaining = self._take_held()
                yield from self._add_answer(remaining.lstrip() if self._has_begun else remaining)

    # where it is

    def _detect_opening(self) -> None:
        """Determine how the text begins, as soon as that is certain."""
        text = self._buffer.lstrip()
        if not text or any(tag != text and tag.startswith(text) for tag in _BEGINNINGS):
            return
        opening = next((tag for tag in TAGS if text.startswith(tag)), "")
        if opening:
            self._state, self._closings, self._unsure = "thinking", (TAGS[opening],), False
            self._buffer = text.removeprefix(opening)
        elif text.startswith(STARTS):
            self._state, self._buffer = "channels", text
        elif not self._has_begun and _may_be_stripped(text):
            return
        elif not self._has_begun and _STRIPPED.match(text):
            self._state, self._closings, self._unsure = "thinking", (_STRIPPED_END,), True
            self._buffer = text.removeprefix("analysis")
        elif self._unsure and not self._has_begun:
            self._state, self._buffer = "thinking", text
        else:
            self._state, self._buffer = "answer", text if self._has_begun else self._buffer

    def _read_reasoning(self) -> Iterator[SpeechPart]:
        index, closing = _find_first(self._buffer, self._closings)
        thought = self._take_held(index if closing else len(self._buffer) - _overlap(self._buffer, self._closings))
        if thought and self._unsure:
            self._unsure_thoughts.append(thought)
            yield ThinkingDelta(thought)
        else:
            yield from self.add_reasoning(thought)
        if closing:
            self._thinking += self._unsure_thoughts
            self._unsure_thoughts.clear()
            self._end_reasoning(closing)

    def _end_reasoning(self, closing: str) -> None:
        """End the reasoning; more of it may follow at once."""
        self._buffer = self._buffer.removeprefix(closing)
        self._state, self._unsure, self._has_begun = "start", False, True
        self._detect_opening()

    def _read_answer(self, *, final: bool = False) -> Iterator[SpeechPart]:
        """Yield the answer up to a closing tag that nothing opened."""
        match = _CLOSING.search(self._buffer)
        if match is None:
            overlap = 0 if final else _overlap(self._buffer, CLOSINGS)
            yield from self._add_answer(self._take_held(len(self._buffer) - overlap))
        elif match.end() == len(self._buffer) and not final:
            yield from self._add_answer(self._take_held(match.start()))  # what follows decides whether it is quoted
        elif self._is_quoted(match):
            yield from self._add_answer(self._take_held(match.end()))
        else:
            text = self.text + self._take_held(match.start())
            self._text.clear()
            self._thinking.append(text)
            self.lone = True
            yield Retracted()
            if self.thinking:
                yield ThinkingDelta(self.thinking)
            self._end_reasoning(match[0])

    def _is_quoted(self, match: re.Match[str]) -> bool:
        """True if the tag is a word of the answer: in code, or closing a tag that the answer itself opened."""
        text, after = self.text + self._buffer[: match.start()], self._buffer[match.end() : match.end() + 1]
        opening = next(tag for tag, closing in TAGS.items() if closing == match[0])
        return text.endswith("`") or after == "`" or text.count("```") % 2 == 1 or opening in text

    def _retract_reasoning(self) -> Iterator[SpeechPart]:
        """Turn supposed reasoning into the answer, because the reasoning never ended."""
        text = "".join(self._unsure_thoughts)
        self._unsure_thoughts.clear()
        self._text.append(text)
        yield Retracted()
        if self._thinking:
            yield ThinkingDelta(self.thinking)
        yield TextDelta(text)

    # pieces

    def _add_answer(self, text: str) -> Iterator[SpeechPart]:
        if text:
            self._text.append(text)
            yield TextDelta(text)

    def _collect(self, pieces: Iterator[TextDelta | ThinkingDelta | WrittenCall]) -> Iterator[SpeechPart]:
        for piece in pieces:
            if isinstance(piece, TextDelta):
                self._text.append(piece.text)
            elif isinstance(piece, ThinkingDelta):
                self._thinking.append(piece.text)
            yield piece

    def _take_held(self, size: int | None = None) -> str:
        size = len(self._buffer) if size is None else size
        text, self._buffer = self._buffer[:size], self._buffer[size:]
        return text


def begin_calls(parts: Iterable[SpeechPart], calls: PartialCalls) -> Iterator[Delta]:
    """The deltas of a reply, with the calls that its model wrote begun among `calls`."""
    for part in parts:
        yield calls.begin().add("", part.name, part.arguments) if isinstance(part, WrittenCall) else part


def _may_be_stripped(text: str) -> bool:
    """True if it is too early to decide if `text` is harmony without its tokens."""
    return "analysis".startswith(text) or re.fullmatch(r"analysis[A-Z][a-z']{0,20}", text) is not None


def _find_first(text: str, closings: tuple[str, ...]) -> tuple[int, str]:
    """The position of the first of `closings` in `text`, and which one it is; "" if there is none."""
    matches = [(index, closing) for closing in closings if (index := text.find(closing)) >= 0]
    return min(matches, default=(0, ""))


def _overlap(text: str, closings: tuple[str, ...]) -> int:
    """How many characters at the end of `text` may begin one of `closings`."""
    longest = max(map(len, closings)) - 1
    tail = text[-longest:]
    sizes = range(len(tail), 0, -1)
    return next((size for size in sizes if any(closing.startswith(tail[-size:]) for closing in closings)), 0)
