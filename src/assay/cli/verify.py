"""`assay verify`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click
import msgspec

from assay.app.bundle import Check, Verification, verify_bundle
from assay.cli import options
from assay.cli.exits import Exit
from assay.cli.terminal import clean, write


@click.command("verify")
@click.argument("file", metavar="FILE.zip", type=click.Path(path_type=Path, readable=False))
@options.json_output
@options.verbosity
def command(file: Path, as_json: bool) -> int:
    """Check a bundle (written by -o FILE.zip): every hash, place and count, and the zip itself.

    Needs nothing but the file. Exits with 3 when a check fails.
    """
    found = verify_bundle(file)
    if as_json:
        write(msgspec.json.format(msgspec.json.encode(found)).decode())
    else:
        write("\n".join(_told(found)))
    return Exit.DONE if found.ok else Exit.UNVERIFIED


def _told(found: Verification) -> Iterator[str]:
    for check in found.checks:
        yield f"{'ok' if check.ok else 'WRONG':<6} {check.name:<12} {_result(check)}".rstrip()
        yield from (f"       {clean(problem)}" for problem in check.problems)
        yield from (f"       note: {clean(note)}" for note in check.notes)
    yield ""
    yield _conclusion(found)
    yield f"SHA-256 {found.sha256}"


def _result(check: Check) -> str:
    return f"{check.checked:,} checked" if check.checked else ""


def _conclusion(found: Verification) -> str:
    if not found.ok:
        return f"{clean(found.file)} does not hold: {', '.join(each.name for each in found.checks if not each.ok)}"
    gate = "passed its final check" if found.verified else "did not pass its final check, and says so"
    release = f", by Assay {clean(found.release)}" if found.release else ""
    return f"{clean(found.file)} holds: run {clean(found.run_id)}{release}, a report which {gate}"
