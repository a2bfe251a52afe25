"""Research agents: the loop ask, act, observe, and what it needs."""

from assay.run.prompt_files import prompt_hashes


def prompts() -> dict[str, str]:
    """SHA-256 of every prompt of this package, by name."""
    return prompt_hashes("assay.agents")
