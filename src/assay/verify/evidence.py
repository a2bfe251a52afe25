"""What a claim cites, as the checks see it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from assay.core.clean import local_path
from assay.core.sources import SNIPPET, Passage, Source, Surroundings
from assay.core.tables.cells import ReadTable
from assay.core.text import words


class ClaimEvidence(msgspec.Struct, frozen=True, kw_only=True):
    """The passages a claim cites, and the sources they are of.

    `cut_before` and `cut_after` are ids of passages whose first or last sentence is only a part of the document's;
    `around` is what stands around passages in their documents, by id, where that is known. `tables` reads the tables of
    the documents cited, as a whole; there are none where the documents are not at hand.
    """

    passages: tuple[Passage, ...]
    sources: Mapping[str, Source]
    cut_before: frozenset[str] = frozenset()
    cut_after: frozenset[str] = frozenset()
    around: Mapping[str, Surroundings] = {}
    tables: Callable[[], Sequence[ReadTable]] = tuple

    @property
    def texts(self) -> tuple[str, ...]:
        """What counts as stated: each passage, the headings above it, and what it is about."""
        headings = (heading for passage in self.passages for heading in passage.above)
        return (*(passage.text for passage in self.passages), *dict.fromkeys(headings))

    @property
    def is_hearsay(self) -> bool:
        """Whether nothing but what search providers said of pages is cited, and none of the pages."""
        cited = self._cited()
        return bool(cited) and all(source.media_type == SNIPPET for source in cited)

    def names(self) -> tuple[str, ...]:
        """What the cited sources are called."""
        return tuple(name for source in self._cited() for name in names_of(source))

    def told(self) -> tuple[object, ...]:
        """All a check may see of it, as plain data: nothing of what is not cited, nor when and where it was read."""
        around = [self.around.get(passage.id) for passage in self.passages]
        sources = [replace(source, fetched_at="", url=_address(source.url)) for source in self._cited()]
        return self.passages, sources, sorted(self.cut_before), sorted(self.cut_after), around

    def _cited(self) -> list[Source]:
        ids = dict.fromkeys(passage.source for passage in self.passages)
        return [self.sources[id] for id in ids if id in self.sources]


def names_of(source: Source) -> tuple[str, ...]:
    """Title, address, and the metadata which name a document."""
    named = (value for key, value in source.metadata.items() if _NAMING.fullmatch(key))
    return tuple(name for name in (source.title, _address(source.url), *named) if name)


def _address(url: str) -> str:
    """An address as it names what is there: of a file its own name, for where a folder lies says nothing of it."""
    path = local_path(url) if url.startswith(("file:", "upload:")) else None
    return url if path is None else path.rpartition("/")[2]


_NAMING = re.compile(r"id|name|number|title|slug|doi|isbn", re.IGNORECASE)


class FieldPassage(msgspec.Struct, frozen=True):
    """A passage which is a header field, `KEY: VALUE`; `name` is the key's words."""

    passage: Passage
    name: tuple[str, ...]
    value: str


_FIELD = re.compile(
    r"\s*(?:[-*+][ \t]+)?[:*_]{0,2}(?P<key>[^\W\d_][^:：\n]{0,60}?)[*_]{0,2}[ \t]*"
    r"[:：][*_]{0,2}[ \t]*(?P<value>\S.*|\n.*\S.*)",
    re.DOTALL,
)


def field_of(passage: Passage) -> FieldPassage | None:
    """The field a passage is, if it is one."""
    match = _FIELD.fullmatch(passage.text)
    if match is None or "\n\n" in passage.text:
        return None
    name = tuple(words(match["key"]))
    return FieldPassage(passage, name, match["value"].strip()) if 0 < len(name) <= 6 else None
