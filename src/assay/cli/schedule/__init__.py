"""`assay schedule`: questions asked at intervals."""
