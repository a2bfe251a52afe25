"""Models and embedders: what is asked of them, the keys for it, how many calls at once, and which are of one family."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Literal, Protocol, runtime_checkable

import msgspec

from assay.core.brief import Role
from assay.core.messages import Delta, ModelFacts, Profile, Reply, Request
from assay.core.usage import Usage


class Secret:
    """A key or password: printed, formatted or logged it is `***`."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """The value, for the one place which sends it."""
        return self._value

    def __repr__(self) -> str:
        return "***"

    __str__ = __repr__


# Families: models made by the same hands are likely to make, and to miss, the same mistakes.

BUILT_IN = "extractive"
"""The built-in model, which judges nothing."""

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
_MAKER = tuple((maker, re.compile(rf"(?:^|[/.:_-])(?:{names})", re.IGNORECASE)) for maker, names in _MAKERS)


def family(name: str) -> str:
    """The maker of the model `name` (PROVIDER:NAME) as its name tells it, else its provider."""
    provider, _, model = name.partition(":")
    return next((maker for maker, pattern in _MAKER if pattern.search(model)), provider)


def judges(models: Mapping[Role, Sequence[str]]) -> tuple[str, ...]:
    """Who judges, where nobody says so: all models of the other roles, those first which are of another family than
    the first which writes the report; the built-in one where there is no other.
    """
    roles: tuple[Role, ...] = ("analytical", "simple", "complex")
    named = [name for role in roles for name in models.get(role, ()) if name != BUILT_IN]
    writer = family(next(iter(models.get("complex", ())), BUILT_IN))
    ordered = sorted(dict.fromkeys(named), key=lambda name: family(name) == writer)
    return tuple(ordered) or (BUILT_IN,)


class Model(Protocol):
    """A language model: a stream of deltas, then exactly one `Reply`."""

    @property
    def profile(self) -> Profile: ...

    def stream(self, request: Request) -> AsyncGenerator[Delta | Reply, None]:
        """Answer `request`.

        Raises:
            ModelError: this attempt failed; `transient` and `retry_after` say whether to try again.
            ContextTooLong: the request does not fit the window.
        """
        ...

    async def offered(self) -> tuple[str, ...]:
        """The names of the models which the service behind this one offers.

        Raises:
            ModelError: it cannot be asked.
        """
        ...

    async def close(self) -> None:
        """Let go of connections; the model may be asked again."""
        ...


@runtime_checkable
class DescribableModel(Protocol):
    """A model whose server can be asked what it is able to do."""

    async def described(self) -> ModelFacts:
        """What the server says; nothing, where it says nothing or nobody answers. It takes two seconds at most."""
        ...


class Access(msgspec.Struct, frozen=True, kw_only=True):
    """What a model's adapter is told besides its name.

    `url` is the base of the service's API, empty for the adapter's own; `facts` are what the user says of the model.
    `region` and `signing` are for providers which have regions, and take signed requests: the id of the key, the secret
    key, and a session's token where there is one. `prefixes` is for an embedder: what stands before a query, and before
    a passage; None leaves it to what is known of the model.
    """

    url: str = ""
    key: Secret | None = None
    facts: ModelFacts = ModelFacts()
    region: str = ""
    signing: tuple[Secret, ...] = ()
    prefixes: tuple[str, str] | None = None


# Embedders: texts to vectors, so that a search finds what means the same in other words; and how near texts are.

TextKind = Literal["query", "passage"]
"""What a text is to an embedder: many models read a question otherwise than what may answer it."""


class Embedding(msgspec.Struct, frozen=True):
    """The vectors of some texts, in their order, all of one length; `tokens` is what the texts were counted as."""

    vectors: Sequence[Sequence[float]]
    tokens: int


class Embedder(Protocol):
    """A model which gives texts vectors: the nearer two of them point, the nearer their meaning. Blocking.

    `name` is PROVIDER:MODEL. `local` says that texts stay on this machine. `price` is in US dollars for a million
    tokens, 0 where nothing is paid, None where nobody knows it.
    """

    @property
    def name(self) -> str: ...

    @property
    def local(self) -> bool: ...

    @property
    def price(self) -> float | None: ...

    def embed(self, texts: Sequence[str], kind: TextKind) -> Embedding:
        """The vectors of `texts`, in one request; a text which is too long counts by its beginning.

        Raises:
            ModelError: this attempt failed; `transient` and `retry_after` say whether to try again.
            ContextTooLong: a text, or all of them together, are more than the model takes.
        """
        ...

    def close(self) -> None:
        """Let go of connections; the embedder may be asked again."""
        ...


class Cosines(msgspec.Struct, frozen=True):
    """How near some texts are to others: a row for each of the first, in it a cosine for each of the others.

    `usage` is what the embedder was asked for it: what is known already costs nothing.
    """

    rows: tuple[tuple[float, ...], ...]
    usage: Usage = Usage()


class Similarity(Protocol):
    """How near texts are in meaning, by an embedder. `name` is the embedder's."""

    @property
    def name(self) -> str: ...

    def most(self, texts: Sequence[str]) -> Usage:
        """The most that comparing these texts may cost."""
        ...

    async def cosines(self, texts: Sequence[str], others: Sequence[str], kind: TextKind = "passage") -> Cosines:
        """The cosines of `texts`, which are read as `kind`, with `others`, which are read as passages.

        Raises:
            SearchFailed: the embedder does not answer.
        """
        ...


# Permits: how many calls a service gets at once, by all processes together.


class Permits(Protocol):
    """Permits to call a service, each for a time: those of a process which died run out."""

    async def take(self, service: str, id: str, most: int, ttl: float) -> bool:
        """Have a permit of this `id` for `ttl` seconds, where fewer than `most` of the service are in force."""
        ...

    async def renew(self, id: str, ttl: float) -> None:
        """Hold on to it for `ttl` more seconds."""
        ...

    async def give_back(self, id: str) -> None:
        """The call has ended; nothing happens where the permit ran out."""
        ...


class RateLimiter(Protocol):
    """When a model may be called."""

    def turn(self, model: str) -> AbstractAsyncContextManager[None]:
        """Wait until it is this call's turn; the block is the call."""
        ...
