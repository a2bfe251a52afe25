"""Why a run ended, by its stop reason, as a reader is told."""

from __future__ import annotations

from assay.core.translation import N_, gettext

STOP_REASONS: dict[str, str] = {
    "done": N_("Research ended by itself."),
    "no_evidence": N_("Nothing was found that answers the question."),
    "time": N_("The time limit was reached."),
    "usd": N_("The money limit was reached."),
    "tokens": N_("The token limit was reached."),
    "searches": N_("The limit of searches was reached."),
    "pages": N_("The limit of pages was reached."),
    "agents": N_("The limit of agents was reached."),
    "finished_early": N_("Research was ended early on request."),
    "no_model": N_("No model could be used."),
    "unwritten": N_("No model could write the report to its end."),
    "cancelled": N_("The run was cancelled."),
    "failed": N_("The run failed."),
    "bug": N_("The run failed by a fault of Assay's."),
}
"""Every stop reason, and the sentence which says it to a reader."""


def in_words(reason: str) -> str:
    """A stop reason inside a sentence: "the token limit was reached"; what is none of them stays as it is."""
    if reason not in STOP_REASONS:
        return reason.removesuffix(".")
    said = gettext(STOP_REASONS[reason]).rstrip("。।.")
    return said[:1].lower() + said[1:]


LIMITS: frozenset[str] = frozenset(
    ("time", "usd", "tokens", "searches", "pages", "agents", "finished_early", "unwritten")
)
"""The stop reasons of runs which ended before all was done; there is a report all the same."""
