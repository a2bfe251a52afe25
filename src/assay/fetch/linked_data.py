"""What a page says of itself to search engines: schema.org in JSON-LD."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from assay.core.decoders import UNREADABLE
from assay.fetch.fields import iso_date
from assay.fetch.text_decoder import clean

LARGEST = 200_000
"""Characters of a block which is read."""
MOST_BLOCKS = 10
MOST_THINGS = 200
MOST_AUTHORS = 10
TYPES = frozenset(("newsarticle", "reportagenewsarticle", "article", "scholarlyarticle", "blogposting", "techarticle"))
"""The types whose author and dates are those of the page."""


class Linked(msgspec.Struct, frozen=True, kw_only=True):
    """Author, dates (ISO days) and type (in small letters) of the page's article; "" what is not said."""

    author: str = ""
    published: str = ""
    modified: str = ""
    type: str = ""


def read_linked(blocks: Iterable[str]) -> Linked:
    """What the first article says which the blocks tell of; a block which is no JSON tells of none."""
    for number, block in enumerate(blocks):
        if number >= MOST_BLOCKS:
            break
        for thing in _things(block):
            kind = _type(thing)
            if kind in TYPES:
                return Linked(
                    author=_names(thing.get("author")),
                    published=_day(thing.get("datePublished")),
                    modified=_day(thing.get("dateModified")),
                    type=kind,
                )
    return Linked()


def _things(block: str) -> Iterator[dict[str, object]]:
    """The things a block tells of, those of its graph too."""
    try:
        said = msgspec.json.decode(block[: LARGEST + 1]) if len(block) <= LARGEST else None
    except UNREADABLE:
        return
    waiting = [said]
    for _ in range(MOST_THINGS):
        if not waiting:
            return
        thing = waiting.pop(0)
        if isinstance(thing, list):
            waiting += thing[:MOST_THINGS]
        elif isinstance(thing, dict):
            yield thing
            waiting.append(thing.get("@graph"))


def _type(thing: dict[str, object]) -> str:
    stated = thing.get("@type")
    first = stated[0] if isinstance(stated, list) and stated else stated
    return first.lower() if isinstance(first, str) else ""


def _names(stated: object) -> str:
    people = stated if isinstance(stated, list) else [stated]
    named = [person.get("name") if isinstance(person, dict) else person for person in people[:MOST_AUTHORS]]
    names = (" ".join(clean(name).split()) for name in named if isinstance(name, str))
    return "; ".join(name for name in names if name and not name.startswith(("http://", "https://")))[:300]


def _day(stated: object) -> str:
    return iso_date(stated[:100]) if isinstance(stated, str) else ""
