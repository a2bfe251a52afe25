"""Nouns and contracts: plain data, protocols, pure functions. Imports nothing of ours and does no I/O."""
