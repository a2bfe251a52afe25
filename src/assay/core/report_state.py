"""The state of a run's report, and the notice for a run that did not complete."""

from __future__ import annotations

from typing import Literal

from assay.core.ports import FINAL
from assay.core.translation import gettext
from assay.core.view import RunView


def report_state(view: RunView) -> Literal["none", "writing", "finished"]:
    """The state of the report; none until its first word is written."""
    state = view.report.state
    return "none" if state == "writing" and not view.report.text.strip() else state


def unended(view: RunView) -> tuple[str, ...]:
    """Sentences that the run did not complete, why, and what there is of its report; empty for one that did."""
    state = _state(view)
    return (gettext("{text}.").format(text=gettext("; ").join((state, _left(view)))),) if state else ()


def _state(view: RunView) -> str:
    """The state of a run that did not end well; empty if it did, or there is no run."""
    match view.status:
        case "failed":
            why = view.error.strip().rstrip(".") or gettext("no reason was given")
            return gettext("The run failed: {reason}").format(reason=why)
        case "cancelled":
            return gettext("The run was cancelled")
        case "completed":
            return gettext("The run ended") if report_state(view) == "none" else ""
        case "created" | "running" | "waiting" | "paused":
            return gettext("The run has not ended") if view.brief else ""


def _left(view: RunView) -> str:
    """The existing part of such a run's report."""
    match report_state(view):
        case "none":
            return (
                gettext("no report was written")
                if view.status in FINAL
                else gettext("no report has been written so far")
            )
        case "writing":
            return gettext("this report is not finished")
        case "finished":
            return (
                gettext("this report was not given its final check")
                if view.gate is None
                else gettext("this report had been finished")
            )
