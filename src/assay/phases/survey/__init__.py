"""Questions about a whole collection: code, or a model in batches, looks at every document in scope."""
