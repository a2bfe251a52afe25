"""Research agents: the loop ask, act, observe, and what it needs."""

from assay.agents.wording import hashes


def prompts() -> dict[str, str]:
    """SHA-256 of every prompt this package speaks, by name."""
    return hashes("assay.agents")
