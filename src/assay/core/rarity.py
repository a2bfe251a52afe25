"""How rare words are in what may be searched: counts, as the scorer of relevance weighs words by them."""

from __future__ import annotations

import msgspec


class Rarity(msgspec.Struct, frozen=True, kw_only=True):
    """How many of the `passages` in scope hold an index term, by term. One which is not named was not counted."""

    passages: int = 0
    holding: dict[str, int] = {}
