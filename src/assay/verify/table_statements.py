"""Sentences which state what a table says or gives: a cell under its head, a sum, a mean, a count, an extreme.

The table is read from the stored document as a whole, so that a sum over rows which are not all cited is computed again
from all of them. Where only the cited rows are at hand, they confirm what they give, and object to a cell alone.
"""

from __future__ import annotations

from collections.abc import Sequence

from assay.core.claims import Check
from assay.core.tables.cells import ReadTable, TablePiece, read_tables
from assay.core.tables.recomputation import bound, is_computed, recomputed
from assay.core.translation import gettext as _
from assay.core.translation import number
from assay.verify.evidence import ClaimEvidence


def computed(claim: str, evidence: ClaimEvidence) -> Check | None:
    """What the tables cited say to a claim which has the form of a cell or a computation; None for any other."""
    cited = _cited(evidence)
    if not cited:
        return None
    found = bound(claim, cited)
    if found is not None:
        return _check(*found)
    if not is_computed(claim):
        return None
    whole = evidence.tables()
    found = recomputed(claim, whole or cited)
    if found is None or (not whole and not found[0]):
        return None
    return _check(*found, rows=sum(len(table.rows) for table in cited))


def _check(same: bool, said: str, rows: int = 0) -> Check:
    if not same:
        reason = _("the table gives {said}").format(said=repr(said[:200]))
        return Check(rule="field", verdict="contradicted", reason=reason)
    if not rows:
        return Check(rule="field", verdict="supported", reason=_("the cited cell says so"))
    reason = _("computed again from the whole table; rows cited: {count}")
    return Check(rule="field", verdict="supported", reason=reason.format(count=number(rows)))


def _cited(evidence: ClaimEvidence) -> Sequence[ReadTable]:
    """The tables of the rows which are cited, each document's by itself."""
    sources = dict.fromkeys(passage.source for passage in evidence.passages)
    found: list[ReadTable] = []
    for id in sources:
        pieces = [
            TablePiece(passage.id, line, passage.start, passage.heading)
            for passage in sorted(evidence.passages, key=lambda each: each.start)
            if passage.source == id and "|" in passage.text
            for line in passage.text.splitlines()
        ]
        found += read_tables(pieces)
    return found
