"""Checks outside runs: a user's text, a report once more, a run computed again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import msgspec

from assay.app.claim_judge import ClaimJudge, Judgements, check_can_judge
from assay.app.layout import store_of
from assay.core.claims import Summary
from assay.core.errors import FetchFailed, UsageError
from assay.core.ports import Library, Pages
from assay.core.sources import Document, Passage
from assay.core.usage import Usage
from assay.core.ways import suggest_command
from assay.core.web_addresses import is_address
from assay.evidence.documents import DocumentReader
from assay.run.replay import replay
from assay.services import collections as app_collections
from assay.services import daily, privacy, stored_runs, worlds
from assay.services.arguments import Say, Sources, source_names
from assay.services.claim_checks import added_checks
from assay.services.context import Context
from assay.services.forks import Replay, compare_logs
from assay.services.places import split_collections
from assay.services.providers import model_rate_limiter
from assay.store.memory import memory_store
from assay.verify.claim_check import CheckRules
from assay.verify.evidence_index import text_reader
from assay.verify.pipeline import Again, Rechecked, recheck_by_code
from assay.verify.texts.catalogue import Catalogue
from assay.verify.texts.marked_text import MarkedText, mark_citations
from assay.verify.texts.text_check import CheckedClaim, DocumentAccess, Named, check_by_rules

__all__ = [
    "LONGEST",
    "Again",
    "CheckedClaim",
    "Named",
    "Rechecked",
    "VerificationSetup",
    "VerifiedText",
    "verify_text",
]

# Any text with citations, checked against documents: without a run, and with a model only if one is given.


LONGEST = 4_000_000
"""Characters of a text; a longer one is not a report."""
MOST_PAGES = 200
"""Pages fetched for one text."""


class VerifiedText(msgspec.Struct, frozen=True, kw_only=True):
    """A text's claims with their verdicts, and their evidence.

    `share` is the share of quoted and supported claims (1 without claims), `uncited` counts those without citations
    that are neither. `documents` are the addresses of the documents given or fetched. `passages` are those the claims
    were compared with: `S2.17` is passage 17 of what reference `S2` names; numbers beyond the references are of
    documents in which evidence was found. `warnings` say what could not be read, and which check of another package
    failed. `model` judged what the rules do not decide, empty if none did; `usage` is its cost.
    """

    claims: tuple[CheckedClaim, ...]
    references: tuple[Named, ...]
    passages: tuple[Passage, ...]
    documents: tuple[str, ...]
    summary: Summary
    uncited: int
    share: float
    warnings: tuple[str, ...] = ()
    model: str = ""
    usage: Usage = Usage()


class VerificationSetup(msgspec.Struct, frozen=True):
    """Where documents are stored and read, and which rules are asked.

    `pages` fetches cited pages that were not given, None does not.
    """

    library: Library
    reader: DocumentReader
    pages: Pages | None = None
    rules: CheckRules = CheckRules()


async def verify_text(
    text: str,
    documents: Sequence[Document],
    desk: VerificationSetup,
    folder: Path,
    bench: ClaimJudge | None = None,
    find: bool | None = None,
) -> VerifiedText:
    """Check every claim of `text` against what it cites of `documents`.

    Args:
        text: Markdown, or plain text.
        documents: those it may cite; they are in the library of `desk`.
        desk: where they are read.
        folder: the folder that paths in the text are relative to.
        bench: a judge for the claims decided only by the weight of words.
        find: whether to search all documents for evidence of claims without citations; None: if the text has none.

    Raises:
        UsageError: the text is longer than `LONGEST`, or the model cannot judge.
        StoreError: a document's text is missing or damaged.
    """
    if len(text) > LONGEST:
        raise UsageError(f"a text of more than {LONGEST:,} characters is too long for a report: name a smaller file")
    marked = await asyncio.to_thread(mark_citations, text)
    catalogue = await asyncio.to_thread(lambda: Catalogue(documents, str(folder.resolve())))
    fetched, failed = await _fetch(marked, catalogue, desk.pages)
    searched = find or (find is None and not marked.references)
    shelf = DocumentAccess(
        find=catalogue.find,
        spans=desk.reader.spans,
        text_of=text_reader(desk.library, desk.reader),
        everything=(*documents, *fetched) if searched else (),
    )
    checked = await asyncio.to_thread(check_by_rules, text, marked, shelf, desk.rules)
    judged = await bench.judge(checked.open_claims(), desk.rules) if bench else Judgements()
    found = await asyncio.to_thread(checked.with_opinions, judged.opinions)
    return VerifiedText(
        claims=found.claims,
        references=found.references,
        passages=found.passages,
        documents=tuple(document.url for document in (*documents, *fetched)),
        summary=found.summary,
        uncited=found.uncited,
        share=round(found.share, 4),
        warnings=(*failed, *checked.fault_messages),
        model=judged.model,
        usage=judged.usage,
    )


async def _fetch(marked: MarkedText, catalogue: Catalogue, pages: Pages | None) -> tuple[list[Document], list[str]]:
    """Fetch cited pages that are not among the documents, one after another; also return why some failed."""
    fetched: list[Document] = []
    failed: list[str] = []
    wanted = [each.url for each in marked.references if is_address(each.url) and not catalogue.find(each)]
    for url in dict.fromkeys(wanted if pages else ()):
        if len(fetched) + len(failed) == MOST_PAGES:
            failed.append(f"only {MOST_PAGES} pages were fetched")
            break
        try:
            documents = await pages.read(url) if pages else ()
        except FetchFailed as error:
            failed.append(f"{url}: {error.reason}")
            continue
        for document in documents:
            catalogue.add(document, url)  # it may have moved
        fetched.extend(documents)
    return fetched, failed


class Judge(msgspec.Struct, frozen=True):
    """The judge of what the rules do not decide: the model `name`, None for nobody; see `DocumentLibrary.verify`.

    Limits are None if they come from the settings.
    """

    name: str | None = None
    answers: Path | None = None
    allow_private: bool = False
    max_usd: float | None = None
    max_tokens: int | None = None


class TextSources(msgspec.Struct, frozen=True, kw_only=True):
    """The documents for checking a text; see `DocumentLibrary.verify`."""

    sources: Sources = ()
    folder: str | Path = "."
    web: bool = False
    find: bool | None = None


async def check_text(
    context: Context, text: str, against: TextSources, judge: Judge, progress: Say | None
) -> VerifiedText:
    """Check every claim of a text against the documents it names; see `DocumentLibrary.verify`."""
    paths, find, folder = source_names(against.sources), against.find, Path(against.folder)
    if not paths and not against.web:
        raise UsageError("there is nothing to check the text against: name documents, or allow the web")
    if judge.name is not None:
        check_can_judge(judge.name, worlds.model(context, judge.name))
    library = context.store.library
    collections, rest = await asyncio.to_thread(split_collections, paths, library)
    ingested = await app_collections.add(context, rest, None, progress) if rest else None
    held = [*collections, ingested.collection] if ingested else collections
    documents = await asyncio.to_thread(library.documents, held) if held else []
    rules = CheckRules(added=added_checks(context.settings.checks_off))
    desk = VerificationSetup(
        library, context.reader, context.online.for_library(library) if against.web else None, rules
    )
    warnings = ingested.warnings if ingested else ()
    if judge.name is None:
        return _add_warnings(await verify_text(text, documents, desk, folder, find=find), warnings)
    async with _open_judge(context, judge.name, judge) as bench:
        if not judge.allow_private:
            # A text may be checked outside the home that knows what is private.
            libraries, hashes = {library, bench.store.library}, [document.sha256 for document in documents]
            private = await asyncio.to_thread(_private, libraries, hashes)
            privacy.check_judge(context.settings, judge.name, bench.model, private)
        return _add_warnings(await verify_text(text, documents, desk, folder, bench, find), warnings)


def _add_warnings(found: VerifiedText, warnings: Sequence[str]) -> VerifiedText:
    """The same, with what could not be read before the check."""
    return msgspec.structs.replace(found, warnings=(*warnings, *found.warnings))


def _private(libraries: Iterable[Library], documents: Sequence[str]) -> list[str]:
    """The private collections with any of these documents. Blocking."""
    return sorted({name for each in libraries for name in each.private_among((), documents)})


async def recheck_run(context: Context, reference: str, judge: Judge) -> Rechecked:
    """Check the report of a run by today's rules; see `Assay.recheck`."""
    if judge.name is not None:
        check_can_judge(judge.name, worlds.model(context, judge.name))
    view = await stored_runs.view(context, reference)
    if not view.claims and view.report.state != "finished":
        raise UsageError(
            f"run {view.run_id} has no finished report: wait until it ends, or continue it: "
            f"{suggest_command('resume', view.run_id)}"
        )
    rules = CheckRules(off=view.brief.checks_off if view.brief else (), added=added_checks())
    read = await asyncio.to_thread(recheck_by_code, view, text_reader(context.store.library, context.reader), rules)
    if judge.name is None:
        return read.with_opinions({})
    if not judge.allow_private:
        private = await privacy.private_names(context.store.journal, context.store.library, view.run_id)
        privacy.check_judge(context.settings, judge.name, worlds.model(context, judge.name), private)
    async with _open_judge(context, judge.name, judge) as bench:
        judged = await bench.judge(read.open_claims(), rules)
    found = await asyncio.to_thread(read.with_opinions, judged.opinions)
    return msgspec.structs.replace(found, model=judged.model, usage=judged.usage)


@asynccontextmanager
async def _open_judge(context: Context, model: str, judge: Judge) -> AsyncIterator[ClaimJudge]:
    """A judge; its answers are stored here, or in the home that `judge` names."""
    settings = context.settings
    store = store_of(judge.answers, settings) if judge.answers else context.store
    try:
        budget = daily.budget_of(settings.limits, judge.max_usd, judge.max_tokens)
        allowances = daily.allowances(settings.limits, context.owner or "", context.limits)
        budget = await daily.budget_left(store.journal.owned_by(None), allowances, budget)
        yield ClaimJudge(model, worlds.model(context, model), store, model_rate_limiter(store, settings), budget)
    finally:
        if store is not context.store:
            await store.close()


async def replay_run(context: Context, reference: str) -> Replay:
    """Compute a completed run again from its stored steps; see `Assay.replay`."""
    run_id, journal = (await stored_runs.find(context, reference)).run_id, context.store.journal
    again = await replay(
        run_id, journal, memory_store().journal, worlds.make_pipeline(context), partial(worlds.unchecked_world, context)
    )
    return compare_logs(again, await journal.events(run_id))
