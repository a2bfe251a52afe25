"""`assay threads`."""

from assay.cli.group import LazyGroup

command = LazyGroup(
    "threads",
    help="""Conversations, by their name, their title, or the start of the name.

\b
    assay threads list
    assay threads show tides
""",
    lazy={
        "list": ("assay.cli.threads.list", "Threads, the one with the latest run first."),
        "show": ("assay.cli.threads.show", "What was said in a thread."),
        "search": ("assay.cli.threads.search", "Threads with a text in their title or a question."),
        "rename": ("assay.cli.threads.rename", "Give a thread a title."),
        "rm": ("assay.cli.threads.rm", "Delete a thread with all its runs."),
    },
)
