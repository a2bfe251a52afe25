"""`assay db`."""

from assay.cli.group import LazyGroup

command = LazyGroup(
    "db",
    help="""Back up, restore, check and migrate the database.

\b
    assay db backup backup.tar.zst
    assay db check
""",
    lazy={
        "backup": ("assay.cli.db.backup", "Copy it while others work with it."),
        "check": ("assay.cli.db.check", "Look for damage and for what should not be."),
        "restore": ("assay.cli.db.restore", "Put a copy in place, in a home or in PostgreSQL."),
        "migrate": ("assay.cli.db.migrate", "Bring it to this release's schema; a copy is made first."),
    },
)
