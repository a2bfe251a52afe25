"""Forks a run: what was done before a point is taken over, the rest is done again."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import UTC, datetime
from operator import attrgetter
from pathlib import Path
from typing import cast
from urllib.parse import unquote

import msgspec

from assay.core import phrases
from assay.core.brief import POINTS, Brief, Fork, ForkPoint, Role, Scope
from assay.core.errors import UnknownName, UsageError
from assay.core.events import Envelope, RunForked, encode
from assay.core.options import declared_options
from assay.core.plan import Plan
from assay.core.ports import EventDraft, Library, Memory, RunInputs, RunRow, World
from assay.core.ports.lists import CELL_OF
from assay.core.ports.models import default_judges
from assay.core.report import build_bibliography, build_report
from assay.core.run_options import ForkOptions, RunOptions
from assay.core.sources import Source
from assay.core.translation import gettext as _
from assay.core.view import RunView, fold_events
from assay.core.web_addresses import canonical_url, is_address
from assay.locale import use_locale
from assay.phases.fork import Checkpoint, SourceRemoval, checkpoint_before, fork_inputs, revise_event
from assay.run.process import new_id
from assay.run.releases import read_brief
from assay.run.replay import ReplayResult, copied_log
from assay.services import worlds
from assay.services.arguments import ProgressLog, Sources, source_names
from assay.services.briefs import make_brief, named_models
from assay.services.context import Context
from assay.services.queue_workers import check_priority
from assay.services.run_control import as_review
from assay.services.run_start import read_scope
from assay.services.stored_runs import find, require_ended
from assay.services.threads import remove_web_suffix, web_suffix
from assay.settings import Settings


def revise_brief(old: Brief, fork: Fork, settings: Settings, options: ForkOptions) -> Brief:
    """The brief of a fork; scope and thread are still those of the original run.

    Raises:
        UsageError: an option has a wrong value, or would change nothing from this point on.
    """
    changed_options = {option for option, value in options.items() if value is not None and value != {}}
    _check(old, fork.point, changed_options)
    new_brief = make_brief(old.question, settings, cast("RunOptions", options))
    fields = {field for option in changed_options for field in declared_options(ForkOptions)[option].fields}
    changes = {name: getattr(new_brief, name) for name in fields if "." not in name}
    limits = {
        name.removeprefix("budget."): attrgetter(name)(new_brief) for name in fields if name.startswith("budget.")
    }
    changes["models"] = _models(old.models, named_models(options.get("model"), options.get("models", {})))
    same_models = changed_options.isdisjoint(("model", "models"))
    changes["allow_private"] = new_brief.allow_private or (old.allow_private and same_models)
    return msgspec.structs.replace(
        old,
        **changes,
        budget=msgspec.structs.replace(old.budget, **limits),
        date=old.date if fork.point == "write" else datetime.now(UTC).date().isoformat(),
        labels={name: value for name, value in old.labels.items() if name != CELL_OF},  # it fills no cell
        prompts=new_brief.prompts,
        release=new_brief.release,
        steps_format=new_brief.steps_format,
        fork=fork,
    )


def _check(old: Brief, point: ForkPoint, changed_options: Iterable[str]) -> None:
    for option in map(declared_options(ForkOptions).__getitem__, changed_options):
        flag, until = option.flags[0].name if option.flags else option.name, option.option.until
        if point == "write" and until != "write":
            raise UsageError(f"{flag} does not change a report from the same findings; fork from research or plan")
        if point == "research" and until == "plan":
            raise UsageError(f"{flag} needs a new plan: fork from plan")
    if old.schema and "template" in changed_options:
        raise UsageError("this run fills a schema, so it takes no template: leave it out")


def _models(old: Mapping[Role, tuple[str, ...]], chosen: Mapping[Role, tuple[str, ...]]) -> dict[Role, tuple[str, ...]]:
    """The models of each role; a judge that nobody named follows from the other roles as they are now."""
    models = dict(old) | dict(chosen)
    follows_roles = "judge" not in chosen and tuple(old.get("judge", ())) == default_judges(old)
    return models | {"judge": default_judges(models)} if follows_roles else models


# A replayed run, and its report compared with the stored one.


class Replay(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a replay.

    `steps` were taken from the journal, `events` were computed again. `differences` say where these differ from the
    stored log; `same_report` whether the report (`assay.report/1`) is the same, byte for byte.
    """

    run_id: str
    steps: int
    events: int
    same_report: bool
    differences: tuple[str, ...]

    @property
    def is_same(self) -> bool:
        """True if everything is the same."""
        return self.same_report and not self.differences


def compare_logs(result: ReplayResult, stored_log: list[Envelope]) -> Replay:
    """The result of a replay, compared with the stored log."""
    before, after = (msgspec.json.encode(build_report(fold_events(log))) for log in (stored_log, result.log))
    return Replay(
        run_id=result.run_id,
        steps=result.steps,
        events=result.events,
        same_report=before == after,
        differences=result.differences,
    )


class Parent(msgspec.Struct, frozen=True, kw_only=True):
    """The run that is forked."""

    row: RunRow
    memory: Memory
    brief: Brief
    view: RunView


class ForkChanges(msgspec.Struct, frozen=True, kw_only=True):
    """The changes in a fork: the plan, sources left out, sources added, and options; see `Assay.fork`."""

    plan: Plan | str | Path | None = None
    exclude: Sequence[str] = ()
    add: Sources | None = None
    options: ForkOptions = {}


async def fork(
    context: Context,
    reference: str,
    point: ForkPoint,
    changes: ForkChanges,
    progress: ProgressLog | None = None,
    priority: int | None = None,
) -> str:
    """Store a run that continues from a point of another; see `Assay.fork`."""
    check_priority(context, priority)
    plan, add = None if changes.plan is None else as_review(changes.plan).plan, changes.add
    point = _check_point(point, plan is not None, add is not None)
    parent = await _parent(context, reference)
    checkpoint = _checkpoint_at(parent, point)
    left_out = await asyncio.to_thread(source_ids, parent.view, changes.exclude, context.store.library)
    fork_record = Fork(run=parent.row.run_id, point=point, left_out=tuple(sorted(left_out)))
    brief = revise_brief(parent.brief, fork_record, context.settings, changes.options)
    worlds.check_runnable(context, brief)
    with use_locale(brief.locale):  # the name of the scope appears in the report
        scope = await _scope_of(
            context, brief.scope, [parent.view.sources[id] for id in fork_record.left_out], add, progress
        )
    brief = msgspec.structs.replace(brief, scope=scope, thread=await _thread_of(context, parent))
    brief, world = await worlds.complete_brief(context, brief)
    brief = msgspec.structs.replace(brief, estimate=None)  # estimates of whole runs do not apply to a part
    return await _store_fork(context, parent, brief, world, msgspec.structs.replace(checkpoint, given=plan), priority)


async def _parent(context: Context, reference: str) -> Parent:
    row = await find(context, reference)
    journal = context.store.journal
    await require_ended(journal, row, "it cannot be forked")
    memory = await journal.load(row.run_id)
    brief = read_brief(row.run_id, memory.brief)
    return Parent(row=row, memory=memory, brief=brief, view=fold_events(await journal.events(row.run_id)))


async def _thread_of(context: Context, parent: Parent) -> str:
    """The thread of a fork: its parent's, in which it takes the parent's place, if nothing followed there."""
    newest = await context.store.journal.latest(parent.brief.thread)
    return parent.brief.thread if newest is not None and newest.run_id == parent.row.run_id else ""


async def _scope_of(
    context: Context, scope: Scope, removed: Sequence[Source], add: Sources | None, progress: ProgressLog | None
) -> Scope:
    """The scope of the fork: without these sources, with added ones, without the web if that is off now."""
    if scope.web and context.settings.search.offline:
        scope = msgspec.structs.replace(scope, web=False, label=remove_web_suffix(scope.label))
    paths = [] if add is None else source_names(add)
    added_collections = (await read_scope(context, paths, Scope(), progress)).collections if paths else ()
    if not removed and not added_collections:
        return scope
    return await asyncio.to_thread(_change_scope, context.store.library, scope, removed, added_collections, paths)


async def _store_fork(
    context: Context, parent: Parent, brief: Brief, world: World, checkpoint: Checkpoint, priority: int | None
) -> str:
    assert brief.fork is not None
    removal = SourceRemoval(frozenset(brief.fork.left_out), parent.memory.ledger)
    checkpoint = _set_depth(removal.filter_checkpoint(checkpoint), brief)
    inputs = fork_inputs(parent.memory, parent.brief, brief, checkpoint, removal)
    events = await context.store.journal.events(parent.row.run_id)
    first = _fork_event(context, parent, brief.fork, inputs)
    log = copied_log(events, brief.fork.point, lambda event: revise_event(event, removal, checkpoint), first.at)
    run_id = new_id()
    await context.engine.create(run_id, brief, world, (first, *log), inputs, priority)
    return run_id


def _fork_event(context: Context, parent: Parent, fork: Fork, inputs: RunInputs) -> EventDraft:
    kinds = [row.kind for row in inputs.ledger]
    event = RunForked(
        parent=fork.run,
        point=fork.point,
        sources=kinds.count("source"),
        passages=kinds.count("passage"),
        queries=kinds.count("query"),
        pages=kinds.count("page"),
        left_out=tuple(parent.view.sources[id].title for id in fork.left_out),
    )
    return EventDraft(key="forked", path=(), type=event.kind, data=encode(event), at=context.clock.now())


def _check_point(point: ForkPoint, has_plan: bool, has_additions: bool) -> ForkPoint:
    """The point from which work is done again: with a given plan the planner is not called."""
    if point not in POINTS:
        raise UnknownName("point to fork from", point, POINTS)
    if point == "write" and has_additions:
        raise UsageError("a fork from write does no research: to add documents, fork from research or plan")
    if point == "write" and has_plan:
        raise UsageError("a fork from write keeps the findings: to use another plan, fork from plan")
    return "plan" if has_plan else point


def _checkpoint_at(parent: Parent, point: ForkPoint) -> Checkpoint:
    """The checkpoint of the run at the point.

    Raises:
        UsageError: the run never reached it; the message names the points it reached.
    """
    run_id, memory, row = parent.row.run_id, parent.memory, parent.row
    checkpoint = checkpoint_before(run_id, memory, point)
    if checkpoint is not None:
        return checkpoint
    available = [other_point for other_point in POINTS if checkpoint_before(run_id, memory, other_point) is not None]
    if available:
        raise UsageError(
            f"run {run_id} ({row.status}) never reached {point}, so it cannot be forked from there; "
            f"fork from {' or '.join(available)}"
        )
    raise UsageError(f"run {run_id} ({row.status}) never made a plan, so it cannot be forked: start it again")


def _set_depth(checkpoint: Checkpoint, brief: Brief) -> Checkpoint:
    """The checkpoint with the depth of the fork's brief, if it sets one."""
    if brief.depth == "auto":
        return checkpoint
    return msgspec.structs.replace(checkpoint, triage=msgspec.structs.replace(checkpoint.triage, depth=brief.depth))


# sources which are left out


def source_ids(view: RunView, names: Sequence[str], library: Library) -> set[str]:
    """The ids of the sources meant, including the same document or page under other ids.

    Raises:
        UnknownName: the run has no such source.
    """
    addresses_by_source = {id: page_addresses(source, library) for id, source in view.sources.items()}
    sources = [source for name in names for source in _find_sources(view, name.strip(), addresses_by_source)]
    hashes = {source.document_sha256 for source in sources}
    addresses = {page for source in sources for page in addresses_by_source[source.id]}
    return {
        id
        for id, source in view.sources.items()
        if source.document_sha256 in hashes or addresses_by_source[id] & addresses
    }


def _find_sources(view: RunView, name: str, addresses_by_source: Mapping[str, AbstractSet[str]]) -> list[Source]:
    if name in view.sources:
        return [view.sources[name]]
    number = name.strip("[]")
    if number.isdecimal():
        sources = [entry.source for entry in build_bibliography(view).entries if str(entry.number) == number]
    else:
        lowercase_name, page = name.casefold(), canonical_url(name)
        sources = [
            source
            for source in view.sources.values()
            if name
            and (
                page in addresses_by_source[source.id]
                or lowercase_name in (source.url, source.title.casefold(), _file(source))
            )
        ]
    if not sources:
        titles = {source.title or source.url for source in view.sources.values()}
        hint = f"(the sources run {view.run_id} met: assay runs export {view.run_id} -o report.json)"
        raise UnknownName("source", name, titles, hint)
    return sources


def page_addresses(source: Source, library: Library) -> frozenset[str]:
    """The canonical addresses of the page a source is, including redirects; empty for a document."""
    snapshot = library.snapshot(source.snapshot_sha256)
    snapshot_urls = (snapshot.url, *snapshot.redirects) if snapshot is not None else ()
    return frozenset(canonical_url(url) for url in (source.url, *snapshot_urls) if is_address(url))


def _file(source: Source) -> str:
    return unquote(source.url.rpartition("/")[2]).casefold()


# the scope of a fork


def _change_scope(
    library: Library, scope: Scope, removed: Sequence[Source], added_collections: Sequence[str], paths: Sequence[str]
) -> Scope:
    """The scope without these sources, and with the documents of `added_collections`, read from
    `paths`.
    """
    removed_hashes = {source.document_sha256 for source in removed}
    hashes = [document.sha256 for document in library.documents(scope.collections)]
    added_hashes = [document.sha256 for document in library.documents(added_collections)]
    new_hashes = [*dict.fromkeys((*(sha for sha in hashes if sha not in removed_hashes), *added_hashes))]
    left_out = {
        page for source in removed if source.document_sha256 not in hashes for page in page_addresses(source, library)
    }
    rules = msgspec.structs.replace(scope.rules, left_out=tuple(sorted({*scope.rules.left_out, *left_out})))
    if new_hashes == hashes:
        return msgspec.structs.replace(scope, rules=rules)
    missing = [source for source in removed if source.document_sha256 in hashes]
    label = (
        f"{_scope_label(scope.label, missing, paths)} ({phrases.documents(len(new_hashes))}){web_suffix(web=scope.web)}"
    )
    return msgspec.structs.replace(scope, collections=(library.collection_for(new_hashes),), label=label, rules=rules)


def _scope_label(label: str, removed: Iterable[Source], paths: Sequence[str]) -> str:
    """The name of a scope without some of its documents, and with these paths."""
    name = remove_web_suffix(label)
    titles = dict.fromkeys(source.title for source in removed)
    suffixes = [
        *([_("without {documents}").format(documents=_first_names(list(titles)))] if titles else []),
        *([_("with {documents}").format(documents=_first_names(paths))] if paths else []),
    ]
    return " ".join([name.rpartition(" (")[0] or name, *suffixes])


def _first_names(names: Sequence[str]) -> str:
    return ", ".join([*names[:3], *(["…"] if len(names) > 3 else [])])
