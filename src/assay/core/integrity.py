"""What must hold of a report and its evidence, whoever asks: the gate inside a run, and who verifies a bundle later.

Each function gives the problems it found, empty when there are none. Nothing here reads a store.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set

from assay.core.claims import Claim, Summary, summarize
from assay.core.markers import parse
from assay.core.sources import Passage, sha256


def records(
    report: str, claims: Sequence[Claim], passages: Mapping[str, Passage], sources: Sequence[str], summary: Summary
) -> tuple[str, ...]:
    """Problems with a report's markers, its claims' places and passages, and the counts.

    `report` is as written; `passages` are all that were shown, by id, `sources` the ids of all sources.
    """
    return (
        *dropped_markers(report, {*passages, *sources}, summary.dropped_markers),
        *misplaced_claims(report, claims, passages),
        *miscounted(claims, summary),
    )


def unresolved(report: str, known: Set[str]) -> list[str]:
    """The ids in the markers of `report` which name nothing in `known`, as often as they stand there."""
    return [id for marker in parse(report) for id in marker.ids if id not in marker.implied and id not in known]


def dropped_markers(report: str, known: Set[str], counted: int) -> tuple[str, ...]:
    """Whether as many markers name nothing as were counted."""
    unknown = len(unresolved(report, known))
    return () if unknown == counted else (f"{unknown} markers name nothing, but {counted} are counted as dropped",)


def misplaced_claims(report: str, claims: Sequence[Claim], passages: Mapping[str, Passage]) -> tuple[str, ...]:
    """Claims which lie outside the report, or cite what was never shown."""
    problems: list[str] = []
    for claim in claims:
        if not 0 <= claim.start < claim.end <= len(report):
            problems.append(f"claim {claim.id} lies outside the report")
        problems.extend(
            f"claim {claim.id} cites {id}, which was never shown" for id in claim.passages if id not in passages
        )
    return tuple(problems)


def miscounted(claims: Sequence[Claim], summary: Summary) -> tuple[str, ...]:
    """Whether the counts are those of the claims, and every claim has an id of its own."""
    problems: list[str] = []
    if summarize(claims, summary.dropped_markers) != summary:
        problems.append("the counts are not those of the claims")
    if len({claim.id for claim in claims}) != len(claims):
        problems.append("two claims have one id")
    return tuple(problems)


def misquoted(id: str, passage: Passage, text: bytes | memoryview) -> str:
    """What is wrong with a passage, kept under `id`, of a document with this UTF-8 text; empty when nothing is.

    That the text is the document's own (its hash) is for the caller to see to, once a document.
    """
    quoted = passage.text.encode("utf-8", "surrogatepass")
    if id != passage.id or not id.startswith(f"{passage.source}."):
        return "is recorded under another id"
    if not 0 <= passage.start < passage.end <= len(text):
        return "lies outside its document"
    if _inside_a_character(text, passage.start) or _inside_a_character(text, passage.end):
        return "cuts a character of its document"
    if text[passage.start : passage.end] != quoted:
        return "is not what its document says there"
    if sha256(quoted) != passage.text_sha256:
        return "does not have its hash"
    return ""


def _inside_a_character(text: bytes | memoryview, at: int) -> bool:
    return at < len(text) and text[at] & 0xC0 == 0x80
