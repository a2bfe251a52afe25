"""What reading documents has to tell: warnings always, what was left out on purpose with `-v`."""

from __future__ import annotations

from collections.abc import Sequence

from assay.app.warnings import summed
from assay.cli.terminal import say


def tell(warnings: Sequence[str], notes: Sequence[str], verbosity: int) -> None:
    """Say warnings, those about many files as one without `-v`, and notes with it."""
    for warning in warnings if verbosity > 0 else summed(warnings):
        say(f"warning: {warning}")
    for note in notes if verbosity > 0 else ():
        say(note)
