"""`assay runs`: commands on existing runs."""
