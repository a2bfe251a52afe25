"""The tools of a research agent: search, open documents, recall what was read."""
