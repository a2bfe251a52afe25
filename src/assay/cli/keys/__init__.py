"""`assay keys`."""

from assay.cli.group import LazyGroup

command = LazyGroup(
    "keys",
    help="""Manage provider keys, stored in the settings file, which only you can read.

\b
    assay keys set openai
    assay keys list
""",
    lazy={
        "set": ("assay.cli.keys.set", "Store a provider's key."),
        "list": ("assay.cli.keys.list", "Which keys there are, and where they come from."),
        "sign": ("assay.cli.keys.sign", "Sign bundles, and say whose signatures you trust."),
        "rm": ("assay.cli.keys.rm", "Forget a provider's key."),
    },
)
