"""The final gate: every marker resolves, every hash matches, every count equals the claims."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

import msgspec

from assay.core.assurance import misquoted, records
from assay.core.claims import Claim, Summary
from assay.core.errors import StoreError
from assay.core.report_sentences import PAIRED, read
from assay.core.sources import Passage, Source, Surroundings, sha256
from assay.evidence.documents import surroundings
from assay.verify.evidence import ClaimEvidence

__all__ = ["Documents", "TextOf", "documents", "gate", "records", "unrecorded"]

TextOf = Callable[[str], bytes]
"""Returns the stored UTF-8 text of a document by its hash. Raises StoreError if it is missing or damaged."""


class Documents(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """The stored documents' evidence on the cited passages.

    `wrong` has the problem of each passage with one. It also has the passages that begin or end inside a sentence, and
    what surrounds those found.
    """

    cut_before: tuple[str, ...] = ()
    cut_after: tuple[str, ...] = ()
    located: tuple[Surroundings, ...] = ()
    wrong: dict[str, str] = {}

    @property
    def problems(self) -> tuple[str, ...]:
        """The problems, in the order of the passages."""
        return tuple(self.wrong.values())

    def evidence(self, passages: Sequence[Passage], sources: Mapping[str, Source]) -> ClaimEvidence:
        """The evidence of a claim, with where its passages are cut and what surrounds them, if known."""
        return ClaimEvidence(
            passages=tuple(passages),
            sources=sources,
            cut_before=self._cut[0],
            cut_after=self._cut[1],
            around=self._around,
        )

    @cached_property
    def _cut(self) -> tuple[frozenset[str], frozenset[str]]:
        return frozenset(self.cut_before), frozenset(self.cut_after)

    @cached_property
    def _around(self) -> dict[str, Surroundings]:
        return {each.id: each for each in self.located}


def gate(
    report: str,
    claims: Sequence[Claim],
    passages: Mapping[str, Passage],
    sources: Sequence[str],
    text_of: TextOf,
    summary: Summary,
) -> tuple[str, ...]:
    """Everything wrong with a report's citations and counts; empty if it is verified.

    `passages` are all that were shown, by id, `sources` the ids of all sources.
    """
    cited = {id: passages[id] for claim in claims for id in claim.passages if id in passages}
    return (*records(report, claims, passages, sources, summary), *documents(cited, text_of).problems)


def unrecorded(report: str, claims: Sequence[Claim]) -> tuple[str, ...]:
    """Factual sentences of `report` without a record, and records that are not where they say.

    A sentence added after the checks is neither checked nor counted.
    """
    standing = {sentence.start: _words(sentence.text) for sentence in read(report) if sentence.id}
    recorded = {claim.start: claim for claim in claims}
    problems = [
        f"a sentence of the report is no recorded claim: {text[:200]!r}"
        for start, text in standing.items()
        if start not in recorded
    ]
    problems += [
        f"claim {claim.id} does not stand in the report as it is recorded"
        for claim in claims
        if standing.get(claim.start) != _words(claim.text)
    ]
    return tuple(problems)


def _words(text: str) -> str:
    """The words of a sentence, without emphasis markup at its ends, which may belong to another."""
    return text.strip(PAIRED)


def documents(cited: Mapping[str, Passage], text_of: TextOf) -> Documents:
    """Compare every cited passage with its stored document: both hashes, and the byte range."""
    wrong: dict[str, str] = {}
    before: list[str] = []
    after: list[str] = []
    located: list[Surroundings] = []
    texts: dict[str, bytes] = {}
    for id, passage in cited.items():
        try:
            text = texts.setdefault(passage.document_sha256, b"") or text_of(passage.document_sha256)
        except StoreError as error:
            wrong[id] = f"passage {id}: {error}"
            continue
        texts[passage.document_sha256] = text
        problem = _mismatch(id, passage, text)
        if problem:
            wrong[id] = f"passage {id} {problem}"
            continue
        if _cut_before(text, passage):
            before.append(id)
        if _cut_after(text, passage):
            after.append(id)
        located.append(_locate(id, passage, text))
    return Documents(wrong=wrong, cut_before=tuple(before), cut_after=tuple(after), located=tuple(located))


def _locate(id: str, passage: Passage, text: bytes) -> Surroundings:
    before, after = surroundings(text, passage.start, passage.end)
    return Surroundings(id=id, before=before, after=after)


def _mismatch(id: str, passage: Passage, text: bytes) -> str:
    """The fault of a passage; empty if there is none."""
    if sha256(text) != passage.document_sha256:
        return "is of a document whose text does not have its hash"
    return misquoted(id, passage, text)


_ENDED = (".", "!", "?", "。", "！", "？", "؟", "۔", "।", "…", ":", "：")
_CLOSERS = "\"'”’»)]*_`」』】）"
_LONG = 250
"""Only a passage at least this long may be cut inside a sentence: the segmenter's pieces have at least half its
limit.
"""


def _cut_before(text: bytes, passage: Passage) -> bool:
    """True if the passage begins inside a sentence of its document."""
    before = text[max(0, passage.start - 200) : passage.start].decode(errors="ignore")
    line = before.rpartition("\n")[2].strip()
    if line.strip("-*+•>#|:0123456789.) \t"):
        return not line.rstrip(_CLOSERS).endswith(_ENDED)
    above = before.rstrip()
    joined = not line and "\n\n" not in before[len(above) :].replace("\r", "") and bool(above)
    return joined and passage.text[:1].islower() and not above.rstrip(_CLOSERS).endswith(_ENDED)


def _cut_after(text: bytes, passage: Passage) -> bool:
    """True if the passage ends inside a sentence of its document."""
    if len(passage.text) < _LONG or passage.text.rstrip(_CLOSERS).endswith(_ENDED):
        return False
    after = text[passage.end : passage.end + 200].decode(errors="ignore").replace("\r", "").lstrip(" \t")
    if not after.startswith("\n"):
        return bool(after.strip("| \t"))
    return not after.startswith("\n\n") and after[1:].lstrip()[:1].islower()
