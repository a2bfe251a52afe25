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
from assay.core.citations.whole_source import JUDGED_PASSAGES
from assay.core.claims import Summary
from assay.core.errors import FetchFailed, UsageError
from assay.core.ports import Library, Pages
from assay.core.sources import Document, Passage
from assay.core.translation import format_number, gettext
from assay.core.usage import Usage
from assay.core.ways import suggest_command
from assay.core.web_addresses import is_address
from assay.evidence.documents import DocumentReader
from assay.run.replay import replay
from assay.services import collections as app_collections
from assay.services import daily, privacy, stored_runs, worlds
from assay.services.arguments import ProgressLog, Sources, source_names
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
    "MAX_TEXT_CHARS",
    "Again",
    "CheckedClaim",
    "Named",
    "Rechecked",
    "VerificationSetup",
    "VerifiedText",
    "verify_text",
]

# Any text with citations, checked against documents: without a run, and with a model only if one is given.


MAX_TEXT_CHARS = 4_000_000
"""Characters of a text; a longer one is not a report."""
MAX_PAGES = 200
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
        UsageError: the text is longer than `MAX_TEXT_CHARS`, or the model cannot judge.
        StoreError: a document's text is missing or damaged.
    """
    if len(text) > MAX_TEXT_CHARS:
        raise UsageError(
            f"a text of more than {MAX_TEXT_CHARS:,} characters is too long for a report: name a smaller file"
        )
    marked_text = await asyncio.to_thread(mark_citations, text)
    catalogue = await asyncio.to_thread(lambda: Catalogue(documents, str(folder.resolve())))
    fetched, failures = await _fetch(marked_text, catalogue, desk.pages)
    searches_all = find or (find is None and not marked_text.references)
    shelf = DocumentAccess(
        find=catalogue.find,
        spans=desk.reader.spans,
        text_of=text_reader(desk.library, desk.reader),
        tables_of=lambda hashes: [
            table for document in desk.library.documents_by_hash(hashes) for table in desk.reader.tables(document)
        ],
        all_documents=(*documents, *fetched) if searches_all else (),
        least_passages=JUDGED_PASSAGES if bench else 0,
    )
    checked_text = await asyncio.to_thread(check_by_rules, text, marked_text, shelf, desk.rules)
    rules = msgspec.structs.replace(desk.rules, inherits=False)  # as by the rules: each claim has what it cites
    judgements = await bench.judge(checked_text.open_claims(), rules) if bench else Judgements()
    result = await asyncio.to_thread(checked_text.with_opinions, judgements.opinions)
    return VerifiedText(
        claims=result.claims,
        references=result.references,
        passages=result.passages,
        documents=tuple(document.url for document in (*documents, *fetched)),
        summary=result.summary,
        uncited=result.uncited,
        share=round(result.share, 4),
        warnings=(*failures, *checked_text.fault_messages),
        model=judgements.model,
        usage=judgements.usage,
    )


async def _fetch(
    marked_text: MarkedText, catalogue: Catalogue, pages: Pages | None
) -> tuple[list[Document], list[str]]:
    """Fetch cited pages that are not among the documents, one after another; also return why some failed."""
    fetched: list[Document] = []
    failures: list[str] = []
    urls = [
        reference.url
        for reference in marked_text.references
        if is_address(reference.url) and not catalogue.find(reference)
    ]
    for url in dict.fromkeys(urls if pages else ()):
        if len(fetched) + len(failures) == MAX_PAGES:
            failures.append(gettext("only {count} pages were fetched").format(count=format_number(MAX_PAGES)))
            break
        try:
            documents = await pages.read(url) if pages else ()
        except FetchFailed as error:
            failures.append(f"{url}: {error.reason}")
            continue
        for document in documents:
            catalogue.add(document, url)  # it may have moved
        fetched.extend(documents)
    return fetched, failures


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
    context: Context, text: str, text_sources: TextSources, judge: Judge, progress: ProgressLog | None
) -> VerifiedText:
    """Check every claim of a text against the documents it names; see `DocumentLibrary.verify`."""
    paths, find, folder = source_names(text_sources.sources), text_sources.find, Path(text_sources.folder)
    if not paths and not text_sources.web:
        raise UsageError("there is nothing to check the text against: name documents, or allow the web")
    if judge.name is not None:
        check_can_judge(judge.name, worlds.model(context, judge.name))
    library = context.store.library
    collections, other_paths = await asyncio.to_thread(split_collections, paths, library)
    ingested = await app_collections.add(context, other_paths, None, progress) if other_paths else None
    all_collections = [*collections, ingested.collection] if ingested else collections
    documents = await asyncio.to_thread(library.documents, all_collections) if all_collections else []
    rules = CheckRules(added_checks=added_checks(context.settings.checks_off))
    desk = VerificationSetup(
        library, context.reader, context.online.for_library(library) if text_sources.web else None, rules
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


def _add_warnings(verified_text: VerifiedText, warnings: Sequence[str]) -> VerifiedText:
    """The same, with what could not be read before the check."""
    return msgspec.structs.replace(verified_text, warnings=(*warnings, *verified_text.warnings))


def _private(libraries: Iterable[Library], documents: Sequence[str]) -> list[str]:
    """The private collections with any of these documents. Blocking."""
    return sorted({name for library in libraries for name in library.private_among((), documents)})


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
    rules = CheckRules(checks_off=view.brief.checks_off if view.brief else (), added_checks=added_checks())
    recheck = await asyncio.to_thread(recheck_by_code, view, text_reader(context.store.library, context.reader), rules)
    if judge.name is None:
        return recheck.with_opinions({})
    if not judge.allow_private:
        private = await privacy.private_names(context.store.journal, context.store.library, view.run_id)
        privacy.check_judge(context.settings, judge.name, worlds.model(context, judge.name), private)
    async with _open_judge(context, judge.name, judge) as bench:
        judgements = await bench.judge(recheck.open_claims(), rules)
    rechecked = await asyncio.to_thread(recheck.with_opinions, judgements.opinions)
    return msgspec.structs.replace(rechecked, model=judgements.model, usage=judgements.usage)


@asynccontextmanager
async def _open_judge(context: Context, model: str, judge: Judge) -> AsyncIterator[ClaimJudge]:
    """A judge; its answers are stored here, or in the home that `judge` names."""
    settings = context.settings
    store = store_of(judge.answers, settings) if judge.answers else context.store
    try:
        budget = daily.budget_of(settings.limits, judge.max_usd, judge.max_tokens)
        owner = context.owner or ""
        limits = daily.allowances(settings.limits, owner, context.limits)
        allowances = await daily.add_outside(store.cache, limits)
        budget = await daily.budget_left(store.journal.owned_by(None), allowances, budget)
        yield ClaimJudge(model, worlds.model(context, model), store, model_rate_limiter(store, settings), budget, owner)
    finally:
        if store is not context.store:
            await store.close()


async def replay_run(context: Context, reference: str) -> Replay:
    """Compute a completed run again from its stored steps; see `Assay.replay`."""
    run_id, journal = (await stored_runs.find(context, reference)).run_id, context.store.journal
    replayed = await replay(
        run_id, journal, memory_store().journal, worlds.make_pipeline(context), partial(worlds.unchecked_world, context)
    )
    return compare_logs(replayed, await journal.events(run_id))
