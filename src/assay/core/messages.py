"""Requests to models and their replies; their size, and data about similarity and rarity."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from assay.core.lazy import regex
from assay.core.passage_context import ShownPassage, ShownSource
from assay.core.text import estimate_tokens, words
from assay.core.usage import Usage

# Similarity in meaning of passages and questions: cosines, by an embedder.


class Closeness(msgspec.Struct, frozen=True, kw_only=True):
    """Cosines by question, and for each question by the id of the passage."""

    cosines: dict[str, dict[str, float]] = {}

    def cosines_for(self, question: str) -> Mapping[str, float]:
        """The cosines of passages with `question`; if it was not compared, with the question most like it in words."""
        if question in self.cosines:
            return self.cosines[question]
        question_words = set(words(question))
        best, best_share = "", 0.0
        for other_question in self.cosines:
            other_words = set(words(other_question))
            share = len(question_words & other_words) / (len(question_words | other_words) or 1)
            if share > best_share:
                best, best_share = other_question, share
        return self.cosines.get(best, {})


def passage_text(above: str, topic: str, text: str) -> str:
    """A passage as the embedder reads it: its heading or title, its topic, its words."""
    return "\n".join(filter(None, (above, topic, text)))


def shown_text(source: ShownSource, passage: ShownPassage) -> str:
    """The same for a passage as a model was shown it."""
    return passage_text(passage.under.rpartition(" > ")[2] or source.title, passage.about, passage.text)


# The rarity of words in what may be searched: counts with which the relevance scorer weighs words.


class Rarity(msgspec.Struct, frozen=True, kw_only=True):
    """How many of the `passages` in scope contain an index term, by term. A missing term was not counted.

    `meant` has the words of the question that are nowhere, with those that they are probably a slip for.
    """

    passages: int = 0
    holding: dict[str, int] = {}
    meant: dict[str, str] = {}


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

    `thought` names the text argument that is the model's reasoning, which is shown as such while it streams.
    """

    name: str
    description: str
    parameters: dict[str, Any]
    control: bool = False
    thought: str = ""


class ToolCall(msgspec.Struct, frozen=True, kw_only=True):
    """One call in a reply. `arguments` are decoded; if that fails they are `{}`, and `malformed` has the text."""

    id: str
    name: str
    arguments: dict[str, Any] = {}
    malformed: str = ""


class Message(msgspec.Struct, frozen=True, kw_only=True):
    """One message. `name` says what a user message contains (question, documents, plan, findings, brief, task …).

    A `tool` message answers the call `call_id`. `values` has the content of `text` as JSON, for code that reads
    messages. It is never sent.
    """

    role: Literal["user", "assistant", "tool"]
    text: str = ""
    name: str = ""
    calls: tuple[ToolCall, ...] = ()
    call_id: str = ""
    values: str = ""


class Schema(msgspec.Struct, frozen=True, kw_only=True):
    """The form of a JSON reply: a JSON Schema of an object, with every field required and no others allowed.

    A service that can enforce it does; otherwise the reply is JSON as the model writes it.
    """

    name: str
    schema: dict[str, Any]


def object_schema(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON Schema of an object with these fields, all required and no others, as strict services want it."""
    return {"type": "object", "properties": dict(fields), "required": list(fields), "additionalProperties": False}


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """One question to a model.

    `tool_choice` is auto, required, none, or a tool's name; `max_tokens` limits output in addition to native reasoning.
    The last `passing` messages belong to this request alone: a loop's next request begins with those before them, so a
    provider can cache up to there. `timeout` is seconds between tokens, `first_token` seconds to the first, `total`
    seconds for the whole reply; in a run they come from its brief.

    The other fields are not part of the question. `user` is a hash that lets providers tell users apart. `schema` is
    the form of a JSON reply. `room` are tokens in addition to `max_tokens` for a model known to reason before it
    answers. `rarity` (how rare the question's words are in the documents) and `closeness` (how near passages are to the
    questions) are for a model that only quotes.
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

    def user_texts(self, name: str) -> tuple[str, ...]:
        """The texts of the user messages with this `name`, in order."""
        return tuple(message.text for message in self.messages if message.role == "user" and message.name == name)

    def values(self, name: str) -> tuple[str, ...]:
        """The user messages with this `name` as JSON, in order: their values, or if they have none their text."""
        matching = (message for message in self.messages if message.role == "user" and message.name == name)
        return tuple(message.values or message.text for message in matching)


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
    """Everything returned of this reply so far is void; what counts follows again."""


class Reply(msgspec.Struct, frozen=True, kw_only=True, tag="reply"):
    """A complete reply; `model` is the name of the model that gave it."""

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    thinking: str = ""
    usage: Usage = Usage()
    stop: StopReason = "end"
    model: str = ""


Delta = TextDelta | ThinkingDelta | CallDelta | CallDone | Retracted


class Price(msgspec.Struct, frozen=True, kw_only=True):
    """US dollars per million tokens.

    `cached` is for input read from a provider's cache, `cache_write` for input written to it; None: as any input.
    """

    input: float
    output: float
    cached: float | None = None
    cache_write: float | None = None

    def cost(self, usage: Usage) -> float:
        """The cost of `usage` in US dollars; tokens read from and written to a cache are parts of the input."""
        cached_price = self.input if self.cached is None else self.cached
        write_price = self.input if self.cache_write is None else self.cache_write
        plain = max(0, usage.input_tokens - usage.cached_tokens - usage.cache_write_tokens)
        parts = plain * self.input + usage.cached_tokens * cached_price + usage.cache_write_tokens * write_price
        return (parts + usage.output_tokens * self.output) / 1e6

    def max_cost(self, usage: Usage) -> float:
        """The most that `usage` can cost, in US dollars, however much of its input is cached."""
        dearest = max(self.input, self.cached or 0.0, self.cache_write or 0.0)
        return (usage.input_tokens * dearest + usage.output_tokens * self.output) / 1e6


MAX_OUTPUT = 16_000
"""Output tokens for a model whose cap is unknown."""
REASONING_ROOM = {"low": 4_000, "medium": 10_000, "high": 25_000}
"""Tokens in addition to the answer for a model that reasons before it: the limit of a request counts both."""


class ModelFacts(msgspec.Struct, frozen=True, kw_only=True):
    """Facts that a user, or a model's own server, knows better than the built-in table; None uses the table.

    `window` and `max_output` in tokens, `price` in US dollars per million tokens.
    """

    window: int | None = None
    max_output: int | None = None
    native_reasoning: bool | None = None
    price: Price | None = None


class Profile(msgspec.Struct, frozen=True, kw_only=True):
    """The abilities of a model. `window` and `max_output` in tokens; `price` None if unknown; `local` on this machine.

    `quotes` says that it only quotes: it follows no instructions, and writes only the languages of its sources.
    """

    name: str
    window: int = 128_000
    max_output: int = 16_000
    native_reasoning: bool = False
    price: Price | None = None
    deterministic: bool = False
    local: bool = False
    quotes: bool = False


# The text of messages for a model: each between tags of its name, which nothing inside can open or close.

MESSAGE_NAMES = tuple(
    """
    answers assumptions background brief conversation coverage documents evidence fields findings headers instructions
    note objection parts plan question reflections report_findings rules seen sentence steering task template
    """.split()
)
"""Every name a message can have. A page that contains such a tag must not be mistaken for us."""
_OURS = "|".join(MESSAGE_NAMES)
_TAG = regex(rf"<(?=\s*(?:(?i:/\s*(?:{_OURS}))|(?:{_OURS}))\b)")


def tagged(message: Message) -> str:
    """A message's text as sent: between the tags of its name, if it has one, and without any other such tag."""
    text = untagged(message.text)
    return f"<{message.name}>\n{text}\n</{message.name}>" if message.name else text


def untagged(text: str) -> str:
    """`text` with the `<` of anything like our tags written as `&lt;`."""
    return _TAG.sub("&lt;", text)


# The size of a request, estimated before anybody has counted it.


def input_tokens(request: Request) -> int:
    """An estimate, on the safe side, of the tokens of a request: texts, calls and tool definitions."""
    texts = [request.system, *(message.text for message in request.messages)]
    calls = [call.arguments for message in request.messages for call in message.calls]
    texts += [msgspec.json.encode([*calls, *request.tools]).decode()]
    return sum(estimate_tokens(text) for text in texts)
