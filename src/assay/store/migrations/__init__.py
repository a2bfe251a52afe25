"""Alembic's environment, which brings older databases to this release's schema.

A new migration is a file `versions/r0002_what.py` with `revision`, `down_revision` and `upgrade`; then change
`store/sql/tables.py` to match and move its `HEAD`. There is no downgrade: an older release refuses a newer database.
"""
