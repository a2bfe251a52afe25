"""Research agents: the loop ask, act, observe, and what it needs."""

from assay.agents.prompt_texts import hashes


def prompts() -> dict[str, str]:
    """SHA-256 of every prompt of this package, by name."""
    return hashes("assay.agents")
