"""What `assay verify FILE.zip` says."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from assay.app.bundle import BundleCheck, Verification, installed_release, verify_bundle
from assay.cli.exits import Exit
from assay.cli.progress import counted
from assay.cli.terminal import clean, write

_NAMED = 6
_ENDED = {"completed": "ended", "failed": "failed", "cancelled": "was cancelled"}


def bundle(file: Path, *, as_json: bool) -> Exit:
    """Check a bundle and say what was found."""
    found = verify_bundle(file)
    if as_json:
        write(msgspec.json.format(msgspec.json.encode(found)).decode())
    else:
        write("\n".join(_told(found)))
    return Exit.DONE if found.whole else Exit.UNVERIFIED


def _told(found: Verification) -> Iterator[str]:
    for check in found.checks:
        yield f"{'ok' if check.ok else 'WRONG':<6} {check.name:<12} {_result(check)}".rstrip()
        yield from (f"       {clean(problem)}" for problem in check.problems)
        yield from (f"       note: {clean(note)}" for note in check.notes)
    yield ""
    yield f"SHA-256 {found.sha256}"
    yield _conclusion(found)


def _result(check: BundleCheck) -> str:
    return f"{check.checked:,} checked" if check.checked else ""


def _conclusion(found: Verification) -> str:
    if not found.ok:
        return f"{clean(found.file)} does not hold: {', '.join(each.name for each in found.checks if not each.ok)}"
    writer = f"by Assay {clean(found.release)}" if found.release else "by a release without a name"
    run = f"run {clean(found.run_id)}, {writer}, {_outcome(found)}"
    if found.whole:
        return f"{clean(found.file)} holds: {run}"
    verb = "was" if len(found.unchecked) == 1 else "were"
    return (
        f"{clean(found.file)} was checked only in part ({run}): nothing wrong was found, but"
        f" {_listed(found.unchecked)} {verb} NOT checked (written {writer}, this is {installed_release()})"
    )


def _listed(names: Sequence[str]) -> str:
    """`a, b and c`; a hostile file may have thousands."""
    shown = [clean(name) for name in names[:_NAMED]]
    rest = len(names) - len(shown)
    *first, last = [*shown, counted(rest, "other member")] if rest else shown
    return f"{', '.join(first)} and {last}" if first else last


def _outcome(found: Verification) -> str:
    match found.report:
        case "passed":
            return "a report which passed its final check"
        case "not_passed":
            return "a report which did not pass its final check, and says so"
        case "no_check":
            return "a report which was given no final check"
        case "unfinished":
            return f"a report which is not finished: the run {_ENDED.get(found.status, 'had not ended')}"
        case _:
            return f"without a report: the run {_ENDED.get(found.status, 'had not ended')}"
