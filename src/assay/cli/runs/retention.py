"""What is said of a home's cleaning up, and the keeping to `[retention]` when a run has ended."""

from __future__ import annotations

from assay import Assay
from assay.cli.progress import counted
from assay.cli.terminal import say
from assay.services.retention import Swept, rules_of


def said(swept: Swept | None) -> str:
    """What follows the number of deleted runs: what was cleaned up with them."""
    if swept is None:
        return "; documents stay for now: another process works with this library"
    if swept.apart:
        return "; bytes stay: another library stores some in the same place"
    if not swept.blobs:
        return ""
    return f"; {counted(len(swept.rows), 'document')} no run refers to any more removed ({swept.size / 1e6:,.1f} MB)"


async def keep_to_rules(assay: Assay, verbosity: int) -> None:
    """Delete the runs which the settings do not keep; where they say nothing, nothing is looked at."""
    if not rules_of(assay.settings).any:
        return
    done = await assay.prune()
    if done.runs and verbosity >= 0:
        say(f"{counted(len(done.runs), 'run')} deleted, as [retention] says")
