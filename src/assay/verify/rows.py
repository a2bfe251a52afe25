"""Table rows which compare fields: a cell is `KEY of SUBJECT: VALUE`, key and subject being its row's and column's."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from assay.core.claims import Check
from assay.core.translation import gettext as _
from assay.verify.evidence import ClaimEvidence
from assay.verify.fields import framed

BAR = re.compile(r"(?<!\\)\|")
"""What stands between the cells of a row."""
_EMPTY = frozenset(("", "-", "–", "—", "not found", "n/a", "none found"))


def cells(line: str) -> tuple[str, ...]:
    """The cells of a row of a Markdown table, the empty ones too."""
    inner = line.strip().removeprefix("|")
    inner = inner[:-1] if inner.endswith("|") and not inner.endswith("\\|") else inner
    return tuple(cell.replace("\\|", "|").strip() for cell in BAR.split(inner))


def is_empty(cell: str) -> bool:
    """Whether a cell says that there is nothing in it."""
    return cell.casefold() in _EMPTY


def compared(row: str, head: Sequence[str], evidence: ClaimEvidence, off: Collection[str] = ()) -> Check | None:
    """What the fields cited say to a row under the cells of its head; None when they decide nothing.

    Supported: each filled cell is the value its document's field has. The first column may hold keys and the head
    subjects, or the other way round. What has no head is no row; nor is it asked where the rule "field" is `off`.
    """
    if not head or "field" in off:
        return None
    first, *values = cells(row)
    if len(head) != len(values) + 1:
        return None
    filled = [(name, value) for name, value in zip(head[1:], values, strict=True) if not is_empty(value)]
    by_key = [framed(f"{first} of {name}: {value}", evidence) for name, value in filled]
    by_subject = [framed(f"{name} of {first}: {value}", evidence) for name, value in filled]
    return _agreed(by_key) or _agreed(by_subject)


def _agreed(checks: Sequence[Check | None]) -> Check | None:
    """Contradicted where one cell is; supported where all cells are."""
    found = [check for check in checks if check is not None]
    wrong = next((check for check in found if check.verdict != "supported"), None)
    if wrong is not None or not found or len(found) < len(checks):
        return wrong
    return Check(rule="field", verdict="supported", reason=_("the cited fields say so, cell by cell"))
