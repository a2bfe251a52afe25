"""Where runs, documents and bytes are kept: `memory.memory_store()` in the process, `sql.open_store(home)` on disk.

Nothing is imported here: the memory store must not pay for SQLAlchemy.
"""
