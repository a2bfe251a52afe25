"""`assay runs`."""

from assay.cli.group import LazyGroup

command = LazyGroup(
    "runs",
    help="Runs, by their id, the start of it, or `last`.",
    lazy={
        "list": ("assay.cli.runs.list", "Runs, newest first."),
        "show": ("assay.cli.runs.show", "What happened in a run."),
        "watch": ("assay.cli.runs.watch", "Watch a run, live or as it was."),
        "answer": ("assay.cli.runs.answer", "Answer the questions a run waits with."),
        "resume": ("assay.cli.runs.resume", "Go on with an interrupted run."),
        "export": ("assay.cli.runs.export", "Write a run's report to a file."),
        "rm": ("assay.cli.runs.rm", "Delete runs; what they read stays in the library."),
    },
)
