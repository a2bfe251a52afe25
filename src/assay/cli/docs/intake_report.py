"""What reading documents has to tell: warnings always, what was left out on purpose with `-v`, how many in the end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from assay.app.warnings import summed
from assay.cli.progress import counted
from assay.cli.terminal import clean, say
from assay.core.ports import SkippedFile

Skipped = Mapping[str, Sequence[SkippedFile]]


def tell(warnings: Sequence[str], notes: Sequence[str], skipped: Skipped, verbosity: int) -> None:
    """Say warnings, those about many files as one without `-v`; with it notes, and each file that was skipped."""
    for warning in warnings if verbosity > 0 else summed(warnings):
        say(f"warning: {warning}")
    if verbosity <= 0:
        return
    for note in notes:
        say(note)
    told = set(warnings)
    for line in (line for each in skipped.values() for line in map(skipped_line, each)):
        if line not in told:
            say(line)


def skipped_line(file: SkippedFile) -> str:
    """A skipped file with the reason, as a warning says it."""
    return clean(f"{'partly read' if file.partly else 'skipped'} {file.path}: {file.reason}")


def skipped_count(skipped: Skipped, collection: str) -> str:
    """How many were skipped, for the end of the last line; "" where none was."""
    every = [each for files in skipped.values() for each in files]
    partly = sum(each.partly for each in every)
    parts = [f"{len(every) - partly} skipped"] if len(every) > partly else []
    parts += [f"{counted(partly, 'file')} partly read"] if partly else []
    where = "" if collection == "default" else f" -c {collection}"
    return f"; {', '.join(parts)} (`assay docs list --skipped{where}`)" if parts else ""
