"""Where and how a run has searched, and what it may therefore say about finding nothing."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from assay.core.bibliography import compile_bibliography
from assay.core.sources import SNIPPET
from assay.core.view import RunView, SearchMade
from assay.core.web_addresses import canonical_url

# The searches of a run as a table: queries, providers, and what became of the results.


class ExcludedPage(msgspec.Struct, frozen=True):
    """A page that was found and is not evidence, and why; `tried` says that it could not be read.

    The others were left out by the rules of the run.
    """

    url: str
    reason: str
    tried: bool = False


class SearchRow(msgspec.Struct, frozen=True, kw_only=True):
    """One query to one provider, however many agents asked it.

    `hits` counts the results, `read` how many of these were read (snippets do not count), `cited` how many the report
    cites. `excluded` were left out by the run's rules, or could not be read. `failed` is why there was no answer, "" if
    there was one. `asked` counts how often it was asked, including answers from the ledger.
    """

    query: str
    provider: str
    hits: int
    read: int
    cited: int
    excluded: tuple[ExcludedPage, ...] = ()
    failed: str = ""
    asked: int = 1


def searches(view: RunView) -> Iterator[SearchMade]:
    """Every search of a run, phases first, then agents."""
    for phase in view.phases:
        for turn in phase.turns:
            yield from turn.searches
    for lane in view.lanes:
        for turn in lane.turns:
            yield from turn.searches


def search_log(view: RunView) -> tuple[SearchRow, ...]:
    """The searches of a run, each query to each provider once, in the order they were first asked."""
    groups: dict[tuple[str, str], list[SearchMade]] = {}
    for search in searches(view):
        groups.setdefault((search.provider, search.query), []).append(search)
    facts = _AddressFacts(view)
    return tuple(facts.row(group) for group in groups.values())


class _AddressFacts:
    """The addresses in a run's log."""

    def __init__(self, view: RunView) -> None:
        claimed_ids = (id for claim in view.claims for id in claim.passages)
        books = compile_bibliography(view.report.text, view.sources, view.passages, claimed_ids)
        self._read_urls = {
            canonical_url(source.url) for source in view.sources.values() if source.media_type != SNIPPET
        }
        self._cited_urls = {canonical_url(entry.source.url) for entry in books.entries if entry.number is not None}
        self._failure_reasons = {canonical_url(page.url): page.reason for page in view.unreadable}

    def row(self, group: list[SearchMade]) -> SearchRow:
        best = max(group, key=lambda search: (not search.failed, search.results))
        urls = list(dict.fromkeys(map(canonical_url, best.found)))
        refusals = {page.url: page.reason for search in group for page in search.excluded}
        unread_reasons = {
            url: self._failure_reasons[url]
            for url in urls
            if url in self._failure_reasons and url not in self._read_urls
        }
        return SearchRow(
            query=best.query,
            provider=best.provider,
            hits=len(urls) + len(refusals),
            read=sum(url in self._read_urls for url in urls),
            cited=sum(url in self._cited_urls for url in urls),
            excluded=(
                *(ExcludedPage(url, why) for url, why in refusals.items()),
                *(ExcludedPage(url, why, tried=True) for url, why in unread_reasons.items()),
            ),
            failed=best.failed,
            asked=len(group),
        )


LOCAL_PROVIDER = "local"
"""The name of the search over the documents in scope."""


class Silent(msgspec.Struct, frozen=True, kw_only=True):
    """A search provider that never answered, and the last reason."""

    provider: str
    reason: str


class SearchSummary(msgspec.Struct, frozen=True, kw_only=True):
    """The searches and sources of a run.

    `documents` counts those in scope, -1 if the log does not say it. `providers` answered at least once and had
    something to search; `queries` counts those sent to them, `hits` the documents and pages they found. `silent` are
    those that never answered. `read` counts the documents and pages of which the run was shown text, `unreadable` those
    it could not read. `agents` counts those that were sent; `ended` are the limits and errors that ended some of them.
    """

    documents: int = -1
    providers: tuple[str, ...] = ()
    queries: int = 0
    hits: int = 0
    silent: tuple[Silent, ...] = ()
    read: int = 0
    unreadable: int = 0
    agents: int = 0
    ended: tuple[str, ...] = ()

    @property
    def has_searched(self) -> bool:
        """True if the run has searched: a search with something to search was answered, or something was read."""
        return bool(self.providers or self.read)


def summarize_searches(view: RunView) -> SearchSummary:
    """The searches and sources of a run, by its log so far. A search over no documents does not count."""
    all_searches = [search for search in searches(view) if search.provider != LOCAL_PROVIDER or view.documents]
    answered_searches = [search for search in all_searches if not search.failed]
    providers = tuple(dict.fromkeys(search.provider for search in answered_searches))
    reasons = {
        search.provider: search.failed for search in all_searches if search.failed and search.provider not in providers
    }
    return SearchSummary(
        documents=view.documents,
        providers=providers,
        queries=len({search.query for search in answered_searches}),
        hits=len({url for search in answered_searches for url in search.found}),
        silent=tuple(Silent(provider=name, reason=reason) for name, reason in reasons.items()),
        read=len({source.document_sha256 for source in view.sources.values() if source.media_type != SNIPPET}),
        unreadable=len({page.url for page in view.unreadable}),
        agents=len(view.lanes),
        ended=tuple(dict.fromkeys(why for lane in view.lanes if (why := lane.error or lane.stop) not in ("", "done"))),
    )
