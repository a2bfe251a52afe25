"""`assay users`."""

from assay.cli.group import LazyGroup

command = LazyGroup(
    "users",
    help="""Manage the users of `assay serve` and their tokens.

\b
    assay users add ana --role admin
    assay users token ana --name nightly --days 90
""",
    lazy={
        "add": ("assay.cli.users.add", "Add a user; the first is an admin."),
        "adopt": ("assay.cli.users.adopt", "Give a user all that was made without a login."),
        "list": ("assay.cli.users.list", "The users, and their tokens."),
        "rm": ("assay.cli.users.rm", "Remove users, with their sessions and tokens."),
        "passwd": ("assay.cli.users.passwd", "Give a user another password, or another role."),
        "audit": ("assay.cli.users.audit", "Show who did what, and when."),
        "token": ("assay.cli.users.token", "Make a token for a program, or revoke one."),
    },
)
