"""The groups of commands: the commands of each, and their lines in the help. A command is imported when it runs."""

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
        "watch": ("assay.cli.docs.intake:watch", "Keep a collection up to date with a folder."),
        "summary": ("assay.cli.docs.summary:summary", "Summarize a collection and suggest questions."),
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
        "approve": ("assay.cli.runs.replies:approve_plan", "Approve or replace a waiting run's plan."),
        "steer": ("assay.cli.runs.control:steer_run", "Give a running run instructions."),
        "finish": ("assay.cli.runs.control:finish_run", "Stop a run's research and write its report."),
        "pause": ("assay.cli.runs.control:pause_run", "Pause a run."),
        "cancel": ("assay.cli.runs.control:cancel_run", "Cancel a run, keeping its findings."),
        "resume": ("assay.cli.runs.continuation:resume_run", "Continue an interrupted or paused run."),
        "fork": ("assay.cli.runs.continuation:fork_run", "Start a new run from a point in a finished one."),
        "diff": ("assay.cli.runs.outcome:diff_runs", "Compare the reports of two runs."),
        "replay": ("assay.cli.runs.continuation:replay_run", "Recompute a run from its stored steps, and compare."),
        "export": ("assay.cli.runs.outcome:export_run", "Write a run's report to a file."),
        "label": ("assay.cli.runs.lists:label_run", "Star and label runs."),
        "share": ("assay.cli.runs.outcome:share_run", "Create a public link to a run's report."),
        "rm": ("assay.cli.runs.removal:remove_runs", "Delete runs and the documents only they used."),
        "prune": ("assay.cli.runs.removal:prune_runs", "Delete old runs by age, number or size."),
    },
)

jobs = LazyGroup(
    "jobs",
    help="""List, watch, cancel and retry jobs: work on documents, vectors and files that you left to workers.

\b
    assay docs add archive/ -c archive --queue
    assay jobs list
    assay worker
""",
    lazy={
        "begin": ("assay.cli.jobs:begin_job", "Start a job on the workers, once or periodically."),
        "list": ("assay.cli.jobs:list_jobs", "List jobs, newest first."),
        "show": ("assay.cli.jobs:show_job", "Show a job's state, and what each worker did."),
        "watch": ("assay.cli.jobs:watch_job", "Watch a job until it ends."),
        "cancel": ("assay.cli.jobs:cancel_job", "Cancel a job; finished work is kept."),
        "retry": ("assay.cli.jobs:retry_job", "Retry a failed or cancelled job."),
    },
)

threads = LazyGroup(
    "threads",
    help="""List, show and rename conversations. THREAD is a name, the start of one, or a title.

\b
    assay threads list
    assay threads show tides
""",
    lazy={
        "list": ("assay.cli.threads:list_threads", "List threads, latest first."),
        "show": ("assay.cli.threads:show_thread", "Show the conversation in a thread."),
        "search": ("assay.cli.threads:search_threads", "Search the titles and questions of threads."),
        "rename": ("assay.cli.threads:rename_thread", "Set a thread's title."),
        "rm": ("assay.cli.threads:remove_threads", "Delete a thread with all its runs."),
    },
)

schedule = LazyGroup(
    "schedule",
    help="""Repeat questions at intervals, and show how their answers change.

\b
    assay schedule add "Which releases are new?" --every 1d --in @news
    assay schedule watch
""",
    lazy={
        "add": ("assay.cli.schedule.entries:add_schedule", "Ask a question every day, week, 12 hours …"),
        "list": ("assay.cli.schedule.entries:list_schedules", "List schedules, and when each is due."),
        "rm": ("assay.cli.schedule.entries:remove_schedule", "Delete schedules; their runs stay."),
        "run-due": ("assay.cli.schedule.due_runs:run_schedules", "Ask the questions that are due (for cron)."),
        "watch": ("assay.cli.schedule.due_runs:watch_schedules", "Keep running, and ask questions when they are due."),
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
        "backup": ("assay.cli.db:back_up", "Back up the database, even while it is in use."),
        "check": ("assay.cli.db:check", "Check the database for damage."),
        "restore": ("assay.cli.db:restore", "Restore a backup into a home or PostgreSQL."),
        "migrate": ("assay.cli.db:migrate", "Migrate it to this release's schema; keeps a copy."),
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
        "list": ("assay.cli.keys:list_keys", "List stored keys, and where they come from."),
        "sign": ("assay.cli.groups:sign", "Manage your signing key and trusted signatures."),
        "rm": ("assay.cli.keys:remove_key", "Delete a provider's key."),
    },
)

sign = LazyGroup(
    "sign",
    help="""Manage your signing key for bundles, and the signatures you trust.

\b
    assay keys sign create
    assay keys sign trust ana ana.pub
""",
    lazy={
        "create": ("assay.cli.signing_keys:create_key", "Create a key for signing bundles."),
        "show": ("assay.cli.signing_keys:show_key", "Print your public key."),
        "trust": ("assay.cli.signing_keys:trust_key", "Trust someone's signatures."),
        "distrust": ("assay.cli.signing_keys:distrust_key", "Stop trusting someone's signatures."),
        "list": ("assay.cli.signing_keys:list_keys", "List trusted signatures."),
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
        "adopt": ("assay.cli.users:adopt", "Give a user everything created without a login."),
        "list": ("assay.cli.users:list_users", "List users and their tokens."),
        "rm": ("assay.cli.users:remove_user", "Remove users, with their sessions and tokens."),
        "passwd": ("assay.cli.users:change_password", "Change a user's password or role."),
        "audit": ("assay.cli.users:show_audit", "Show who did what, and when."),
        "token": ("assay.cli.users:token", "Create a token for a program, or revoke one."),
    },
)

config = LazyGroup(
    "config",
    help="""Show and change settings. They come from the settings file, the environment, and defaults.

\b
    assay config list
    assay config set model ollama:qwen3
""",
    lazy={
        "list": ("assay.cli.config:list_settings", "List settings: values, and where they come from."),
        "get": ("assay.cli.config:get_setting", "Print one setting."),
        "set": ("assay.cli.config:set_setting", "Set one setting in the file."),
        "edit": ("assay.cli.config:edit_settings", "Edit the settings file, with a check before saving."),
        "path": ("assay.cli.config:show_path", "Print the path of the settings file."),
    },
)
