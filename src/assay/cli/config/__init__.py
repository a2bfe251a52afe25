"""`assay config`."""

from assay.cli.group import LazyGroup

command = LazyGroup(
    "config",
    help="""Settings: the file, the environment, the defaults.

\b
    assay config list
    assay config set model ollama:qwen3
""",
    lazy={
        "list": ("assay.cli.config.list", "Every setting with its value and where that comes from."),
        "get": ("assay.cli.config.get", "The value of one setting."),
        "set": ("assay.cli.config.set", "Write one setting to the file."),
        "edit": ("assay.cli.config.edit", "Edit the file, and save it if it is right."),
        "path": ("assay.cli.config.path", "Where the file is."),
    },
)
