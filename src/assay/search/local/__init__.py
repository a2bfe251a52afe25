"""Full-text search over the library, with an index on this machine."""

from assay.search.local.local_search import LocalSearch

__all__ = ["LocalSearch"]
