"""Search by meaning: the vectors of passages, and hybrid ranking over them and an index of words."""

from assay.search.vectors.hybrid import HybridSearch
from assay.search.vectors.neighbours import EmbedderSimilarity
from assay.search.vectors.store import VectorStore
from assay.search.vectors.vector_builder import BuildResult, EmbeddingLimits, VectorBuilder

__all__ = ["BuildResult", "EmbedderSimilarity", "EmbeddingLimits", "HybridSearch", "VectorBuilder", "VectorStore"]
