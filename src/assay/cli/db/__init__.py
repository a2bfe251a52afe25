"""`assay db`."""

from assay.cli.group import LazyGroup

command = LazyGroup(
    "db",
    help="The database of a home: copy, check and migrate it.",
    lazy={
        "backup": ("assay.cli.db.backup", "Copy it while others work with it."),
        "check": ("assay.cli.db.check", "Look for damage and for what should not be."),
        "migrate": ("assay.cli.db.migrate", "Bring it to this release's schema; a copy is made first."),
    },
)
