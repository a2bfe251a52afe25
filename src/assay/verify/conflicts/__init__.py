"""Sources which disagree: two statements of one thing with different values, and how a report tells it."""
