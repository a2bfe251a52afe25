"""What a claim cites, as the checks see it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal

import msgspec
from msgspec.structs import replace

from assay.core.claims import CHECKS
from assay.core.clean import local_path
from assay.core.sources import SNIPPET, Passage, Source, Surroundings
from assay.core.tables.cells import ReadTable
from assay.core.text import words
from assay.verify.number_words import BOUNDS


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


# What the deterministic checks find about a claim: one record for each slot they looked at.

RULES: tuple[str, ...] = (*CHECKS, "derived")
"""Our checks which find something; `derived` is a figure which was computed again, and never objects."""
Outcome = Literal["stated", "conflict", "absent", "failed"]
"""What was found about a slot; `failed` says that the check of another package did, and tells nothing of the claim."""


class ClaimSlot(msgspec.Struct, frozen=True, gc=False):
    """A place of the claim: its words as written, code points `[start, end)` of the claim's text."""

    text: str
    start: int
    end: int


class SlotFinding(msgspec.Struct, frozen=True, kw_only=True):
    """What `rule` found about `slot`.

    `said` is what the evidence says in its place, as written, empty where it says nothing there or the same; `passage`
    the id of the passage which says it. `veto` tells that the finding alone is enough to call the claim not supported;
    without it a conflict or an absence is a sign only (small number words and names are often told by other words).
    """

    rule: str
    slot: ClaimSlot
    outcome: Outcome
    said: str = ""
    passage: str = ""
    veto: bool = False


# A claim with the numbers of its evidence: "almost nine percent" is 8.9 % where the evidence says so.

_BOUND = re.compile(rf"(?:{'|'.join(BOUNDS.values())})\s*\Z", re.IGNORECASE)
_REACH = 24
"""Code points before a number in which its bound stands."""


def reworded(claim: str, findings: Iterable[SlotFinding]) -> str:
    """`claim` with each number which the evidence states in other signs as the evidence has it, without its bound."""
    told = {each.slot: each.said for each in findings if each.rule in ("number", "date") and _restates(each)}
    for slot in sorted(told, key=lambda slot: -slot.start):
        before = claim[: slot.start]
        bound = _BOUND.search(before, max(0, len(before) - _REACH))
        claim = f"{before[: bound.start()] if bound else before}{told[slot]}{claim[_end(claim, slot) :]}"
    return claim


def _end(claim: str, slot: ClaimSlot) -> int:
    """Where a number ends; a slot may have the full stop after it."""
    return slot.start + len(slot.text) if claim.startswith(slot.text, slot.start) else slot.end


def _restates(finding: SlotFinding) -> bool:
    return finding.outcome == "stated" and bool(finding.said)
