"""Models: what is asked of a language model, and what its adapter is told."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Protocol, runtime_checkable

import msgspec

from assay.core.messages import Delta, ModelFacts, Profile, Reply, Request
from assay.core.secrets import Secret


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
