"""`assay doctor`, `assay models` and `assay db`: what works here, what is missing, and the database."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay import settings
from assay.cli import options
from assay.cli.figures import format_size
from assay.cli.terminal import Exit, TerminalOptions, clean, print_list, say, write, write_json
from assay.core.brief import Role
from assay.core.lazy import lazy_module
from assay.core.milestones import pluralize
from assay.core.ports.models import BUILT_IN, model_family

if TYPE_CHECKING:
    from assay.app import databases
    from assay.app import doctor as examination
    from assay.services import providers
else:
    databases = lazy_module("assay.app.databases")
    examination = lazy_module("assay.app.doctor")
    providers = lazy_module("assay.services.providers")

_SIGNS = {"ok": "ok", "note": "note", "broken": "BROKEN"}


@click.command("doctor")
@options.json_output
@click.option(
    "--home", type=click.Path(path_type=Path, readable=False), help="Folder with library, index and runs [ASSAY_HOME]."
)
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
    found = asyncio.run(examination.examine_cluster() if cluster else examination.examine(home))
    if as_json:
        write_json(found)
    else:
        write("\n".join(_diagnosis_lines(found)))
    return Exit.FAILED if any(each.state == "broken" for each in found) else Exit.DONE


def _diagnosis_lines(found: Sequence[examination.Diagnosis]) -> Iterator[str]:
    for each in found:
        fix = f" -> {clean(each.fix)}" if each.fix else ""
        yield f"{_SIGNS[each.state]:<7} {each.name:<11} {clean(each.said)}{fix}"


@click.command("models")
@click.argument("names", nargs=-1, metavar="[PROVIDER]…")
@click.option("--roles", is_flag=True, help="Show the models of each role in your settings.")
@options.json_output
@options.verbosity_options
def models(names: tuple[str, ...], roles: bool, as_json: bool) -> None:
    """List the models you can use, and what is missing for the others.

    Assay looks for servers on this machine at their usual ports. It contacts a remote provider only if you name it:
    `assay models openai`. --roles contacts nobody.

    \b
        assay models
        assay models openai ollama
    """
    if roles:
        _show_roles(settings.load(), as_json)
        return
    found = asyncio.run(providers.providers(settings.load(), names))
    rows = (row for each in found for row in _rows(each))
    print_list(found, ("provider", "", "models, or what is missing"), rows, as_json=as_json)


def _show_roles(loaded: settings.Settings, as_json: bool) -> None:
    found = loaded.roles()
    rows = ((role, ", ".join(models), _role_note(loaded, role)) for role, models in found.items())
    print_list(found, ("role", "models, first choice first", ""), rows, as_json=as_json)


def _role_note(loaded: settings.Settings, role: Role) -> str:
    """Notes about the models of a role, for example why this judge was chosen if nobody named one."""
    judge, writer = loaded.roles()["judge"][0], loaded.roles()["complex"][0]
    if role != "judge" or loaded.names_judge:
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
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
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
    configured = settings.load()
    done = databases.backup(home or configured.home, configured, file)
    write(done.file)
    if done.missing:
        say(f"warning: {pluralize(len(done.missing), 'blob')} of documents cannot be read (assay db check says which)")
    if state.verbosity >= 0:
        held = (
            f"{pluralize(done.blobs, 'blob')} in it" if done.blobs or not done.needed else _external_blobs(done.needed)
        )
        say(f"{format_size(done.size)}; {held}")


def _external_blobs(needed: int) -> str:
    return f"{pluralize(needed, 'blob')} of its documents are where they were, and not in it (a .zip has them)"


@click.command("restore")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
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
    configured = settings.load()
    done = databases.restore_backup(home or configured.home, configured, file)
    for name in done.damaged:
        say(f"warning: blob {name} is damaged in {file}, and was left out (assay db check says what needs it)")
    say(
        f"restored: {pluralize(done.runs, 'run')}, {pluralize(done.documents, 'document')}, "
        f"{pluralize(done.blobs, 'blob')}; the search index is made by the next search"
    )
    return Exit.FAILED if done.damaged else Exit.DONE


@click.command("check")
@click.option("--quick", is_flag=True, help="Check only that stored bytes exist, without reading them.")
@options.json_output
@options.common_options
def check(quick: bool, as_json: bool, home: Path | None) -> int:
    """Check the database file, the completeness and ownership of every log, and every stored byte against its hash.
    Changes nothing. Exit codes: 0 all is well, 1 something is wrong.

    \b
        assay db check
        assay db check --quick --json
    """
    configured = settings.load()
    found = databases.check_database(home or configured.home, configured, quick=quick)
    if as_json:
        write_json(found)
    else:
        for problem in found.problems:
            write(problem)
        how = "looked for" if quick else "read"
        say(
            f"schema {found.schema}: {pluralize(found.runs, 'run')}, {pluralize(found.events, 'event')}, "
            f"{pluralize(found.documents, 'document')}, {pluralize(found.blobs, 'blob')} {how}, "
            f"{found.unreferenced:,} of no document; {pluralize(len(found.problems), 'problem')}"
        )
    return Exit.FAILED if found.problems else Exit.DONE


@click.command("migrate")
@options.common_options
def migrate(home: Path | None) -> None:
    """Migrate the database to this release's schema, and keep a copy of the old file beside it.

    Any other command migrates too, without a copy. For PostgreSQL, make a copy yourself with `pg_dump`.

    \b
        assay db migrate
        assay db migrate --home ~/research
    """
    configured = settings.load()
    done = databases.migrate(home or configured.home, configured)
    if done.before != done.now and not done.copy:
        say(f"schema {done.before} is schema {done.now} now")
    elif done.copy:
        say(f"schema {done.before} is schema {done.now} now; as it was: {done.copy}")
    else:
        say(f"schema {done.now} is this release's: nothing to do")
