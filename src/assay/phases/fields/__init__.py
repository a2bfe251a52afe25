"""Typed answers: the fields of a schema, filled from passages."""
