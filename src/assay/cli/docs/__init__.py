"""`assay docs`."""

from assay.cli.group import LazyGroup

command = LazyGroup(
    "docs",
    help="""Add, list and search documents. The library stores each document once.

\b
    assay docs add notes/ "papers/*.pdf" -c thesis
    assay docs search "tidal range" -c thesis
""",
    lazy={
        "add": ("assay.cli.docs.add", "Add files, folders, pages, sites or repositories."),
        "list": ("assay.cli.docs.list", "List the documents of a collection."),
        "show": ("assay.cli.docs.show", "Show a document's details or text."),
        "search": ("assay.cli.docs.search", "Search documents; no model is asked."),
        "embed": ("assay.cli.docs.embed", "Build the vectors for search by meaning."),
        "sync": ("assay.cli.docs.sync", "Update a collection from the places it was added from."),
        "watch": ("assay.cli.docs.watch", "Keep a collection level with a folder until Ctrl-C."),
        "summary": ("assay.cli.docs.summary", "Tell what a collection holds, and what it can be asked."),
        "rm": ("assay.cli.docs.rm", "Remove documents from a collection, or the collection."),
        "collections": ("assay.cli.docs.collections", "List collections with document counts."),
        "collection": ("assay.cli.docs.collection", "Show where a collection comes from; mark it private."),
    },
)
