"""`assay users`: users of the server."""
