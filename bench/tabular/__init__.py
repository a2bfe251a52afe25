"""Questions about tables, and the tables they are asked of."""
