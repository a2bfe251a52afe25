"""Sentences and headings which several parts of Assay put into reports; each says them in the report's language."""

from __future__ import annotations

from assay.core.translation import N_, gettext, state

MISSING = N_("What could not be found")
"""The heading of the last section of a report."""
NOTHING = N_("Nothing about this was found.")
NOT_FOUND = N_("The documents searched hold nothing that answers this question.")
BUILT_IN_NOTE = N_(
    "Compiled by Assay's built-in extractive model: every sentence is quoted verbatim from the source it cites, "
    "or names a field of its header."
)
TABLES_NOTE = N_(
    "Compiled by Assay's built-in extractive model: every sentence is quoted verbatim from the source it cites, "
    "or states what code read in its fields and tables or computed from them."
)

CLOSEST = N_("Closest passages")
UNCITED = N_("Sources read but not cited")


def missing() -> str:
    """The heading of what could not be found."""
    return state(gettext(MISSING), "missing")


def closest() -> str:
    """The heading of what comes nearest to a question that nothing answers."""
    return state(gettext(CLOSEST))


def nothing() -> str:
    """Stands for findings, or a section, which hold nothing."""
    return state(gettext(NOTHING))


def not_found() -> str:
    """Stands for an answer where the documents hold none."""
    return state(gettext(NOT_FOUND))


def built_in_note(tables: bool = False) -> str:
    """What the built-in model says of its reports, a paragraph in italics; `tables` were read for this one."""
    return f"*{state(gettext(TABLES_NOTE if tables else BUILT_IN_NOTE))}*"


def expect() -> None:
    """State all of them: a model's reply, or a finding, which holds one may come out of a log."""
    for phrase in (missing, nothing, not_found, built_in_note):
        phrase()
    built_in_note(tables=True)
