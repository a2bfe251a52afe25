"""Full-text search over the library, with one index for all machines in PostgreSQL."""

from __future__ import annotations

from assay.search.postgres.postgres_search import PostgresSearch

__all__ = ["PostgresSearch"]
