"""`assay docs`."""

from assay.cli.group import LazyGroup

command = LazyGroup(
    "docs",
    help="The library: documents are kept once, whatever they are added from.",
    lazy={
        "add": ("assay.cli.docs.add", "Add files, folders, pages, sites or repositories."),
        "list": ("assay.cli.docs.list", "What is in a collection."),
        "show": ("assay.cli.docs.show", "A document: what is known of it, or its text."),
        "search": ("assay.cli.docs.search", "Search documents, without any model."),
        "embed": ("assay.cli.docs.embed", "Make the vectors by which documents are searched by meaning."),
        "sync": ("assay.cli.docs.sync", "Look again at what a collection was added from."),
        "rm": ("assay.cli.docs.rm", "Take documents out of a collection, or forget it."),
        "collections": ("assay.cli.docs.collections", "The collections, with counts."),
        "collection": ("assay.cli.docs.collection", "What a collection was added from; mark it as private."),
    },
)
