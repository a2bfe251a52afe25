"""Models and embedders: requests to them, their keys, their limits on parallel calls, and their families."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Literal, NoReturn, Protocol, runtime_checkable

import msgspec

from assay.core.brief import Role
from assay.core.lazy import regex
from assay.core.messages import Delta, ModelFacts, Profile, Reply, Request
from assay.core.usage import Usage


class Secret:
    """A key or password. It prints, formats and logs as `***`, and is never stored: nothing encodes or pickles it."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """Return the value, for the one place that sends it."""
        return self._value

    def __repr__(self) -> str:
        return "***"

    __str__ = __repr__

    def __eq__(self, other: object) -> bool:
        return self._value == other._value if isinstance(other, Secret) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._value)

    def __copy__(self) -> Secret:
        return self

    def __deepcopy__(self, memo: dict[int, object]) -> Secret:
        return self

    def __reduce__(self) -> NoReturn:
        raise TypeError("a secret is never stored")


_NO_WRITERS = ("embed", "rerank")
"""Parts of the names of models that write nothing."""


def can_write(name: str) -> bool:
    """False if a model's name says that it writes nothing."""
    return not any(word in name.lower() for word in _NO_WRITERS)


# Families: models by the same maker are likely to make, and to miss, the same mistakes.

BUILT_IN = "extractive"
"""The built-in model, which cannot judge."""

_MAKERS = (
    ("openai", r"gpt|chatgpt|davinci|o[1-9](?:-|$)|codex"),
    ("anthropic", r"claude"),
    ("google", r"gemini|gemma|palm"),
    ("meta", r"llama"),
    ("mistral", r"(?:open-)?mi[sx]tral|magistral|ministral|codestral|devstral|pixtral"),
    ("alibaba", r"qwen|qwq"),
    ("deepseek", r"deepseek"),
    ("cohere", r"command|aya|c4ai"),
    ("xai", r"grok"),
    ("microsoft", r"phi"),
    ("moonshot", r"kimi|moonshot"),
    ("zhipu", r"glm|chatglm"),
    ("amazon", r"nova|titan"),
    ("nvidia", r"nemotron"),
    ("ibm", r"granite"),
)
_MAKER = tuple((maker, regex(rf"(?:^|[/.:_-])(?:{names})", re.IGNORECASE)) for maker, names in _MAKERS)


def model_family(name: str) -> str:
    """Return the maker of the model `name` (PROVIDER:NAME) if its name shows it, else its provider."""
    provider, _, model = name.partition(":")
    return next((maker for maker, pattern in _MAKER if pattern.search(model)), provider)


def default_judges(models: Mapping[Role, Sequence[str]]) -> tuple[str, ...]:
    """Choose the judges if none are configured: all models of the other roles, other families than the writer's first.

    If there is no other model, the built-in one.
    """
    roles: tuple[Role, ...] = ("analytical", "simple", "complex")
    names = [name for role in roles for name in models.get(role, ()) if name != BUILT_IN]
    writer = model_family(next(iter(models.get("complex", ())), BUILT_IN))
    ordered = sorted(dict.fromkeys(names), key=lambda name: model_family(name) == writer)
    return tuple(ordered) or (BUILT_IN,)


class Model(Protocol):
    """A language model: a stream of deltas, then exactly one `Reply`."""

    @property
    def profile(self) -> Profile: ...

    def stream(self, request: Request) -> AsyncGenerator[Delta | Reply, None]:
        """Stream the answer to `request`.

        Raises:
            ModelError: this attempt failed; `transient` and `retry_after` say whether to try again.
            ContextTooLong: the request does not fit the window.
        """

    async def offered(self) -> tuple[str, ...]:
        """The names of the models that the service behind this one offers.

        Raises:
            ModelError: the service does not answer.
        """

    async def close(self) -> None:
        """Close connections; the model may be called again."""


@runtime_checkable
class DescribableModel(Protocol):
    """A model whose server can report its abilities."""

    async def described(self, *, load: bool = True) -> ModelFacts:
        """Return what the server reports; empty if it reports nothing or does not answer. Takes two seconds at most.

        With `load` the server may load the model first, if it reports the window only then: a minute at most.
        """

    def refused_window(self, refusal: str) -> int:
        """The window in tokens that the server names as it refuses a request that is too long; 0 if it names none."""


@runtime_checkable
class LearningModel(Protocol):
    """A model whose profile learns from its server's refusals, which are stored with the run."""

    def learn(self, refusal: str) -> None:
        """Take the window that a refusal names, if it is smaller than the profile's."""


class Access(msgspec.Struct, frozen=True, kw_only=True):
    """The address, key and options a model's adapter receives besides its name.

    `url` is the base of the service's API, empty for the adapter's default. `facts` are the user's settings about the
    model. `region` and `signing` are for providers with regions and signed requests: the id of the key, the secret key,
    and a session's token if there is one. `prefixes` is for an embedder: the text before a query and before a passage;
    None uses what is known about the model.
    """

    url: str = ""
    key: Secret | None = None
    facts: ModelFacts = ModelFacts()
    region: str = ""
    signing: tuple[Secret, ...] = ()
    prefixes: tuple[str, str] | None = None


# Embedders: vectors of texts, so that a search finds the same meaning in other words, and similarity of texts.

TextKind = Literal["query", "passage"]
"""The kind of a text for an embedder: many models embed a question differently from what may answer it."""


class Embedding(msgspec.Struct, frozen=True):
    """The vectors of some texts, in order, all of one length. `tokens` is how many tokens the service counted."""

    vectors: Sequence[Sequence[float]]
    tokens: int


class Embedder(Protocol):
    """A model that computes vectors of texts: the smaller the angle, the nearer the meaning. Blocking.

    `name` is PROVIDER:MODEL. `local` says that texts stay on this machine. `price` is in US dollars per million tokens,
    0 if it is free, None if unknown.
    """

    @property
    def name(self) -> str: ...

    @property
    def local(self) -> bool: ...

    @property
    def price(self) -> float | None: ...

    def embed(self, texts: Sequence[str], kind: TextKind) -> Embedding:
        """Return the vectors of `texts`, in one request. A text that is too long counts with its beginning.

        Raises:
            ModelError: this attempt failed; `transient` and `retry_after` say whether to try again.
            ContextTooLong: a text, or all of them together, exceeds what the model accepts.
        """

    def close(self) -> None:
        """Close connections; the embedder may be called again."""


class Cosines(msgspec.Struct, frozen=True):
    """Cosines between two lists of texts: a row for each text of the first, a column for each of the second.

    `usage` is what the embedder used; what is cached costs nothing.
    """

    rows: tuple[tuple[float, ...], ...]
    usage: Usage = Usage()


class Similarity(Protocol):
    """Similarity of texts in meaning, by an embedder. `name` is the embedder's."""

    @property
    def name(self) -> str: ...

    def max_usage(self, texts: Sequence[str]) -> Usage:
        """The most that comparing these texts may cost."""

    async def cosines(self, texts: Sequence[str], others: Sequence[str], kind: TextKind = "passage") -> Cosines:
        """Return the cosines of `texts`, embedded as `kind`, with `others`, embedded as passages.

        Raises:
            SearchFailed: the embedder does not answer.
        """


# Permits limit the parallel calls to a service over all processes.


class Permits(Protocol):
    """Permits to call a service for a limited time: those of a dead process expire."""

    async def take(self, service: str, id: str, limit: int, ttl: float) -> bool:
        """Take a permit with this `id` for `ttl` seconds, if fewer than `limit` of the service are in use."""

    async def renew(self, id: str, ttl: float) -> None:
        """Extend the permit to `ttl` seconds from now."""

    async def give_back(self, id: str) -> None:
        """Return the permit after the call; does nothing if it has expired."""


class RateLimiter(Protocol):
    """Delays model calls until a service allows them."""

    def call_slot(self, model: str) -> AbstractAsyncContextManager[None]:
        """Wait until this call may be made; the body of the `async with` is the call."""
