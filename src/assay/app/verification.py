"""What is checked beside runs: a text of somebody's own, a report once more, a run computed again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import msgspec

from assay.app.cited_texts import Desk, VerifiedText, verify_text
from assay.app.claim_judge import Bench, budget_of, check_able
from assay.app.layout import store_of
from assay.core.errors import UsageError
from assay.core.ports import Library
from assay.core.ways import way
from assay.run.replay import replay
from assay.services import collections as app_collections
from assay.services import daily, privacy, stored_runs, worlds
from assay.services.arguments import Say, Sources, listed
from assay.services.context import Context
from assay.services.places import collections_in
from assay.services.providers import turns_of
from assay.services.revision import Replay, compared
from assay.store.memory import memory_store
from assay.verify.again import Again, Rechecked, reread
from assay.verify.evidence_index import text_of

__all__ = ["Again", "Rechecked", "VerifiedText"]


class Judge(msgspec.Struct, frozen=True):
    """Who judges what the rules do not decide: the model `name`, None for nobody; see `DocumentLibrary.verify`.

    What it may take is None where the settings say it.
    """

    name: str | None = None
    answers: Path | None = None
    allow_private: bool = False
    max_usd: float | None = None
    max_tokens: int | None = None


class TextSources(msgspec.Struct, frozen=True, kw_only=True):
    """What a text is held against; see `DocumentLibrary.verify`."""

    sources: Sources = ()
    folder: str | Path = "."
    web: bool = False
    find: bool | None = None


async def checked(
    context: Context, text: str, against: TextSources, judge: Judge, progress: Say | None
) -> VerifiedText:
    """Every claim of a text against the documents it names; see `DocumentLibrary.verify`."""
    paths, find, folder = listed(against.sources), against.find, Path(against.folder)
    if not paths and not against.web:
        raise UsageError("there is nothing to check the text against: name documents, or allow the web")
    if judge.name is not None:
        check_able(judge.name, worlds.model(context, judge.name))
    library = context.store.library
    collections, rest = await asyncio.to_thread(collections_in, paths, library)
    ingested = await app_collections.add(context, rest, None, progress) if rest else None
    held = [*collections, ingested.collection] if ingested else collections
    documents = await asyncio.to_thread(library.documents, held) if held else []
    desk = Desk(library, context.reader, context.online.over(library) if against.web else None)
    warnings = ingested.warnings if ingested else ()
    if judge.name is None:
        return _warned(await verify_text(text, documents, desk, folder, find=find), warnings)
    async with _bench(context, judge.name, judge) as bench:
        if not judge.allow_private:
            # A text may be checked apart from the home which knows what is private.
            libraries, hashes = {library, bench.store.library}, [document.sha256 for document in documents]
            private = await asyncio.to_thread(_private, libraries, hashes)
            privacy.check_judge(context.settings, judge.name, bench.model, private)
        return _warned(await verify_text(text, documents, desk, folder, bench, find), warnings)


def _warned(found: VerifiedText, warnings: Sequence[str]) -> VerifiedText:
    """The same, with what could not be read before it was checked."""
    return msgspec.structs.replace(found, warnings=(*warnings, *found.warnings))


def _private(libraries: Iterable[Library], documents: Sequence[str]) -> list[str]:
    """The private collections which hold any of these documents. Blocking."""
    return sorted({name for each in libraries for name in each.private_among((), documents)})


async def rechecked(context: Context, reference: str, judge: Judge) -> Rechecked:
    """The report of a run by the rules of today; see `Assay.recheck`."""
    if judge.name is not None:
        check_able(judge.name, worlds.model(context, judge.name))
    view = await stored_runs.view(context, reference)
    if not view.claims and view.report.state != "finished":
        raise UsageError(
            f"run {view.run_id} has no finished report: wait until it ends, or continue it: "
            f"{way('resume', view.run_id)}"
        )
    off = view.brief.checks_off if view.brief else ()
    read = await asyncio.to_thread(reread, view, text_of(context.store.library, context.reader), off)
    if judge.name is None:
        return read.told({})
    if not judge.allow_private:
        private = await privacy.private_names(context.store.journal, context.store.library, view.run_id)
        privacy.check_judge(context.settings, judge.name, worlds.model(context, judge.name), private)
    async with _bench(context, judge.name, judge) as bench:
        judged = await bench.judge(read.to_judge(), off)
    found = await asyncio.to_thread(read.told, judged.opinions)
    return msgspec.structs.replace(found, model=judged.model, usage=judged.usage)


@asynccontextmanager
async def _bench(context: Context, model: str, judge: Judge) -> AsyncIterator[Bench]:
    """A judge; what it answers is remembered here, or in the home which `judge` names."""
    settings = context.settings
    store = store_of(judge.answers, settings) if judge.answers else context.store
    try:
        budget = budget_of(settings, judge.max_usd, judge.max_tokens)
        allowances = daily.allowances(settings.limits, context.owner or "", context.limits)
        budget = await daily.left(store.journal.owned_by(None), allowances, budget)
        yield Bench(model, worlds.model(context, model), store, turns_of(store, settings), budget)
    finally:
        if store is not context.store:
            await store.close()


async def replayed(context: Context, reference: str) -> Replay:
    """A completed run computed again from its stored steps; see `Assay.replay`."""
    run_id, journal = (await stored_runs.find(context, reference)).run_id, context.store.journal
    again = await replay(
        run_id, journal, memory_store().journal, worlds.way(context), partial(worlds.any_world, context)
    )
    return compared(again, await journal.events(run_id))
