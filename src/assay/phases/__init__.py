"""The phases of a run, and the pipeline that lists them."""

from __future__ import annotations

from assay.run.prompt_files import prompt_hashes


def prompts() -> dict[str, str]:
    """SHA-256 of every prompt of this package, by name."""
    return prompt_hashes("assay.phases")
