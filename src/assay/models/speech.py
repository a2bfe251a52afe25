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
_LONGEST = len("<|constrain|>")
_RECIPIENT = regex(r"to=(?:functions\.)?([\w.-]+)")


class Harmony:
    """Takes pieces of such a text in order."""

    def __init__(self) -> None:
        self._held = ""
        self._header: list[str] = []
        self._body: list[str] | None = None
        self._channel, self._recipient = "", ""

    def feed(self, text: str) -> Iterator[TextDelta | ThinkingDelta | WrittenCall]:
        """Yield what is certain after this piece."""
        self._held += text
        while (mark := _MARK.search(self._held)) is not None:
            before, self._held = self._held[: mark.start()], self._held[mark.end() :]
            yield from self._channel_delta(before)
            yield from self._read_mark(mark[1])
        at = self._held.rfind("<", max(0, len(self._held) - _LONGEST))
        cut = at if at >= 0 and _may_begin(self._held[at:]) else len(self._held)
        ready, self._held = self._held[:cut], self._held[cut:]
        yield from self._channel_delta(ready)

    def end(self) -> Iterator[TextDelta | ThinkingDelta | WrittenCall]:
        """Yield the text held back until now: the text is over."""
        held, self._held = self._held, ""
        yield from self._channel_delta(held)
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
            self._channel = next((each for each in ("analysis", "commentary") if each in header), "final")
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
Place = Literal["start", "thinking", "answer", "channels"]


class ReplyText:
    """Takes the pieces of one reply's text in order; the result does not depend on how the text was cut."""

    def __init__(self, *, opens_thinking: bool = False) -> None:
        """`opens_thinking`: this model is known to begin with reasoning and to mark only its end."""
        self._text: list[str] = []
        self._thinking: list[str] = []
        self._held = ""
        self._place: Place = "start"
        self._closings: tuple[str, ...] = CLOSINGS
        self._unsure = opens_thinking
        self._guessed: list[str] = []
        self._harmony = Harmony()
        self._begun = False
        self.lone = False
        """True if a closing tag came without its opening tag."""

    @property
    def text(self) -> str:
        """The answer so far."""
        return "".join(self._text)

    @property
    def thinking(self) -> str:
        """The reasoning so far."""
        return "".join((*self._thinking, *self._guessed))

    def add_reasoning(self, text: str) -> Iterator[SpeechPart]:
        """Yield more reasoning, which the service sent separately."""
        if text:
            self._thinking.append(text)
            yield ThinkingDelta(text)

    def feed(self, text: str) -> Iterator[SpeechPart]:
        """Yield what is certain after this piece of the text."""
        if self._place == "answer" and not self._held and _SIGNS.search(text) is None:
            yield from self._add_answer(text)  # nearly always
            return
        self._held += text
        if self._place == "start":
            self._detect_opening()
        while self._held:
            before = self._held
            match self._place:
                case "start":
                    return
                case "thinking":
                    yield from self._read_reasoning()
                case "answer":
                    yield from self._read_answer()
                case "channels":
                    yield from self._collect(self._harmony.feed(self._take_held()))
            if self._held == before:
                return

    def end(self, *, calls: bool = False) -> Iterator[SpeechPart]:
        """Yield the text held back until now: the text is over. `calls`: there are tool calls beside it."""
        match self._place:
            case "channels":
                yield from self._collect(self._harmony.end())
            case "thinking" if self._unsure:
                self._guessed.append(self._take_held())
                if not calls:
                    yield from self._retract_reasoning()
            case "thinking":
                yield from self.add_reasoning(self._take_held())
            case "answer":
                yield from self._read_answer(final=True)
            case "start":
                held = self._take_held()
                yield from self._add_answer(held.lstrip() if self._begun else held)

    # where it is

    def _detect_opening(self) -> None:
        """Determine how the text begins, as soon as that is certain."""
        begun = self._held.lstrip()
        if not begun or any(each != begun and each.startswith(begun) for each in _BEGINNINGS):
            return
        opening = next((each for each in TAGS if begun.startswith(each)), "")
        if opening:
            self._place, self._closings, self._unsure = "thinking", (TAGS[opening],), False
            self._held = begun.removeprefix(opening)
        elif begun.startswith(STARTS):
            self._place, self._held = "channels", begun
        elif not self._begun and _may_be_stripped(begun):
            return
        elif not self._begun and _STRIPPED.match(begun):
            self._place, self._closings, self._unsure = "thinking", (_STRIPPED_END,), True
            self._held = begun.removeprefix("analysis")
        elif self._unsure and not self._begun:
            self._place, self._held = "thinking", begun
        else:
            self._place, self._held = "answer", begun if self._begun else self._held

    def _read_reasoning(self) -> Iterator[SpeechPart]:
        at, closing = _find_first(self._held, self._closings)
        thought = self._take_held(at if closing else len(self._held) - _overlap(self._held, self._closings))
        if thought and self._unsure:
            self._guessed.append(thought)
            yield ThinkingDelta(thought)
        else:
            yield from self.add_reasoning(thought)
        if closing:
            self._thinking += self._guessed
            self._guessed.clear()
            self._end_reasoning(closing)

    def _end_reasoning(self, closing: str) -> None:
        """End the reasoning; more of it may follow at once."""
        self._held = self._held.removeprefix(closing)
        self._place, self._unsure, self._begun = "start", False, True
        self._detect_opening()

    def _read_answer(self, *, final: bool = False) -> Iterator[SpeechPart]:
        """Yield the answer up to a closing tag that nothing opened."""
        found = _CLOSING.search(self._held)
        if found is None:
            kept = 0 if final else _overlap(self._held, CLOSINGS)
            yield from self._add_answer(self._take_held(len(self._held) - kept))
        elif found.end() == len(self._held) and not final:
            yield from self._add_answer(self._take_held(found.start()))  # what follows decides whether it is quoted
        elif self._is_quoted(found):
            yield from self._add_answer(self._take_held(found.end()))
        else:
            text = self.text + self._take_held(found.start())
            self._text.clear()
            self._thinking.append(text)
            self.lone = True
            yield Retracted()
            if self.thinking:
                yield ThinkingDelta(self.thinking)
            self._end_reasoning(found[0])

    def _is_quoted(self, found: re.Match[str]) -> bool:
        """True if the tag is a word of the answer: in code, or closing a tag that the answer itself opened."""
        text, after = self.text + self._held[: found.start()], self._held[found.end() : found.end() + 1]
        opening = next(each for each, closing in TAGS.items() if closing == found[0])
        return text.endswith("`") or after == "`" or text.count("```") % 2 == 1 or opening in text

    def _retract_reasoning(self) -> Iterator[SpeechPart]:
        """Turn supposed reasoning into the answer, because the reasoning never ended."""
        text = "".join(self._guessed)
        self._guessed.clear()
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
        for each in pieces:
            if isinstance(each, TextDelta):
                self._text.append(each.text)
            elif isinstance(each, ThinkingDelta):
                self._thinking.append(each.text)
            yield each

    def _take_held(self, size: int | None = None) -> str:
        size = len(self._held) if size is None else size
        taken, self._held = self._held[:size], self._held[size:]
        return taken


def begin_calls(parts: Iterable[SpeechPart], calls: PartialCalls) -> Iterator[Delta]:
    """The deltas of a reply, with the calls that its model wrote begun among `calls`."""
    for each in parts:
        yield calls.begin().add("", each.name, each.arguments) if isinstance(each, WrittenCall) else each


def _may_be_stripped(begun: str) -> bool:
    """True if it is too early to decide if `begun` is harmony without its tokens."""
    return "analysis".startswith(begun) or re.fullmatch(r"analysis[A-Z][a-z']{0,20}", begun) is not None


def _find_first(text: str, closings: tuple[str, ...]) -> tuple[int, str]:
    """The position of the first of `closings` in `text`, and which one it is; "" if there is none."""
    found = [(at, each) for each in closings if (at := text.find(each)) >= 0]
    return min(found, default=(0, ""))


def _overlap(text: str, closings: tuple[str, ...]) -> int:
    """How many characters at the end of `text` may begin one of `closings`."""
    longest = max(map(len, closings)) - 1
    tail = text[-longest:]
    sizes = range(len(tail), 0, -1)
    return next((size for size in sizes if any(each.startswith(tail[-size:]) for each in closings)), 0)
