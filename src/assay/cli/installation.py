"""`assay doctor`, `assay models` and `assay db`: what works here, what is missing, and the database."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from assay import settings
from assay.cli import options
from assay.cli.figures import format_size
from assay.cli.terminal import Exit, TerminalOptions, clean, print_list, say, write, write_json
from assay.core.brief import Role
from assay.core.lazy import lazy_module
from assay.core.milestones import pluralize
from assay.core.ports.models import BUILT_IN, model_family

if TYPE_CHECKING:
    from assay.app import databases, model_trial
    from assay.app import doctor as examination
    from assay.services import providers
else:
    databases = lazy_module("assay.app.databases")
    examination = lazy_module("assay.app.doctor")
    model_trial = lazy_module("assay.app.model_trial")
    providers = lazy_module("assay.services.providers")

_SIGNS = {"ok": "ok", "note": "note", "broken": "BROKEN"}


@click.command("doctor")
@options.json_output
@click.option("--home", type=options.FilePath(readable=False), help="Folder with library, index and runs [ASSAY_HOME].")
@click.option("--cluster", is_flag=True, help="Check all processes that share the PostgreSQL database instead.")
@options.verbosity_options
def doctor(as_json: bool, home: Path | None, cluster: bool) -> int:
    """Check what can keep Assay from working, and say how to fix it. Changes nothing.

    Exits with 1 if something is broken.

    \b
        assay doctor
        assay doctor --json
        assay doctor --cluster
    """
    diagnoses = asyncio.run(examination.examine_cluster() if cluster else examination.examine(home))
    if as_json:
        write_json(diagnoses)
    else:
        write("\n".join(_diagnosis_lines(diagnoses)))
    return Exit.FAILED if any(diagnosis.state == "broken" for diagnosis in diagnoses) else Exit.DONE


def _diagnosis_lines(diagnoses: Sequence[examination.Diagnosis]) -> Iterator[str]:
    for diagnosis in diagnoses:
        fix = f" -> {clean(diagnosis.fix)}" if diagnosis.fix else ""
        yield f"{_SIGNS[diagnosis.state]:<7} {diagnosis.name:<11} {clean(diagnosis.said)}{fix}"


@click.command("models")
@click.argument("names", nargs=-1, metavar="[PROVIDER]…")
@click.option("--roles", is_flag=True, help="Show the models of each role in your settings.")
@click.option("--try", "tried", metavar="PROVIDER:NAME", help="Try a model on a small piece of research instead.")
@options.json_output
@options.verbosity_options
def models(names: tuple[str, ...], roles: bool, tried: str | None, as_json: bool) -> int:
    """List the models you can use, and what is missing for the others.

    Assay looks for servers on this machine at their usual ports. It contacts a remote provider only if you name it:
    `assay models openai`. --roles contacts nobody.

    --try has one model do what Assay needs: research with a known answer, a question without an answer, and twelve
    sentences to judge, about three short invented documents. That takes some 40 calls, and exits with 1 if the model
    cannot do research.

    \b
        assay models
        assay models openai ollama
        assay models --try ollama:qwen3
    """
    if tried is not None:
        if names or roles:
            raise click.UsageError("--try tries one model: leave out the providers and --roles")
        return _try(tried, as_json)
    if roles:
        _show_roles(settings.load(), as_json)
        return Exit.DONE
    listed_providers = asyncio.run(providers.providers(settings.load(), names))
    rows = (row for provider in listed_providers for row in _rows(provider))
    print_list(listed_providers, ("provider", "", "models, or what is missing"), rows, as_json=as_json)
    return Exit.DONE


def _try(model: str, as_json: bool) -> int:
    if not as_json:
        say(f"trying {model}: some 40 calls …")
    trial = asyncio.run(model_trial.try_model(model, settings=settings.load()))
    if as_json:
        write_json(msgspec.to_builtins(trial) | {"can_research": trial.can_research, "can_judge": trial.can_judge})
    else:
        write("\n".join(f"{label:<10} {clean(text)}" for label, text in _trial_lines(trial)))
    return Exit.DONE if trial.can_research else Exit.FAILED


def _trial_lines(trial: model_trial.TrialOutcome) -> Iterator[tuple[str, str]]:
    research, judge = trial.research, trial.judge
    stated = f"{research.stated} of {research.facts} facts stated and cited"
    yield (
        "research",
        f"{stated}, in {research.seconds:g} s, {pluralize(research.calls, 'call')}, {research.tokens:,} tokens",
    )
    if research.by_code:
        yield "", "the report was put together by code, because the model could not write it"
    yield from (("", line) for line in (research.error, *research.warnings) if line)
    says_no = trial.no_answer.stop_reason == "no_evidence"
    yield "no answer", "said so" if says_no else "the documents have no answer, and none was admitted"
    yield "judge", judge.error or _judge_text(judge)
    uses = [use for use, can in (("research", trial.can_research), ("judging", trial.can_judge)) if can]
    yield "usable for", " and ".join(uses) or "neither research nor judging: choose a larger model"


def _judge_text(judge: model_trial.JudgeTrial) -> str:
    refused = f"{judge.refused} of {judge.false} false sentences refused"
    return f"{refused}, {judge.accepted} of {judge.true} true ones accepted"


def _show_roles(config: settings.Settings, as_json: bool) -> None:
    models_by_role = config.roles()
    rows = ((role, ", ".join(models), _role_note(config, role)) for role, models in models_by_role.items())
    print_list(models_by_role, ("role", "models, first choice first", ""), rows, as_json=as_json)


def _role_note(config: settings.Settings, role: Role) -> str:
    """Notes about the models of a role, for example why this judge was chosen if nobody named one."""
    judge, writer = config.roles()["judge"][0], config.roles()["complex"][0]
    if role != "judge" or config.names_judge:
        return ""
    if judge == BUILT_IN:
        return "no judge: name a model"
    return (
        "of another family than the writer" if model_family(judge) != model_family(writer) else "of the writer's family"
    )


def _rows(provider: providers.Provider) -> list[tuple[str, str, str]]:
    state = "usable" if provider.usable else "not usable"
    if not provider.models:
        return [(provider.name, state, provider.why or f"name a model: {provider.name}:MODEL")]
    return [(provider.name, state, model) for model in provider.models]


# The database: `backup`, `restore`, `check`, `migrate`.


@click.command("backup")
@click.argument("file", type=options.FilePath(dir_okay=False))
@options.common_options
@click.pass_obj
def back_up(state: TerminalOptions, file: Path, home: Path | None) -> None:
    """Copy runs and documents to FILE, even while runs are in progress. A .zip includes the stored pages and files;
    any other FILE is a copy of the database alone.

    A home and PostgreSQL with any blob store give the same file, and `assay db restore` can restore it to either. A
    .zip unpacked into an empty folder is a home. Derived data (search index, page cache, logs) is left out.

    \b
        assay db backup assay-2026-05-31.zip
        assay db backup /backup/runs.db
    """
    config = settings.load()
    backup = databases.backup(home or config.home, config, file)
    write(backup.file)
    if backup.missing:
        say(
            f"warning: {pluralize(len(backup.missing), 'blob')} of documents cannot be read (assay db check says which)"
        )
    if state.verbosity >= 0:
        contents = (
            f"{pluralize(backup.blobs, 'blob')} in it"
            if backup.blobs or not backup.needed
            else _external_blobs(backup.needed)
        )
        say(f"{format_size(backup.size)}; {contents}")


def _external_blobs(count: int) -> str:
    return f"{pluralize(count, 'blob')} of its documents are where they were, and not in it (a .zip has them)"


@click.command("restore")
@click.argument("file", type=options.FilePath(dir_okay=False))
@options.common_options
def restore(file: Path, home: Path | None) -> int:
    """Restore a copy made by `assay db backup` into an empty home, or into the empty PostgreSQL database and blob
    store named in the settings. This also moves a home to PostgreSQL, and back. Exit codes: 0 everything was
    restored, 1 something is missing.

    \b
        assay db restore assay-2026-05-31.zip --home ~/restored
        ASSAY_DATABASE=postgresql://… ASSAY_BLOBS=s3://bucket/assay assay db restore assay-2026-05-31.zip
        assay db restore assay-2026-05-31.zip
    """
    config = settings.load()
    result = databases.restore_backup(home or config.home, config, file)
    for name in result.damaged:
        say(f"warning: blob {name} is damaged in {file}, and was left out (assay db check says what needs it)")
    say(
        f"restored: {pluralize(result.runs, 'run')}, {pluralize(result.documents, 'document')}, "
        f"{pluralize(result.blobs, 'blob')}; the search index is made by the next search"
    )
    return Exit.FAILED if result.damaged else Exit.DONE


@click.command("check")
@click.option("--quick", is_flag=True, help="Check only that stored bytes exist, without reading them or the logs.")
@options.json_output
@options.common_options
def check(quick: bool, as_json: bool, home: Path | None) -> int:
    """Check the database file, every log and its report, and every stored byte against its hash.
    Changes nothing. Exit codes: 0 all is well, 1 something is wrong.

    \b
        assay db check
        assay db check --quick --json
    """
    config = settings.load()
    result = databases.check_database(home or config.home, config, quick=quick)
    if as_json:
        write_json(result)
    else:
        for problem in result.problems:
            write(problem)
        action = "looked for" if quick else "read"
        say(
            f"schema {result.schema}: {pluralize(result.runs, 'run')}, {pluralize(result.events, 'event')}, "
            f"{pluralize(result.documents, 'document')}, {pluralize(result.blobs, 'blob')} {action}, "
            f"{result.unreferenced:,} of no document; {pluralize(len(result.problems), 'problem')}"
        )
    return Exit.FAILED if result.problems else Exit.DONE


@click.command("migrate")
@options.common_options
def migrate(home: Path | None) -> None:
    """Migrate the database to this release's schema, and keep a copy of the old file beside it.

    Any other command migrates too, without a copy. For PostgreSQL, make a copy yourself with `pg_dump`.

    \b
        assay db migrate
        assay db migrate --home ~/research
    """
    config = settings.load()
    migration = databases.migrate(home or config.home, config)
    if migration.before != migration.now and not migration.copy:
        say(f"schema {migration.before} is schema {migration.now} now")
    elif migration.copy:
        say(f"schema {migration.before} is schema {migration.now} now; as it was: {migration.copy}")
    else:
        say(f"schema {migration.now} is this release's: nothing to do")
