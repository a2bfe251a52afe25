"""What a research agent may do: search, open documents, recall what was read."""
