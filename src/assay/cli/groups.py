"""The groups of commands: what each holds, and its lines in the help. A command is imported when it runs."""

from assay.cli.group import LazyGroup

docs = LazyGroup(
    "docs",
    help="""Add, list and search documents. The library stores each document once.

\b
    assay docs add notes/ "papers/*.pdf" -c thesis
    assay docs search "tidal range" -c thesis
""",
    lazy={
        "add": ("assay.cli.docs.intake:add_documents", "Add files, folders, pages, sites or repositories."),
        "list": ("assay.cli.docs.documents:list_documents", "List the documents of a collection."),
        "show": ("assay.cli.docs.documents:show_document", "Show a document's details or text."),
        "search": ("assay.cli.docs.documents:search", "Search documents; no model is asked."),
        "embed": ("assay.cli.docs.collections:embed", "Build the vectors for search by meaning."),
        "sync": ("assay.cli.docs.intake:sync", "Update a collection from the places it was added from."),
        "watch": ("assay.cli.docs.intake:watch", "Keep a collection level with a folder until Ctrl-C."),
        "summary": ("assay.cli.docs.summary:summary", "Tell what a collection holds, and what it can be asked."),
        "rm": ("assay.cli.docs.documents:remove_documents", "Remove documents from a collection, or the collection."),
        "collections": ("assay.cli.docs.collections:list_collections", "List collections with document counts."),
        "collection": (
            "assay.cli.docs.collections:collection_command",
            "Show where a collection comes from; mark it private.",
        ),
    },
)

runs = LazyGroup(
    "runs",
    help="""List, watch, steer and export runs. A run is named by its id, the start of it, or `last`.

\b
    assay runs list -n 10
    assay runs export last -o report.html
""",
    lazy={
        "list": ("assay.cli.runs.lists:list_runs", "List runs, newest first."),
        "show": ("assay.cli.runs.lists:show_run", "Show what happened in a run."),
        "open": ("assay.cli.runs.lists:open_report", "Open a report in the browser."),
        "watch": ("assay.cli.runs.control:watch_run", "Watch a run, live or replayed."),
        "answer": ("assay.cli.runs.replies:answer_run", "Answer a waiting run's questions."),
        "approve": ("assay.cli.runs.replies:approve_plan", "Approve a waiting run's plan, or give it another."),
        "steer": ("assay.cli.runs.control:steer_run", "Give a running run instructions."),
        "finish": ("assay.cli.runs.control:finish_run", "End a run's research and write its report."),
        "pause": ("assay.cli.runs.control:pause_run", "Pause a run."),
        "cancel": ("assay.cli.runs.control:cancel_run", "Cancel a run, keeping its findings."),
        "resume": ("assay.cli.runs.continuation:resume_run", "Continue an interrupted or paused run."),
        "fork": ("assay.cli.runs.continuation:fork_run", "Start a new run from a point of an ended one."),
        "diff": ("assay.cli.runs.outcome:diff_runs", "Compare the reports of two runs."),
        "replay": ("assay.cli.runs.continuation:replay_run", "Recompute a run from its stored steps, and compare."),
        "export": ("assay.cli.runs.outcome:export_run", "Write a run's report to a file."),
        "label": ("assay.cli.runs.lists:label_run", "Star runs and label them, to find them again."),
        "share": ("assay.cli.runs.outcome:share_run", "Make a link under which anybody may read a run's report."),
        "rm": ("assay.cli.runs.removal:remove_runs", "Delete runs and the documents only they used."),
        "prune": ("assay.cli.runs.removal:prune_runs", "Delete old runs by age, number or size."),
    },
)

jobs = LazyGroup(
    "jobs",
    help="""List, watch, cancel and retry jobs: documents, vectors and files which were left to workers.

\b
    assay docs add archive/ -c archive --queue
    assay jobs list
    assay worker
""",
    lazy={
        "begin": ("assay.cli.jobs:begin_job", "Leave a job of any kind to workers, once or periodically."),
        "list": ("assay.cli.jobs:list_jobs", "List jobs, newest first."),
        "show": ("assay.cli.jobs:show_job", "Show how a job stands, and what each worker did of it."),
        "watch": ("assay.cli.jobs:watch_job", "Watch a job until it ends."),
        "cancel": ("assay.cli.jobs:cancel_job", "End a job; what it has done stays."),
        "retry": ("assay.cli.jobs:retry_job", "Have a job which failed or was cancelled taken up again."),
    },
)

threads = LazyGroup(
    "threads",
    help="""Conversations, by their name, their title, or the start of the name.

\b
    assay threads list
    assay threads show tides
""",
    lazy={
        "list": ("assay.cli.threads:list_threads", "Threads, the one with the latest run first."),
        "show": ("assay.cli.threads:show_thread", "What was said in a thread."),
        "search": ("assay.cli.threads:search_threads", "Threads with a text in their title or a question."),
        "rename": ("assay.cli.threads:rename_thread", "Give a thread a title."),
        "rm": ("assay.cli.threads:remove_threads", "Delete a thread with all its runs."),
    },
)

schedule = LazyGroup(
    "schedule",
    help="""Ask questions at intervals, and show what changed in their answers.

\b
    assay schedule add "Which releases are new?" --every 1d --in @news
    assay schedule watch
""",
    lazy={
        "add": ("assay.cli.schedule.entries:add_schedule", "Have a question asked every day, week, 12 hours …"),
        "list": ("assay.cli.schedule.entries:list_schedules", "The schedules, and when each is due."),
        "rm": ("assay.cli.schedule.entries:remove_schedule", "Forget schedules; their runs stay."),
        "run-due": ("assay.cli.schedule.due_runs:run_schedules", "Ask what is due, and say what changed (for cron)."),
        "watch": ("assay.cli.schedule.due_runs:watch_schedules", "Stay, and ask each question when it is due."),
    },
)

db = LazyGroup(
    "db",
    help="""Back up, restore, check and migrate the database.

\b
    assay db backup backup.tar.zst
    assay db check
""",
    lazy={
        "backup": ("assay.cli.db:back_up", "Copy it while others work with it."),
        "check": ("assay.cli.db:check", "Look for damage and for what should not be."),
        "restore": ("assay.cli.db:restore", "Put a copy in place, in a home or in PostgreSQL."),
        "migrate": ("assay.cli.db:migrate", "Bring it to this release's schema; a copy is made first."),
    },
)

keys = LazyGroup(
    "keys",
    help="""Manage provider keys, stored in the settings file, which only you can read.

\b
    assay keys set openai
    assay keys list
""",
    lazy={
        "set": ("assay.cli.keys:set_key", "Store a provider's key."),
        "list": ("assay.cli.keys:list_keys", "Which keys there are, and where they come from."),
        "sign": ("assay.cli.groups:sign", "Sign bundles, and say whose signatures you trust."),
        "rm": ("assay.cli.keys:remove_key", "Forget a provider's key."),
    },
)

sign = LazyGroup(
    "sign",
    help="""Manage the key bundles are signed with, and whose signatures you trust.

\b
    assay keys sign create
    assay keys sign trust ana ana.pub
""",
    lazy={
        "create": ("assay.cli.signing_keys:create_key", "Make a key for signing bundles."),
        "show": ("assay.cli.signing_keys:show_key", "Print your public key, for those who check your bundles."),
        "trust": ("assay.cli.signing_keys:trust_key", "Trust what somebody signs."),
        "distrust": ("assay.cli.signing_keys:distrust_key", "Trust somebody's signatures no more."),
        "list": ("assay.cli.signing_keys:list_keys", "Whose signatures are trusted."),
    },
)

users = LazyGroup(
    "users",
    help="""Manage the users of `assay serve` and their tokens.

\b
    assay users add ana --role admin
    assay users token ana --name nightly --days 90
""",
    lazy={
        "add": ("assay.cli.users:add_user", "Add a user; the first is an admin."),
        "adopt": ("assay.cli.users:adopt", "Give a user all that was made without a login."),
        "list": ("assay.cli.users:list_users", "The users, and their tokens."),
        "rm": ("assay.cli.users:remove_user", "Remove users, with their sessions and tokens."),
        "passwd": ("assay.cli.users:change_password", "Give a user another password, or another role."),
        "audit": ("assay.cli.users:show_audit", "Show who did what, and when."),
        "token": ("assay.cli.users:token", "Make a token for a program, or revoke one."),
    },
)

config = LazyGroup(
    "config",
    help="""Settings: the file, the environment, the defaults.

\b
    assay config list
    assay config set model ollama:qwen3
""",
    lazy={
        "list": ("assay.cli.config:list_settings", "Every setting with its value and where that comes from."),
        "get": ("assay.cli.config:get_setting", "The value of one setting."),
        "set": ("assay.cli.config:set_setting", "Write one setting to the file."),
        "edit": ("assay.cli.config:edit_settings", "Edit the file, and save it if it is right."),
        "path": ("assay.cli.config:show_path", "Where the file is."),
    },
)
