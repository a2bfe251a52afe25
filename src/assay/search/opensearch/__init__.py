"""Full-text search over the library, with an index in OpenSearch."""

from __future__ import annotations

from assay.search.opensearch.client import OpenSearchClient
from assay.search.opensearch.opensearch_search import OpenSearchSearch

__all__ = ["OpenSearchClient", "OpenSearchSearch"]
