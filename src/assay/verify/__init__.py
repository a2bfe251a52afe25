"""Verification: which sentences of a report state facts, and what the evidence they cite says to each."""
