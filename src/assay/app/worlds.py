"""What a run is executed by and what it reaches: the engine with its pipeline, the models, searches and pages."""

from __future__ import annotations

from typing import Any

import msgspec

from assay import plugins
from assay.app import daily, estimating, learning, privacy
from assay.app.context import Context
from assay.app.providers import load_model, turns_of
from assay.core.brief import Brief
from assay.core.ports import LibrarySearch, Model, Turns, World
from assay.phases.pipeline import Services, pipeline
from assay.run.affording import check_brief
from assay.run.engine import TTL, Engine, Outcome, Pipeline
from assay.run.run import Run
from assay.search.vectors.hybrid import HybridSearch


def engine(context: Context) -> Engine:
    """What executes runs."""
    ttl = TTL if context.settings.database is None else context.settings.workers.lease
    return Engine(context.store.journal, way(context), ttl=ttl)


def way(context: Context) -> Pipeline:
    """The way of every run, from its question to its report: `phases.pipeline`."""

    async def run_it(run: Run) -> Outcome:
        return await pipeline(run, context.services)

    return run_it


def turns(context: Context) -> Turns | None:
    """When a model may be called; None where no service has a limit."""
    return turns_of(context.store, context.settings)


def services(context: Context) -> Services:
    """The tools and strategies installed."""
    return Services(tools=_tools(), reader=context.reader, strategies=_strategies())


def _tools() -> tuple[Any, ...]:
    return tuple(plugins.load("tools", name)() for name in plugins.names("tools"))


def _strategies() -> dict[str, Any]:
    return {name: plugins.load("strategies", name) for name in plugins.names("strategies")}


def check(context: Context, brief: Brief) -> None:
    """Refuse what cannot run, before anything is stored or spent.

    Raises:
        UsageError, UnknownName, ConfigError: why.
    """
    context.services.strategy(brief.strategy)
    context.services.allowed(brief.tools)
    check_brief(brief, any_world(context, brief))


async def placed(context: Context, brief: Brief) -> tuple[Brief, World]:
    """The brief as it is stored, and its world.

    Raises:
        UsageError: the run would take private documents elsewhere, or the day's limits allow none.
    """
    journal = context.store.journal
    models = {name: model(context, name) for name in _named(brief)}
    at = await learning.learned(context.settings, brief, models)
    at = await privacy.marked(journal, context.store.library, at)
    reached = world(context, at)
    at = privacy.told(context.settings, at, reached.models)
    allowance = daily.allowance(context.settings.limits)
    if allowance is not None:
        at = await daily.allowed(journal, allowance, at, reached)
        reached = msgspec.structs.replace(reached, allowance=allowance)
    return await estimating.estimated(journal, at, reached), reached


def world(context: Context, brief: Brief) -> World:
    """What a run reaches: every run that asks anybody anything gets its world here.

    Raises:
        UsageError: it would take private documents elsewhere.
    """
    reached = any_world(context, brief)
    privacy.check(brief, context.store.library, privacy.ways(context.settings, brief, reached.models))
    return reached


def any_world(context: Context, brief: Brief) -> World:
    """What a run would reach, whether it may or not.

    Raises:
        UnknownName, ConfigError: a model or a search provider is not there, or not set up.
    """
    web = context.online if brief.scope.web else None
    return World(
        models={name: learning.frozen(brief, name, model(context, name)) for name in _named(brief)},
        searches=(_library_search(context, brief), *(web.searches() if web else ())),
        library=context.store.library,
        blobs=context.store.blobs,
        clock=context.clock,
        pages=web,
        memo=context.store.memo,
        watch=context.watch,
        turns=context.turns,
        notices=web.notices() if web else None,
    )


def _named(brief: Brief) -> list[str]:
    return sorted({name for models in brief.models.values() for name in models})


def _library_search(context: Context, brief: Brief) -> LibrarySearch:
    """The search over the library; by words alone where what is asked may not be told to the embedder."""
    if brief.scope.private and isinstance(context.search, HybridSearch) and not context.vectors.may_be_told_private:
        return context.search.index
    return context.search


def model(context: Context, name: str) -> Model:
    """The model of this name, made once: what it holds open is used again."""
    if name in context.own_models:
        return context.own_models[name]
    if name not in context.made_models:
        context.made_models[name] = load_model(context.settings, name)
    return context.made_models[name]
