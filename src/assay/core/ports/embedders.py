"""Embedders: texts to vectors, so that a search finds what means the same in other words; and how near texts are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

import msgspec

from assay.core.usage import Usage

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
