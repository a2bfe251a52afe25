"""`assay runs`: what is done with runs once they are there."""
