"""Where runs, documents and bytes are stored: `memory.memory_store()` in the process, `sql.open_store(home)` on disk.

Nothing is imported here, so that the memory store does not load SQLAlchemy.
"""
