"""`assay runs`."""

from assay.cli.group import LazyGroup

command = LazyGroup(
    "runs",
    help="Runs, by their id, the start of it, or `last`.",
    lazy={
        "list": ("assay.cli.runs.list", "Runs, newest first."),
        "show": ("assay.cli.runs.show", "What happened in a run."),
        "watch": ("assay.cli.runs.watch", "Watch a run, live or as it was."),
        "answer": ("assay.cli.runs.answer", "Answer the questions a run waits with, or approve its plan."),
        "steer": ("assay.cli.runs.steer", "Tell a run what to heed while it goes on."),
        "finish": ("assay.cli.runs.finish", "End a run's research; its report is written."),
        "pause": ("assay.cli.runs.pause", "Pause a run."),
        "cancel": ("assay.cli.runs.cancel", "Cancel a run; findings are kept."),
        "resume": ("assay.cli.runs.resume", "Go on with an interrupted or paused run."),
        "fork": ("assay.cli.runs.fork", "Make a new run out of an ended one, from a point on."),
        "diff": ("assay.cli.runs.diff", "How the reports of two runs differ."),
        "replay": ("assay.cli.runs.replay", "Compute a run again from what it stored, and compare."),
        "export": ("assay.cli.runs.export", "Write a run's report to a file."),
        "rm": ("assay.cli.runs.rm", "Delete runs, and what only they had read."),
        "prune": ("assay.cli.runs.prune", "Delete old runs by a rule."),
    },
)
