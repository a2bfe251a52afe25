"""`assay runs`."""

from assay.cli.group import LazyGroup

command = LazyGroup(
    "runs",
    help="""List, watch, steer and export runs. A run is named by its id, the start of it, or `last`.

\b
    assay runs list -n 10
    assay runs export last -o report.html
""",
    lazy={
        "list": ("assay.cli.runs.list", "List runs, newest first."),
        "show": ("assay.cli.runs.show", "Show what happened in a run."),
        "open": ("assay.cli.runs.open", "Open a report in the browser."),
        "watch": ("assay.cli.runs.watch", "Watch a run, live or replayed."),
        "answer": ("assay.cli.runs.answer", "Answer a waiting run's questions."),
        "approve": ("assay.cli.runs.approve", "Approve a waiting run's plan, or give it another."),
        "steer": ("assay.cli.runs.steer", "Give a running run instructions."),
        "finish": ("assay.cli.runs.finish", "End a run's research and write its report."),
        "pause": ("assay.cli.runs.pause", "Pause a run."),
        "cancel": ("assay.cli.runs.cancel", "Cancel a run, keeping its findings."),
        "resume": ("assay.cli.runs.resume", "Continue an interrupted or paused run."),
        "fork": ("assay.cli.runs.fork", "Start a new run from a point of an ended one."),
        "diff": ("assay.cli.runs.diff", "Compare the reports of two runs."),
        "replay": ("assay.cli.runs.replay", "Recompute a run from its stored steps, and compare."),
        "export": ("assay.cli.runs.export", "Write a run's report to a file."),
        "label": ("assay.cli.runs.label", "Star runs and label them, to find them again."),
        "share": ("assay.cli.runs.share", "Make a link under which anybody may read a run's report."),
        "rm": ("assay.cli.runs.rm", "Delete runs and the documents only they used."),
        "prune": ("assay.cli.runs.prune", "Delete old runs by age, number or size."),
    },
)
