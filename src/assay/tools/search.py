"""`search`: the documents that answer a query best, with their best passages."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import takewhile
from typing import Annotated, Any

import msgspec

from assay.core.brief import Speculation
from assay.core.errors import SearchError, StoreError, ToolError
from assay.core.events import Excluded, SearchExpected, SearchFailed, SearchPerformed
from assay.core.ports import AskedAhead, DocumentTexts, Hit, MeteredSearch, Query, Search
from assay.core.sources import SNIPPET, PassageSpan
from assay.core.translation import gettext as _
from assay.core.usage import Usage
from assay.core.web_addresses import canonical_url
from assay.evidence.documents import DocumentReader
from assay.evidence.ledger import Ledger
from assay.run.protocols import DocumentPassages, Observation
from assay.run.run import Branch, Run
from assay.run.steps import StepContext
from assay.tools import common
from assay.tools.arguments import define, read

# Merges the results of different search providers into one list, best first.

DAMPING = 60
"""`k` of reciprocal-rank fusion, the value its authors recommend (see `fuse`)."""


def fuse(answers: Sequence[Sequence[DocumentPassages]]) -> list[DocumentPassages]:
    """Merge results, best first, with each document and each web page once.

    A place in a list counts 1 / (60 + rank), summed over the lists (reciprocal-rank fusion: Cormack, Clarke and
    Büttcher 2009); equal sums are ordered by rank, then by the order of the lists. For a page that several found, the
    snippet of the provider that ranked it best is shown.
    """
    scores: dict[str, float] = {}
    best: dict[str, tuple[int, int, DocumentPassages]] = {}
    for index, answer in enumerate(answers):
        seen: set[str] = set()
        for rank, excerpt in enumerate(answer, 1):
            name = _result_identity(excerpt)
            if name in seen:
                continue
            seen.add(name)
            scores[name] = scores.get(name, 0.0) + 1 / (DAMPING + rank)
            candidate = (rank, index, excerpt)
            best[name] = min(best.get(name, candidate), candidate, key=lambda each: each[:2])
    ranking = sorted(best, key=lambda name: (-scores[name], *best[name][:2]))
    return [best[name][2] for name in ranking]


def _result_identity(excerpt: DocumentPassages) -> str:
    """The identity of a result: a page's address, for other documents the text."""
    document = excerpt.document
    return canonical_url(document.url) if document.media_type == SNIPPET else document.sha256


DEFAULT_LIMIT, MAX_LIMIT = 8, 20
PASSAGES_A_HIT = 4
MESSAGE_TYPES = frozenset(("message/rfc822", "application/mbox"))
NOTHING = "Nothing found."


class SearchArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The arguments of `search`."""

    query: Annotated[
        str, msgspec.Meta(description="A few distinctive words: names, terms, numbers. One topic a query.")
    ]
    limit: Annotated[int, msgspec.Meta(description="How many documents to show, at most 20.")] = DEFAULT_LIMIT


class SearchTool:
    """Queries every search provider of the run in parallel, and fuses their answers by rank."""

    name = "search"
    definition = define(
        "search",
        "Search what is in scope. Shows the best documents with their best passages, each with an id to cite.",
        SearchArguments,
    )

    async def run(self, run: Run, ledger: Ledger, arguments: Mapping[str, Any]) -> Observation:
        """Search.

        Raises:
            ToolError: bad arguments, or no provider could answer.
        """
        parsed = read(self.definition, arguments, SearchArguments)
        query = build_query(run, parsed.query, parsed.limit)
        providers = run.world.searches
        branches = (
            Branch(provider.name, partial(_ask_once, ledger=ledger, provider=provider, query=query))
            for provider in providers
        )
        answers = await run.gather(*branches)
        good = [answer for answer in answers if isinstance(answer, Observation)]
        failures = [answer for answer in answers if isinstance(answer, str)]
        if not good:
            raise ToolError("; ".join(failures) or "there is nothing to search")
        for reason in failures:
            run.warn(_("a search provider was left out: {why}").format(why=reason))
        excerpts = common.fit_passages(fuse([answer.shown for answer in good])[: query.limit], common.result_chars(run))
        return Observation(summary=_summary(query.text, excerpts), shown=excerpts, note="" if excerpts else NOTHING)


def build_query(run: Run, words: str, limit: int = DEFAULT_LIMIT) -> Query:
    """The query for a provider with these words.

    Raises:
        ToolError: there are none.
    """
    text = " ".join(words.split())
    if not text:
        raise ToolError("the query is empty")
    scope = run.brief.scope
    # A requested language is the report's; sources may well be in another.
    language = "" if run.brief.language_asked else run.brief.language.partition("-")[0]
    limit = max(1, min(MAX_LIMIT, limit))
    return Query(text=text, limit=limit, collections=scope.collections, language=language, rules=scope.rules)


def normalize_query(query: str) -> str:
    """A query in the form for comparison: case and order do not matter, unless words are in quotation marks."""
    words = query.casefold().split()
    return " ".join(words if '"' in query else sorted(words))


async def _ask_once(run: Run, *, ledger: Ledger, provider: Search, query: Query) -> Observation | str:
    """One provider's answer, or why there is none.

    A provider is asked for one of two numbers of documents, so that the same words with a slightly different number are
    the same search, paid for once.
    """
    wide_query = _widen(query)
    key = common.call_key(
        f"search:{provider.name}", msgspec.structs.replace(wide_query, text=normalize_query(query.text))
    )

    async def search(step_context: StepContext) -> Observation:
        excluded: list[Excluded] = []

        async def work() -> Observation:
            answer = await _answer_sent_ahead(run, provider, wide_query) or await _ask_provider(provider, wide_query)
            step_context.spend(answer.usage)
            observation = _observation(wide_query, answer.hits, excluded)
            texts = run.world.texts or DocumentReader(run.world.blobs)
            date = partial(_with_dates, observation.shown, texts)
            are_read = any(excerpt.document.media_type in MESSAGE_TYPES for excerpt in observation.shown)
            return msgspec.structs.replace(observation, shown=await asyncio.to_thread(date) if are_read else date())

        try:
            observation, was_cached = await common.once(run, ledger, key, work)
        except SearchError as failed:
            step_context.emit(SearchFailed(query=query.text, provider=provider.name, reason=failed.reason))
            raise
        if not was_cached:
            step_context.spend(Usage(searches=1))
            step_context.record(common.answer_row(run, key, step_context))
        documents = [excerpt.document for excerpt in observation.shown[: query.limit]]
        step_context.emit(
            SearchPerformed(
                query=query.text,
                provider=provider.name,
                results=len(documents),
                shared=was_cached,
                found=tuple(document.url for document in documents),
                excluded=tuple(excluded),
                documents=tuple("" if document.media_type == SNIPPET else document.sha256 for document in documents),
            )
        )
        common.read_pages_ahead(run, ledger, observation.shown[: query.limit], step_context.emit)
        return observation

    try:
        answer = await run.step("search", search, returns=Observation, input=query, cost=Usage(searches=1))
    except SearchError as failed:
        return failed.reason if failed.reason.startswith(provider.name) else f"{provider.name}: {failed.reason}"
    common.store_result(ledger, key, answer)
    return answer


class SearchAnswer(msgspec.Struct, frozen=True):
    """A provider's answer, and its cost beyond the search."""

    hits: list[Hit]
    usage: Usage = Usage()


def _widen(query: Query) -> Query:
    return msgspec.structs.replace(query, limit=DEFAULT_LIMIT if query.limit <= DEFAULT_LIMIT else MAX_LIMIT)


async def _ask_provider(provider: Search, query: Query) -> SearchAnswer:
    if isinstance(provider, MeteredSearch):
        return SearchAnswer(*await provider.search_with_usage(query))
    return SearchAnswer(await provider.search(query))


async def _answer_sent_ahead(run: Run, provider: Search, query: Query) -> SearchAnswer | None:
    """The answer to exactly this query if it was sent ahead. A failure does not count: it may be over."""
    with suppress(SearchError):
        answer: SearchAnswer | None = await run.result_ahead(_key_ahead(provider, query))
        return answer
    return None


def search_ahead(run: Run, provider: Search, query: Query, step_context: StepContext) -> bool:
    """Send a query to a provider ahead, and begin to read what it finds; return whether it was sent.

    Call it inside a step that logs it. Only providers that find web pages allow this.
    """
    speculation, wide_query = run.brief.speculation, _widen(query)
    manner = provider.ahead if isinstance(provider, AskedAhead) else "never"
    if not isinstance(speculation, Speculation) or manner == "never" or (manner == "paid" and not speculation.paid):
        return False

    async def search() -> SearchAnswer:
        answer = await _ask_provider(provider, wide_query)
        excerpts = _observation(wide_query, answer.hits, []).shown
        common.read_pages_ahead(
            run, None, excerpts, partial(step_context.write_beside, once=f"{provider.name} {wide_query.text}")
        )
        return answer

    is_begun = run.begin_ahead(_key_ahead(provider, wide_query), search, "searches")
    if is_begun:
        step_context.emit(SearchExpected(query=wide_query.text, provider=provider.name))
    return is_begun


def _key_ahead(provider: Search, query: Query) -> str:
    return common.call_key(f"ahead:{provider.name}", query)


def _observation(query: Query, hits: list[Hit], excluded: list[Excluded]) -> Observation:
    """The hits as shown. Web pages that the run leaves out go to `excluded`, since not all providers can filter
    them.
    """
    included = []
    for hit in hits:
        document = hit.document
        why = query.rules.refusal_reason(document.url, document.published) if document.media_type == SNIPPET else ""
        if why:
            excluded.append(Excluded(document.url, why))
        else:
            included.append(hit)
    excerpts = tuple(
        DocumentPassages(document=hit.document, spans=hit.spans[:PASSAGES_A_HIT]) for hit in included if hit.spans
    )
    return Observation(summary=_summary(query.text, excerpts), shown=excerpts)


def _with_dates(excerpts: Sequence[DocumentPassages], texts: DocumentTexts) -> tuple[DocumentPassages, ...]:
    """What is shown of each document; of a message also its date, behind its best passage: a later one may say
    otherwise.
    """
    dated = list[DocumentPassages]()
    for excerpt in excerpts:
        date: tuple[PassageSpan, ...] = ()
        if excerpt.document.media_type in MESSAGE_TYPES:
            with suppress(StoreError):  # a damaged document is reported when it is opened
                header = takewhile(lambda span: span.kind == "field", texts.spans(excerpt.document))
                date = tuple(span for span in header if span.text.startswith("Date:"))
        spans = tuple(dict.fromkeys((*excerpt.spans[:1], *date, *excerpt.spans[1:])))
        dated.append(DocumentPassages(document=excerpt.document, spans=spans))
    return tuple(dated)


def _summary(query: str, excerpts: tuple[DocumentPassages, ...]) -> str:
    count_text = f"{len(excerpts)} document{'s' if len(excerpts) != 1 else ''}"
    best = f", best: {excerpts[0].document.title or excerpts[0].document.name}" if excerpts else ""
    return f"{count_text} for “{query}”{best}"
