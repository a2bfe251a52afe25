"""What is said to a model and what comes back; how long, how near and how rare it is."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from assay.core.passage_context import ShownPassage, ShownSource
from assay.core.text import estimate_tokens, words
from assay.core.usage import Usage

# How near passages are in meaning to what is asked: cosines, as an embedder sees both.


class Closeness(msgspec.Struct, frozen=True, kw_only=True):
    """Cosines by question, and of each question by the id of the passage."""

    cosines: dict[str, dict[str, float]] = {}

    def of(self, question: str) -> Mapping[str, float]:
        """The cosines of passages with `question`; where it was not compared, with the one most like it in words."""
        if question in self.cosines:
            return self.cosines[question]
        asked = set(words(question))
        best, most = "", 0.0
        for known in self.cosines:
            said = set(words(known))
            share = len(asked & said) / (len(asked | said) or 1)
            if share > most:
                best, most = known, share
        return self.cosines.get(best, {})


def passage_text(above: str, about: str, text: str) -> str:
    """A passage as an embedder reads it: the heading or title it stands under, what it is about, its words."""
    return "\n".join(filter(None, (above, about, text)))


def shown_text(source: ShownSource, passage: ShownPassage) -> str:
    """The same of a passage as a model was shown it."""
    return passage_text(passage.under.rpartition(" > ")[2] or source.title, passage.about, passage.text)


# How rare words are in what may be searched: counts, as the scorer of relevance weighs words by them.


class Rarity(msgspec.Struct, frozen=True, kw_only=True):
    """How many of the `passages` in scope hold an index term, by term. One which is not named was not counted."""

    passages: int = 0
    holding: dict[str, int] = {}


Task = Literal[
    "triage",
    "background",
    "plan",
    "orchestrate",
    "research",
    "find",
    "analyze",
    "reflect",
    "assess",
    "answer",
    "write",
    "fill",
    "survey",
    "judge",
    "revise",
]
StopReason = Literal["end", "calls", "length", "refused"]


class ToolDefinition(msgspec.Struct, frozen=True, kw_only=True):
    """A tool a model may call; `parameters` is a JSON Schema object. `control` marks a signal, not an action.

    `thought` names the text argument which is the model's reasoning, and is shown as such while it streams.
    """

    name: str
    description: str
    parameters: dict[str, Any]
    control: bool = False
    thought: str = ""


class ToolCall(msgspec.Struct, frozen=True, kw_only=True):
    """One call in a reply. `arguments` are decoded; what cannot be decoded arrives as `{}` with `malformed` text."""

    id: str
    name: str
    arguments: dict[str, Any] = {}
    malformed: str = ""


class Message(msgspec.Struct, frozen=True, kw_only=True):
    """One message. `name` says what a user message holds (question, documents, plan, findings, brief, task …).

    A `tool` message answers the call `call_id`. `values` is what `text` says in sentences, once more as JSON: for code
    which reads messages. It is never sent.
    """

    role: Literal["user", "assistant", "tool"]
    text: str = ""
    name: str = ""
    calls: tuple[ToolCall, ...] = ()
    call_id: str = ""
    values: str = ""


class Schema(msgspec.Struct, frozen=True, kw_only=True):
    """The form of a reply which is to be JSON: a JSON Schema of an object, every field required and no other allowed.

    Where a service can hold its model to it, it does; where not, the reply is JSON as the model writes it.
    """

    name: str
    schema: dict[str, Any]


def closed(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON Schema of an object with these fields, all required and no other allowed, as strict services want it."""
    return {"type": "object", "properties": dict(fields), "required": list(fields), "additionalProperties": False}


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """One question to a model.

    `tool_choice` is auto, required, none, or a tool's name; `max_tokens` counts output beyond native reasoning. The
    last `passing` messages belong to this request alone: a loop's next request begins with those before them, so that
    up to there a provider can keep it in its cache. `timeout` is seconds between tokens, `first_token` seconds to the
    first, `total` seconds for the whole reply; in a run they are those of its brief. `user` is a hash which providers
    may tell users apart by, and no part of the question. Nor are `schema`, the form of a reply in JSON, and `room`:
    tokens granted beyond `max_tokens` to a model which was seen to reason before it answers, and `rarity`, how rare the
    question's words are in the documents, and `closeness`, how near passages are to what is asked, for a model which
    only quotes.
    """

    task: Task
    system: str
    messages: tuple[Message, ...]
    tools: tuple[ToolDefinition, ...] = ()
    tool_choice: str = "auto"
    max_tokens: int = 1024
    effort: Literal["low", "medium", "high"] = "medium"
    timeout: float = 60.0
    first_token: float = 60.0
    total: float = 1800.0
    passing: int = 0
    user: str | msgspec.UnsetType = msgspec.UNSET
    schema: Schema | msgspec.UnsetType = msgspec.UNSET
    room: int | msgspec.UnsetType = msgspec.UNSET
    rarity: Rarity | msgspec.UnsetType = msgspec.UNSET
    closeness: Closeness | msgspec.UnsetType = msgspec.UNSET

    def named(self, name: str) -> tuple[str, ...]:
        """The texts of the user messages which hold `name`, in order."""
        return tuple(message.text for message in self.messages if message.role == "user" and message.name == name)

    def values(self, name: str) -> tuple[str, ...]:
        """The user messages which hold `name` as JSON, in order: their values, or where they have none their text."""
        said = (message for message in self.messages if message.role == "user" and message.name == name)
        return tuple(message.values or message.text for message in said)


class TextDelta(msgspec.Struct, frozen=True, tag="text"):
    """More of the reply's text."""

    text: str


class ThinkingDelta(msgspec.Struct, frozen=True, tag="think"):
    """More of the model's native reasoning."""

    text: str


class CallDelta(msgspec.Struct, frozen=True, tag="call-part"):
    """More of a tool call whose arguments come as JSON text in pieces; `index` is its place among the reply's calls.

    `id` and `name` come with any of its parts, or never.
    """

    index: int
    text: str = ""
    name: str = ""
    id: str = ""


class CallDone(msgspec.Struct, frozen=True, tag="call"):
    """A tool call is complete in the stream; `index` is its place among the reply's calls."""

    index: int
    call: ToolCall


class Retracted(msgspec.Struct, frozen=True, tag="retracted"):
    """All that was given of this reply so far is taken back; what stands is given again after this."""


class Reply(msgspec.Struct, frozen=True, kw_only=True, tag="reply"):
    """A whole reply; `model` is the name of the model which gave it."""

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    thinking: str = ""
    usage: Usage = Usage()
    stop: StopReason = "end"
    model: str = ""


Delta = TextDelta | ThinkingDelta | CallDelta | CallDone | Retracted


class Price(msgspec.Struct, frozen=True, kw_only=True):
    """US dollars for a million tokens.

    `cached` is for input read from a provider's cache, `cache_write` for input written to it; None: as any input.
    """

    input: float
    output: float
    cached: float | None = None
    cache_write: float | None = None

    def of(self, usage: Usage) -> float:
        """What `usage` costs, in US dollars; tokens read from a cache and written to it are parts of the input."""
        cached = self.input if self.cached is None else self.cached
        written = self.input if self.cache_write is None else self.cache_write
        plain = max(0, usage.input_tokens - usage.cached_tokens - usage.cache_write_tokens)
        parts = plain * self.input + usage.cached_tokens * cached + usage.cache_write_tokens * written
        return (parts + usage.output_tokens * self.output) / 1e6

    def most(self, usage: Usage) -> float:
        """The most that `usage` can cost, in US dollars: whatever of its input is cached."""
        dearest = max(self.input, self.cached or 0.0, self.cache_write or 0.0)
        return (usage.input_tokens * dearest + usage.output_tokens * self.output) / 1e6


MAX_OUTPUT = 16_000
"""Tokens a reply may have, of a model whose cap nobody knows."""
REASONING_ROOM = {"low": 4_000, "medium": 10_000, "high": 25_000}
"""Tokens granted beyond the answer to a model which reasons before it: the limit of a request counts both."""


class ModelFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What a user, or a model's own server, knows better about it than any table; None leaves it to the table.

    `window` and `max_output` in tokens, `price` in US dollars for a million tokens.
    """

    window: int | None = None
    max_output: int | None = None
    native_reasoning: bool | None = None
    price: Price | None = None


class Profile(msgspec.Struct, frozen=True, kw_only=True):
    """What a model can do. `window` and `max_output` in tokens; `price` None when unknown; `local` on this machine.

    `quotes` says that it only quotes: it follows no instructions, and writes no language but those of its sources.
    """

    name: str
    window: int = 128_000
    max_output: int = 16_000
    native_reasoning: bool = False
    price: Price | None = None
    deterministic: bool = False
    local: bool = False
    quotes: bool = False


# How messages read to a model: each between tags of its name, which nothing inside it can open or close.

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


# What a request counts before anybody has counted it.


def input_tokens(request: Request) -> int:
    """An estimate, on the safe side, of what a request's input counts: texts, calls and tool definitions."""
    texts = [request.system, *(message.text for message in request.messages)]
    calls = [call.arguments for message in request.messages for call in message.calls]
    texts += [msgspec.json.encode([*calls, *request.tools]).decode()]
    return sum(estimate_tokens(text) for text in texts)
