"""What verifying a bundle gives."""

from __future__ import annotations

from typing import Literal

import msgspec

from assay.core.ports import RunStatus
from assay.export.bundle.signature import BundleSignature

Outcome = Literal["", "passed", "not_passed", "no_check", "unfinished", "none"]
"""What became of a run's report: its final check passed or not, there was none (the report is finished all the same),
the report broke off, there is none; "" when the log cannot be read."""

SHOWN = 20
"""Problems a check names; of more it says how many."""


class BundleCheck(msgspec.Struct, frozen=True, kw_only=True):
    """One check over a bundle: how many things it looked at, what is wrong, and what a reader should know besides."""

    name: str
    ok: bool
    checked: int
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class Verification(msgspec.Struct, frozen=True, kw_only=True):
    """A bundle after all checks. `sha256` is of the file, for comparing it with what its publisher names.

    `release` wrote it, "" when it does not say; `verified` is what the run itself said of its report, None when that
    cannot be read. `status` is the run's, "" as well. `ok` says that nothing wrong was found, not that the report is
    right; `whole` that besides nothing was left unchecked; `unchecked` names the members which only their hash was
    checked of, and of which another release may know more. `claimed` names what is told of each source and shown by
    nothing in the bundle; `signature` says who vouches for it all.
    """

    file: str
    ok: bool
    whole: bool
    unchecked: tuple[str, ...]
    sha256: str
    size: int
    release: str
    run_id: str
    question: str
    verified: bool | None
    status: RunStatus | Literal[""]
    report: Outcome
    claimed: tuple[str, ...]
    signature: BundleSignature
    checks: tuple[BundleCheck, ...]


def checked(name: str, count: int, problems: list[str], notes: tuple[str, ...] = ()) -> BundleCheck:
    """A check's result, with no more problems than a reader wants to see."""
    shown = [_short(problem) for problem in problems[:SHOWN]]
    if len(problems) > SHOWN:
        shown.append(f"and {len(problems) - SHOWN:,} more")
    return BundleCheck(name=name, ok=not problems, checked=count, problems=tuple(shown), notes=notes)


def _short(problem: str) -> str:
    return problem if len(problem) <= 300 else f"{problem[:299]}…"
