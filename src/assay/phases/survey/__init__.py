"""Questions about a whole collection: every document in scope is looked at, by code or in batches by a model."""
