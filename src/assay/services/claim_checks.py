"""Checks claims against texts given with them: no home, no network, no model.

`app.claim_judge` adds a model.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

import msgspec

from assay import plugins
from assay.core.claims import Verdict
from assay.core.errors import UsageError
from assay.core.json_decoders import DECODE_ERRORS
from assay.services.arguments import checked_keywords
from assay.verify.checks import AddedCheck, fault_messages
from assay.verify.claim_check import RuleDecision, decide
from assay.verify.evidence import SlotFinding
from assay.verify.judge.masks import ComparedValue

MAX_LINE_BYTES = 16 * 1024 * 1024
"""Bytes of a line of JSON."""


class ClaimRow(msgspec.Struct, frozen=True):
    """A claim and the text it is checked against; `id` is returned with the verdict."""

    id: str | int
    doc: str
    claim: str


class CheckedRow(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A claim's verdict.

    `verdict` is quoted (the text has it word for word), supported, partial (a judge's), unsupported, contradicted or
    unchecked (undecided). `score` is the probability that the text supports the claim. `rule` names what decided:
    verbatim, one of the deterministic rules, lexical, judge, or length, if claim or text is too long to check. `slots`
    are the values of the claim that were hidden from a judge, with what it found in the text.
    """

    id: str | int
    verdict: Verdict
    score: float
    rule: str
    reasons: tuple[str, ...]
    slots: tuple[ComparedValue, ...] = ()


class BadRow(msgspec.Struct, frozen=True, kw_only=True):
    """A line that is not a row; `id` is None if none can be read. Lines count from 1."""

    id: str | int | None
    line: int
    error: str


class _RowId(msgspec.Struct, frozen=True):
    id: str | int | None = None


Warn = Callable[[str], None]
"""Called with each fault of a check of another package."""


@checked_keywords()
def check(
    rows: Iterable[ClaimRow | Mapping[str, object]], *, checks_off: Collection[str] = (), warn: Warn = warnings.warn
) -> list[CheckedRow]:
    """Return the verdict on each claim, in order; about 200 per second. Blocking.

    Args:
        rows: `ClaimRow`s, or mappings with `id`, `doc` and `claim` (other keys are ignored).
        checks_off: names of other packages' checks to leave out.
        warn: called with the fault of each check of another package that failed; a Python warning by default.

    Raises:
        UsageError: a row lacks one of the three, or it has the wrong type.
    """
    checker = RowChecker(added_checks(checks_off))
    results = [checker.check(row if isinstance(row, ClaimRow) else _convert(row)) for row in rows]
    for fault in checker.faults():
        warn(fault)
    return results


def check_rows(rows: Iterable[ClaimRow | BadRow], checker: RowChecker) -> Iterator[CheckedRow | BadRow]:
    """Yield the verdict on each row on demand; bad rows stay as they are."""
    for row in rows:
        yield row if isinstance(row, BadRow) else checker.check(row)


def checked_row(row: ClaimRow, decision: RuleDecision) -> CheckedRow:
    """A claim with the verdict of the rules."""
    score = round(decision.score, 4)
    return CheckedRow(id=row.id, verdict=decision.verdict, score=score, rule=decision.rule, reasons=decision.reasons)


class RowChecker:
    """Checks claims without a model, and keeps what failed of the checks of other packages."""

    def __init__(self, added: Sequence[AddedCheck] = ()) -> None:
        self.added = added
        self._failed_findings: list[SlotFinding] = []

    def check(self, row: ClaimRow) -> CheckedRow:
        return checked_row(row, self.decide(row))

    def decide(self, row: ClaimRow) -> RuleDecision:
        """The verdict with what the rules found."""
        decision = decide(row.claim, row.doc, self.added)
        self._failed_findings += (finding for finding in decision.findings if finding.outcome == "failed")
        return decision

    def faults(self) -> tuple[str, ...]:
        """Warnings about the checks that failed so far."""
        return fault_messages(self.added, self._failed_findings)


def added_checks(checks_off: Collection[str] = ()) -> tuple[AddedCheck, ...]:
    """The checks which other packages bring, but for those in `checks_off`.

    Raises:
        ConfigError: one cannot be loaded.
    """
    names = (name for name in plugins.names("checks") if name not in checks_off)
    return tuple(AddedCheck(name, plugins.package("checks", name), plugins.load("checks", name)) for name in names)


def read_lines(lines: Iterable[bytes]) -> Iterator[ClaimRow | BadRow]:
    """Yield the rows of JSON lines as they are read, a `BadRow` for an invalid one. Blank lines are skipped."""
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        if len(line) > MAX_LINE_BYTES:
            yield BadRow(id=None, line=number, error=f"longer than {MAX_LINE_BYTES // 1024 // 1024} MiB")
            continue
        try:
            yield msgspec.json.decode(line, type=ClaimRow)
        except DECODE_ERRORS as error:
            yield BadRow(id=_id(line), line=number, error=str(error))


def _id(line: bytes) -> str | int | None:
    try:
        return msgspec.json.decode(line, type=_RowId).id
    except DECODE_ERRORS:
        return None


def _convert(row: object) -> ClaimRow:
    try:
        return msgspec.convert(dict(row) if isinstance(row, Mapping) else row, ClaimRow)
    except msgspec.ValidationError as error:
        raise UsageError(f"a row needs id, doc and claim: {error}") from error
