"""What `assay verify FILE.zip` says."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from assay.app.bundle import BundleCheck, Verification, installed_release, limits, verify_bundle
from assay.cli.exits import Exit
from assay.cli.progress import counted
from assay.cli.terminal import clean, write
from assay.cli.time_limit import OutOfTime, within

_NAMED = 6
_ENDED = {"completed": "ended", "failed": "failed", "cancelled": "was cancelled"}


def bundle(file: Path, *, signer: str, required: bool, as_json: bool) -> Exit:
    """Check a bundle and say what was found; with a `signer` it has to be that one's."""
    most = limits().max_seconds
    try:
        with within(most):
            found = verify_bundle(file, signer)
    except OutOfTime:
        said = f"{file} was not verified: that takes more than {most:g} s of computing (bundles.max_seconds)"
        write(said if not as_json else msgspec.json.encode({"file": str(file), "ok": False, "error": said}).decode())
        return Exit.UNVERIFIED
    missing = (bool(signer) or required) and found.signature.state != "good"
    if as_json:
        write(msgspec.json.format(msgspec.json.encode(found)).decode())
    else:
        write("\n".join(_told(found)))
        if missing:
            write(_unsigned(found, signer))
    return Exit.DONE if found.whole and not missing else Exit.UNVERIFIED


def _unsigned(found: Verification, signer: str) -> str:
    """Why a bundle is refused which had to be signed."""
    wanted = f"by {clean(signer)}" if signer else "by somebody you trust"
    return f"{clean(found.file)} had to be signed {wanted}, and is not"


def _told(found: Verification) -> Iterator[str]:
    for check in found.checks:
        yield f"{'ok' if check.ok else 'WRONG':<6} {check.name:<12} {_result(check)}".rstrip()
        yield from (f"       {clean(problem)}" for problem in check.problems)
        yield from (f"       note: {clean(note)}" for note in check.notes)
    yield ""
    yield f"SHA-256 {found.sha256}"
    if found.ok:
        yield "claimed by its maker, as no check can show it: where its sources are from, and when they were read"
    yield _conclusion(found)


def _signed(found: Verification) -> str:
    signature = found.signature
    match signature.state:
        case "good":
            return f"signed by {clean(signature.signer)} (key {signature.key_id})"
        case "unknown":
            return f"signed with key {signature.key_id}, which is none you trust"
        case _:
            return "not signed"


def _result(check: BundleCheck) -> str:
    return f"{check.checked:,} checked" if check.checked else ""


def _conclusion(found: Verification) -> str:
    if not found.ok:
        return f"{clean(found.file)} does not hold: {', '.join(each.name for each in found.checks if not each.ok)}"
    writer = f"by Assay {clean(found.release)}" if found.release else "by a release without a name"
    run = f"run {clean(found.run_id)}, {writer}, {_outcome(found)}"
    if found.whole:
        return f"{clean(found.file)} is consistent with itself; {_signed(found)}: {run}"
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
