"""Verification: which sentences of a report state facts, and what the evidence they cite says to each."""

from __future__ import annotations

from assay.run.prompt_files import hashes


def prompts() -> dict[str, str]:
    """SHA-256 of every prompt this package speaks, by name."""
    return hashes("assay.verify")
