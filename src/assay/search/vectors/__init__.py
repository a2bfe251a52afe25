"""Search by meaning: the vectors of passages, and hybrid ranking over them and an index of words."""

from __future__ import annotations

from assay.search.vectors.building import Built, Limits, VectorBuilder
from assay.search.vectors.hybrid import HybridSearch
from assay.search.vectors.store import VectorStore

__all__ = ["Built", "HybridSearch", "Limits", "VectorBuilder", "VectorStore"]
