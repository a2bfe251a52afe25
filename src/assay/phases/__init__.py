"""The phases of a run, and the pipeline that lists them."""

from __future__ import annotations

from assay.agents.prompt_texts import hashes


def prompts() -> dict[str, str]:
    """SHA-256 of every prompt of this package, by name."""
    return hashes("assay.phases")
