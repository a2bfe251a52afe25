"""Which words exclude each other: a table, and prefixes which turn a word round."""

from __future__ import annotations

from functools import cache
from importlib import resources

from assay.verify.verifier.tokens import stem_of

_PREFIXES = ("un", "in", "im", "il", "ir", "dis", "non", "mis", "de", "anti")


@cache
def table() -> dict[str, frozenset[str]]:
    """The opposites of each stem, both ways."""
    found: dict[str, set[str]] = {}
    text = resources.files(__package__).joinpath("opposites.txt").read_text(encoding="utf-8")
    for line in text.splitlines():
        if line.startswith("#") or "|" not in line:
            continue
        one, other = ({stem_of(word) for word in side.split()} for side in line.split("|"))
        for here, there in ((one, other), (other, one)):
            for stem in here:
                found.setdefault(stem, set()).update(there - {stem})
    return {stem: frozenset(others) for stem, others in found.items()}


@cache
def opposites(stem: str) -> frozenset[str]:
    """Stems which exclude `stem`: those of the table, and `stem` with or without a prefix which turns it round."""
    turned = {prefix + stem for prefix in _PREFIXES if len(stem) > 3}
    bare = {stem[len(prefix) :] for prefix in _PREFIXES if stem.startswith(prefix) and len(stem) - len(prefix) > 3}
    return table().get(stem, frozenset()) | turned | bare
