"""The means of a run: the engine with its pipeline, the models, searches and pages."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import msgspec

from assay import plugins
from assay.core.brief import Brief
from assay.core.errors import AssayError, PluginFailed, UnknownName
from assay.core.ports import Library, Model, World
from assay.core.ports.collections import SLASH
from assay.core.sources import UNSORTED
from assay.phases.pipeline import PipelineParts, pipeline
from assay.run.budget import check_brief
from assay.run.engine import TTL, Engine, Outcome, Pipeline
from assay.run.run import Run
from assay.services import briefs, daily, estimates, privacy, providers
from assay.services.claim_checks import added_checks
from assay.services.context import Context
from assay.services.providers import load_model
from assay.verify.checks import require_known_checks


def engine(context: Context) -> Engine:
    """Make the engine that executes runs."""
    ttl = TTL if context.settings.database is None else context.settings.workers.lease
    return Engine(context.full_store.journal, make_pipeline(context), ttl=ttl)


def make_pipeline(context: Context) -> Pipeline:
    """The path of every run, from its question to its report: `phases.pipeline`."""

    async def run_it(run: Run) -> Outcome:
        try:
            return await pipeline(run, context.pipeline_parts)
        except AssayError:
            raise
        except Exception as bug:
            if package := plugins.failing_package(bug):
                raise PluginFailed(
                    f"the package {package} failed ({type(bug).__name__}: {bug}): update or uninstall it"
                ) from bug
            raise

    return run_it


def pipeline_parts(context: Context) -> PipelineParts:
    """The installed tools and strategies, and the checks of other packages."""
    tools: tuple[Any, ...] = tuple(plugins.load("tools", name)() for name in plugins.names("tools"))
    strategies: dict[str, Any] = {name: plugins.load("strategies", name) for name in plugins.names("strategies")}
    return PipelineParts(tools=tools, reader=context.reader, strategies=strategies, checks=added_checks())


def check_runnable(context: Context, brief: Brief) -> None:
    """Refuse a brief that cannot run, before anything is stored or spent.

    Raises:
        UsageError, UnknownName, ConfigError: with the reason.
    """
    context.pipeline_parts.strategy(brief.strategy)
    context.pipeline_parts.allowed_tools(brief.tools)
    require_known_checks(brief.checks_off, context.pipeline_parts.checks)
    check_brief(brief, unchecked_world(context, brief))


async def complete_brief(context: Context, brief: Brief) -> tuple[Brief, World]:
    """Complete the brief as it will be stored, and return it with its world.

    Raises:
        UsageError: private documents would leave this machine, or the daily limits leave nothing.
        TooMany: the owner has as many runs as allowed.
    """
    journal = context.store.journal
    brief = msgspec.structs.replace(brief, owner=context.owner or "", user=context.owner or brief.user)
    models = {name: model(context, name) for name in _model_names(brief)}
    completed = await providers.add_reported(context.settings, brief, models)
    completed = await privacy.mark_private(journal, context.store.library, completed)
    run_world = world(context, completed)
    completed = privacy.add_recipients(context.settings, completed, run_world.models)
    limits = daily.allowances(context.settings.limits, completed.owner, context.limits)
    allowances = await daily.add_outside(context.store.cache, limits)
    completed = await daily.cap_budget(context.full_store.journal, allowances, completed, run_world)
    run_world = msgspec.structs.replace(run_world, allowances=allowances)
    return msgspec.structs.replace(
        completed, estimate=await estimates.estimate(journal, completed, run_world)
    ), run_world


def world(context: Context, brief: Brief) -> World:
    """Return what a run can reach. Every run that calls a model or a search gets its world here.

    Raises:
        UsageError: private documents would leave this machine.
    """
    run_world = unchecked_world(context, brief)
    privacy.check_private(brief, run_world.library, privacy.run_destinations(context.settings, brief, run_world.models))
    return run_world


def unchecked_world(context: Context, brief: Brief) -> World:
    """Return what a run would reach, without checking whether it may; the library is limited to its owner's view.

    Raises:
        UnknownName, ConfigError: a model or a search provider is missing or not set up.
    """
    library = context.for_owner_of(brief).store.library
    web = context.online.for_library(library) if brief.scope.web else None
    return World(
        models={name: providers.freeze_model(brief, name, model(context, name)) for name in _model_names(brief)},
        searches=(context.wiring.owned_search(context.for_owner_of(brief), brief), *(web.searches() if web else ())),
        library=library,
        blobs=context.store.blobs,
        texts=context.reader,
        clock=context.clock,
        pages=web,
        cache=context.store.cache,
        watch=context.watch,
        rate_limiter=context.rate_limiter,
        notices=web.notices() if web else None,
        keep=partial(_keep_documents, library) if _reads_other_owners(library, brief) else None,
        similarity=context.wiring.similarity(context.for_owner_of(brief), brief),
        prompts=briefs.replaced_texts(),
    )


def _reads_other_owners(library: Library, brief: Brief) -> bool:
    """True if a collection in scope belongs to another owner, who may withdraw access."""
    shared_names = [name for name in brief.scope.collections if SLASH in name]
    return any(not full_name.startswith(f"{brief.owner}{SLASH}") for full_name in library.resolve_names(shared_names))


def _keep_documents(library: Library, hashes: Sequence[str]) -> None:
    """Add what a run read to the documents its owner's runs have read, except what may not be read any more."""
    for sha256 in hashes:
        with suppress(UnknownName):
            library.include([sha256], UNSORTED)


def _model_names(brief: Brief) -> list[str]:
    return sorted({name for models in brief.models.values() for name in models})


def model(context: Context, name: str) -> Model:
    """Return the model with this name. It is made once, so its connections are reused."""
    if name in context.own_models:
        return context.own_models[name]
    if name not in context.made_models:
        context.made_models[name] = load_model(context.settings, name)
    return context.made_models[name]
