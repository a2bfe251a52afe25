"""Alembic's environment: how older databases come to this release's schema.

A new migration is a file `versions/r0002_what.py` with `revision`, `down_revision` and `upgrade`; then change
`store/sql/tables.py` to match and move its `HEAD`. There is no way back: an older release refuses a newer database.
"""
