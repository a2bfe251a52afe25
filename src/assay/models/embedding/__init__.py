"""Embedders: services with OpenAI's format of embeddings, and models in this process.

A model that was trained with a prefix before queries and passages finds less without it; other models know nothing of
prefixes. The prefixes here are from the makers' model pages; the settings `embedder.query_prefix` and
`embedder.passage_prefix` are for all other models.
"""

from __future__ import annotations

import re

from assay.core.ports import TextKind

_NONE = ("", "")
_KNOWN = (
    (r"(^|[/:-])e5-", ("query: ", "passage: ")),
    (r"nomic-embed-text", ("search_query: ", "search_document: ")),
    (r"embedding-?gemma", ("task: search result | query: ", "title: none | text: ")),
    (
        r"(mxbai-embed-large|bge-(small|base|large)-en)",
        ("Represent this sentence for searching relevant passages: ", ""),
    ),
)


def prefixes_of(model: str) -> tuple[str, str]:
    """The prefixes of queries and passages for a model, by its name."""
    return next((prefixes for pattern, prefixes in _KNOWN if re.search(pattern, model, re.IGNORECASE)), _NONE)


def add_prefix(text: str, kind: TextKind, prefixes: tuple[str, str]) -> str:
    """A text in the form for its model."""
    return prefixes[0 if kind == "query" else 1] + text
