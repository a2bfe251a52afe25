"""`assay keys sign`."""

from assay.cli.group import LazyGroup

command = LazyGroup(
    "sign",
    help="""Manage the key bundles are signed with, and whose signatures you trust.

\b
    assay keys sign create
    assay keys sign trust ana ana.pub
""",
    lazy={
        "create": ("assay.cli.keys.sign.create", "Make a key for signing bundles."),
        "show": ("assay.cli.keys.sign.show", "Print your public key, for those who check your bundles."),
        "trust": ("assay.cli.keys.sign.trust", "Trust what somebody signs."),
        "distrust": ("assay.cli.keys.sign.distrust", "Trust somebody's signatures no more."),
        "list": ("assay.cli.keys.sign.list", "Whose signatures are trusted."),
    },
)
