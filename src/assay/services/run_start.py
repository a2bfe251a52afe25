"""How runs begin: a caller's options become a brief with its documents, which is stored and executed."""

from __future__ import annotations

import asyncio

import msgspec

from assay.core import phrases
from assay.core.brief import Brief, Estimate, Scope
from assay.core.errors import EventLoopError, UnknownName
from assay.core.milestones import ProgressNote, summarize_warnings
from assay.core.ports import RunInputs, World
from assay.core.ports.webhooks import Webhook
from assay.core.run_options import RunOptions
from assay.core.translation import gettext as _
from assay.evidence.ingest import printable
from assay.locale import use_locale
from assay.phases.without_plan import SINGLE_AGENT_DEPTH
from assay.run.engine import Prepare
from assay.run.process import new_id
from assay.services import collections as app_collections
from assay.services import threads, worlds
from assay.services.arguments import DEFAULT_COLLECTION, ProgressLog, Sources, source_names
from assay.services.briefs import make_brief, web_in_scope
from assay.services.context import Context
from assay.services.places import split_collections
from assay.services.queue_workers import check_priority
from assay.services.results import RunHandle
from assay.services.stored_runs import find


class QueueOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What is stored with a run that is only created: its priority in the queue, and its own webhook."""

    priority: int | None = None
    webhook: Webhook | None = None


def start(
    context: Context, question: str, sources: Sources | None, progress: ProgressLog | None, options: RunOptions
) -> RunHandle:
    """Start a run in this process; see `Assay.start`."""
    return _make_handle(context, _prepare_run(context, question, sources, progress, options))


async def create(
    context: Context,
    question: str,
    sources: Sources | None,
    progress: ProgressLog | None,
    queue_options: QueueOptions,
    options: RunOptions,
) -> str:
    """Store a run without executing it here; see `Assay.create`."""
    check_priority(context, queue_options.priority)
    run_id, prepare = new_id(), _prepare_run(context, question, sources, progress, options)
    await context.engine.prepare_and_store(
        run_id, prepare, queue_options.priority, RunInputs(webhook=queue_options.webhook)
    )
    return run_id


async def foresee(context: Context, question: str, sources: Sources | None, options: RunOptions) -> Estimate:
    """Estimate what a run would take; see `Assay.foresee`."""
    brief, _world = await _prepare_run(context, question, sources, None, options)()
    assert brief.estimate is not None  # `worlds.complete_brief` sets it
    return brief.estimate


def ask(context: Context, reference: str, question: str, options: RunOptions) -> RunHandle:
    """Answer a question only from what a run has read; see `Assay.ask`."""
    return _make_handle(context, _prepare_question(context, reference, question, options))


async def create_ask(context: Context, reference: str, question: str, priority: int | None, options: RunOptions) -> str:
    """Store a run that answers from what another run has read; see `Assay.create_ask`."""
    check_priority(context, priority)
    run_id = new_id()
    await context.engine.prepare_and_store(run_id, _prepare_question(context, reference, question, options), priority)
    return run_id


def _prepare_question(context: Context, reference: str, question: str, options: RunOptions) -> Prepare:
    options["mode"], options["continues"] = "simple", reference
    brief = msgspec.structs.replace(make_brief(question, context.settings, options), tools=("recall",))
    worlds.check_runnable(context, brief)

    async def prepare() -> tuple[Brief, World]:
        if not brief.parent:
            raise UnknownName("run", reference, hint="(assay runs list shows them)")
        with use_locale(brief.locale):
            await context.until_stored(brief.parent)
            thread_brief = await threads.add_thread(context.store.journal, brief)
            thread_brief = msgspec.structs.replace(thread_brief, scope=threads.evidence_scope(thread_brief))
        return await worlds.complete_brief(context, thread_brief)

    return prepare


async def resume(context: Context, reference: str) -> RunHandle:
    """Continue a stored run; see `Assay.resume`."""
    row = await find(context, reference)
    execution = await context.engine.resume(row.run_id, lambda brief: worlds.world(context, brief))
    return RunHandle(execution, context)


async def read_scope(context: Context, paths: list[str] | None, scope: Scope, progress: ProgressLog | None) -> Scope:
    """Read what was named into the library and return the scope of the run; by default the default collection."""
    library, suffix = context.store.library, threads.web_suffix(web=scope.web)
    if paths is None:
        count = await asyncio.to_thread(library.summary, [DEFAULT_COLLECTION])
        label = f"{_(threads.DEFAULT_NAME)} ({phrases.documents(count.documents)}){suffix}"
        return msgspec.structs.replace(scope, label=label)
    in_memory = context.home is None and context.settings.database is None
    names, other_paths = await asyncio.to_thread(split_collections, paths, library, in_memory=in_memory)
    collections = list(names)
    if other_paths:
        ingested = await app_collections.add(context, other_paths, None, progress)
        collections.append(ingested.collection)
        for line in (*summarize_warnings(ingested.warnings), *map(ProgressNote, ingested.notes)):
            if progress is not None:
                progress(line)
    documents = phrases.documents(await asyncio.to_thread(library.count, collections))
    names_text = ", ".join(map(printable, paths[:3])) + (", …" if len(paths) > 3 else "")
    label = f"{names_text} ({documents})" if names_text else documents
    return msgspec.structs.replace(scope, collections=tuple(collections), label=f"{label}{suffix}")


def _make_handle(context: Context, prepare: Prepare) -> RunHandle:
    try:
        asyncio.get_running_loop()
    except RuntimeError as error:
        raise EventLoopError(
            "a run needs an event loop: start it in an async function (asyncio.run(main())), or call research_sync"
        ) from error
    return RunHandle(context.engine.start(prepare), context)


def _agent_options(context: Context, options: RunOptions) -> RunOptions:
    """The options of a run in which one agent works alone."""
    depth = options.get("depth") or (SINGLE_AGENT_DEPTH if context.settings.depth == "auto" else None)
    return {**options, "strategy": "orchestrated", "depth": depth}


def _prepare_run(
    context: Context, question: str, sources: Sources | None, progress: ProgressLog | None, options: RunOptions
) -> Prepare:
    options = _agent_options(context, options) if options.get("mode") == "agent" else options
    web_by_default = sources is None and not options.get("continues")
    brief = make_brief(question, context.settings, options, web=web_by_default)
    worlds.check_runnable(context, brief)
    paths = None if sources is None else source_names(sources)

    async def prepare() -> tuple[Brief, World]:
        web = web_in_scope(options, context.settings) if paths is None else brief.scope.web
        with use_locale(brief.locale):  # the name of the scope appears in the report
            await context.until_stored(brief.parent)
            thread_brief = await threads.add_thread(context.store.journal, brief, web=web)
            if paths is not None or not thread_brief.parent:
                before = (
                    await threads.previous_scope(context.store.journal, thread_brief, web=web)
                    if paths is None
                    else None
                )
                scope = before or await read_scope(context, paths, brief.scope, progress)
                thread_brief = msgspec.structs.replace(thread_brief, scope=scope)
        return await worlds.complete_brief(context, thread_brief)

    return prepare
