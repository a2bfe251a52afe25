"""Disagreeing sources: two statements about one thing with different values, and how a report shows them."""
