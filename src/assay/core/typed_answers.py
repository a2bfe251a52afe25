"""Typed answers: fields somebody asked for, each filled from passages or left empty with a reason."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import msgspec

from assay.core.claims import Claim

Scalar = str | int | float | bool
Value = Scalar | tuple[Scalar, ...] | None

REFUTED = ("unsupported", "contradicted")
"""The verdicts that void a value."""
GONE = "its sentence did not outlast verification"


class Field(msgspec.Struct, frozen=True, kw_only=True):
    """One filled field. `path` leads to it through the answer: names of properties, numbers of items.

    `sentence` is the line of the report that states it, without markers, and `passages` are the ids that line cites.
    Both are empty if the field is, and then `reason` says why.
    """

    path: tuple[str | int, ...]
    value: Value = None
    sentence: str = ""
    passages: tuple[str, ...] = ()
    reason: str = ""

    @property
    def name(self) -> str:
        """The path as people write it: `steps[0].title`."""
        parts = (f"[{part}]" if isinstance(part, int) else f".{part}" for part in self.path)
        return "".join(parts).removeprefix(".")


class ReportField(msgspec.Struct, frozen=True, kw_only=True):
    """A field of the report: its value, null if unknown, and then `reason` says why.

    `verdict` and `reason` are those of its claim, `claims` the claim's id, `passages` the ids of what it cites.
    """

    value: Value
    verdict: str
    reason: str
    claims: tuple[str, ...]
    passages: tuple[str, ...]


def report_fields(fields: Iterable[Field], claims: Sequence[Claim]) -> dict[str, ReportField]:
    """The fields by name, each with the verification of its sentence; a refuted value is voided."""
    claims_by_text: dict[str, Claim] = {}
    for claim in claims:
        claims_by_text.setdefault(claim.text, claim)
    return {field.name: _report_field(field, claims_by_text) for field in fields}


def _report_field(field: Field, claims_by_text: Mapping[str, Claim]) -> ReportField:
    if field.value is None:
        return ReportField(value=None, verdict="", reason=field.reason, claims=(), passages=())
    claim = claims_by_text.get(field.sentence)
    if claim is None:
        return ReportField(value=None, verdict="", reason=GONE, claims=(), passages=field.passages)
    return ReportField(
        value=None if claim.verdict in REFUTED else field.value,
        verdict=claim.verdict,
        reason=claim.reason,
        claims=(claim.id,),
        passages=claim.passages,
    )


def shape_answer(fields: Sequence[Field], values: Mapping[str, ReportField]) -> Any:
    """Only the values, in the requested shape: objects in objects and lists, null for unknown ones.

    Items are numbered from 0 without gaps; an empty path without a value stands for nothing.
    """
    if not fields:
        return None
    root: dict[str, Any] = {}
    for field in fields:
        _set_value(root, field.path, values[field.name].value)
    return root


def _set_value(root: dict[str, Any], path: tuple[str | int, ...], value: Value) -> None:
    node: Any = root
    for part, after in pairwise(path):
        empty: Any = [] if isinstance(after, int) else {}
        if isinstance(part, str):
            node = node.setdefault(part, empty)
        else:
            node.extend({} for _ in range(part + 1 - len(node)))
            node = node[part]
    node[path[-1]] = value
