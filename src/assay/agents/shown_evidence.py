"""Passages as text for a model, below their sources: given ones, or those nearest to a topic, as many as fit."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from assay.core.passage_context import format_source
from assay.core.sources import Passage
from assay.core.text import estimate_tokens
from assay.evidence.ledger import Ledger

MAX_RECALLED_PASSAGES = 60
"""Passages looked at to fill a part of a window."""


def evidence_text(passages: Sequence[Passage], ledger: Ledger) -> str:
    """Passages below their sources, in the order of first mention."""
    by_source: defaultdict[str, dict[str, Passage]] = defaultdict(dict)
    for passage in passages:
        by_source[passage.source][passage.id] = passage
    sources = {id: ledger.source(id) for id in by_source}
    return "\n\n".join(format_source(source, list(by_source[id].values())) for id, source in sources.items() if source)


def nearest_evidence(ledger: Ledger, topic: str, tokens: int) -> str:
    """The passages that share most with a topic, below their sources, as many as fit."""
    passages = ledger.recall(topic, MAX_RECALLED_PASSAGES)
    text = evidence_text(passages, ledger)
    while passages and estimate_tokens(text) > tokens:
        passages = passages[: len(passages) * 3 // 4]
        text = evidence_text(passages, ledger)
    return text
