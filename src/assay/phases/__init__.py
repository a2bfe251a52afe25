"""The phases of a run, and the pipeline which is their list."""

from __future__ import annotations

from assay.agents.wording import hashes
from assay.core.brief import Brief
from assay.core.errors import NotBuilt


def prompts() -> dict[str, str]:
    """SHA-256 of every prompt this package speaks, by name."""
    return hashes("assay.phases")


def check(brief: Brief) -> None:
    """Refuse what this release cannot do, before anything is spent.

    Raises:
        NotBuilt: naming what to use in its stead.
    """
    if brief.mode == "web_search":
        raise NotBuilt("mode 'web_search' is not built yet; use deep_research over your documents")
    if brief.scope.web:
        raise NotBuilt("searching the web is not built yet; name documents with --in")
