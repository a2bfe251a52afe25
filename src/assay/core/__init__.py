"""Nouns and contracts: plain data, protocols, pure functions. Imports no other package of Assay and does no I/O."""
