"""Full-text search over the library, with an index on this machine."""

from __future__ import annotations

from assay.search.local.local_search import LocalSearch

__all__ = ["LocalSearch"]
