"""The evidence a claim cites, as the checks see it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal

import msgspec
from msgspec.structs import replace

from assay.core.claims import CHECKS
from assay.core.clean import local_path
from assay.core.markers import Marker
from assay.core.sources import SNIPPET, Passage, Source, Surroundings
from assay.core.tables.cells import ReadTable
from assay.core.text import words
from assay.verify.number_words import BOUNDS


class ClaimEvidence(msgspec.Struct, frozen=True, kw_only=True):
    """The passages a claim cites, and their sources.

    `cut_before` and `cut_after` are ids of passages that begin or end inside a sentence of the document; `around` has
    the surrounding text of passages, by id, if known. `tables` reads the whole tables of the cited documents; there are
    none if the documents are not at hand.
    """

    passages: tuple[Passage, ...]
    sources: Mapping[str, Source]
    cut_before: frozenset[str] = frozenset()
    cut_after: frozenset[str] = frozenset()
    around: Mapping[str, Surroundings] = {}
    tables: Callable[[], Sequence[ReadTable]] = tuple

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts that count as evidence: each passage, its headings, and its topic."""
        headings = (heading for passage in self.passages for heading in passage.above)
        return (*(passage.text for passage in self.passages), *dict.fromkeys(headings))

    @property
    def is_hearsay(self) -> bool:
        """Whether only search snippets are cited, and no page itself."""
        cited = self._cited()
        return bool(cited) and all(source.media_type == SNIPPET for source in cited)

    def is_unrelated(self, markers: Iterable[Marker]) -> bool:
        """Whether a claim with these markers cites only whole sources, none of which shares a word with it."""
        return not self.passages and any(id in self.sources for each in markers for id in each.sources)

    def names(self) -> tuple[str, ...]:
        """The names of the cited sources."""
        return tuple(name for source in self._cited() for name in names_of(source))

    def plain_data(self) -> tuple[object, ...]:
        """Everything a check may see of it, as plain data, without uncited data or when and where it was read."""
        around = [self.around.get(passage.id) for passage in self.passages]
        sources = [replace(source, fetched_at="", url=_address(source.url)) for source in self._cited()]
        return self.passages, sources, sorted(self.cut_before), sorted(self.cut_after), around

    def _cited(self) -> list[Source]:
        ids = dict.fromkeys(passage.source for passage in self.passages)
        return [self.sources[id] for id in ids if id in self.sources]


def names_of(source: Source) -> tuple[str, ...]:
    """The title, the address, and metadata that name a document."""
    named = (value for key, value in source.metadata.items() if _NAMING.fullmatch(key))
    return tuple(name for name in (source.title, _address(source.url), *named) if name)


def _address(url: str) -> str:
    """The name in an address: for a file only its own name, since its folder says nothing about it."""
    path = local_path(url) if url.startswith(("file:", "upload:")) else None
    return url if path is None else path.rpartition("/")[2]


_NAMING = re.compile(r"id|name|number|title|slug|doi|isbn", re.IGNORECASE)


class FieldPassage(msgspec.Struct, frozen=True):
    """A passage that is a header field, `KEY: VALUE`; `name` has the key's words."""

    passage: Passage
    name: tuple[str, ...]
    value: str


_FIELD = re.compile(
    r"\s*(?:[-*+][ \t]+)?[:*_]{0,2}(?P<key>[^\W\d_][^:：\n]{0,60}?)[*_]{0,2}[ \t]*"
    r"[:：][*_]{0,2}[ \t]*(?P<value>\S.*|\n.*\S.*)",
    re.DOTALL,
)


def field_of(passage: Passage) -> FieldPassage | None:
    """The field that a passage is, if it is one."""
    match = _FIELD.fullmatch(passage.text)
    if match is None or "\n\n" in passage.text:
        return None
    name = tuple(words(match["key"]))
    return FieldPassage(passage, name, match["value"].strip()) if 0 < len(name) <= 6 else None


# Findings of the deterministic checks about a claim: one record for each slot they checked.

RULES: tuple[str, ...] = (*CHECKS, "derived")
"""Our checks that find something; `derived` is a recomputed figure, and never objects."""
Outcome = Literal["stated", "conflict", "absent", "failed"]
"""The result for a slot; `failed` says that a check of another package failed, and says nothing about the claim."""


class ClaimSlot(msgspec.Struct, frozen=True, gc=False):
    """A place in the claim: its words as written, code points `[start, end)` of the claim's text."""

    text: str
    start: int
    end: int


class SlotFinding(msgspec.Struct, frozen=True, kw_only=True):
    """What `rule` found about `slot`.

    `said` is what the evidence says instead, as written, empty if it says nothing or the same; `passage` is the id of
    that passage. `veto` says that this finding alone makes the claim unsupported. Without it, a conflict or absence is
    only a sign, since small number words and names are often expressed in other words.
    """

    rule: str
    slot: ClaimSlot
    outcome: Outcome
    said: str = ""
    passage: str = ""
    veto: bool = False


# A claim with the numbers of its evidence: "almost nine percent" is 8.9 % if the evidence says so.

_BOUND = re.compile(rf"(?:{'|'.join(BOUNDS.values())})\s*\Z", re.IGNORECASE)
_REACH = 24
"""Code points before a number that may contain its bound."""


def reworded(claim: str, findings: Iterable[SlotFinding]) -> str:
    """`claim` with each number that the evidence writes differently as in the evidence, without its bound."""
    told = {each.slot: each.said for each in findings if each.rule in ("number", "date") and _restates(each)}
    for slot in sorted(told, key=lambda slot: -slot.start):
        before = claim[: slot.start]
        bound = _BOUND.search(before, max(0, len(before) - _REACH))
        claim = f"{before[: bound.start()] if bound else before}{told[slot]}{claim[_end(claim, slot) :]}"
    return claim


def _end(claim: str, slot: ClaimSlot) -> int:
    """The end of a number; a slot may include a full stop."""
    return slot.start + len(slot.text) if claim.startswith(slot.text, slot.start) else slot.end


def _restates(finding: SlotFinding) -> bool:
    return finding.outcome == "stated" and bool(finding.said)
