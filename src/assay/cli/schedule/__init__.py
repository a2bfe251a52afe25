"""`assay schedule`."""

from assay.cli.group import LazyGroup

command = LazyGroup(
    "schedule",
    help="""Ask questions at intervals, and show what changed in their answers.

\b
    assay schedule add "Which releases are new?" --every 1d --in @news
    assay schedule watch
""",
    lazy={
        "add": ("assay.cli.schedule.add", "Have a question asked every day, week, 12 hours …"),
        "list": ("assay.cli.schedule.list", "The schedules, and when each is due."),
        "rm": ("assay.cli.schedule.rm", "Forget schedules; their runs stay."),
        "run-due": ("assay.cli.schedule.run_due", "Ask what is due, and say what changed (for cron)."),
        "watch": ("assay.cli.schedule.watch", "Stay, and ask each question when it is due."),
    },
)
