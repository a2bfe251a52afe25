"""Run by Alembic: migrate over the connection which `store/sql/upgrade.py` hands over, in its transaction."""

from alembic import context

from assay.store.sql.tables import metadata, version

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    version_table=version.name,
    render_as_batch=True,  # SQLite alters a table by copying it
    transactional_ddl=True,
)

with context.begin_transaction():
    context.run_migrations()
