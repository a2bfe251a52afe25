"""`assay docs`: documents and collections."""
