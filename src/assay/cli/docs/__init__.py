"""`assay docs`."""

from assay.cli.group import LazyGroup

command = LazyGroup(
    "docs",
    help="The library: documents are kept once, whatever they are added from.",
    lazy={
        "add": ("assay.cli.docs.add", "Add files, folders, globs or pages of the web."),
        "list": ("assay.cli.docs.list", "What is in a collection."),
        "search": ("assay.cli.docs.search", "Search documents, without any model."),
    },
)
