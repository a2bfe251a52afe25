"""Research agents: the loop ask, act, observe, and what it needs."""

from assay.run.prompt_files import hashes


def prompts() -> dict[str, str]:
    """SHA-256 of every prompt of this package, by name."""
    return hashes("assay.agents")
