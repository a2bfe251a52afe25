"""The phases of a run, and the pipeline which is their list."""

from __future__ import annotations

from assay.agents.prompt_texts import hashes


def prompts() -> dict[str, str]:
    """SHA-256 of every prompt this package speaks, by name."""
    return hashes("assay.phases")
