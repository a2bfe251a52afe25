"""How a run searched, as a table: what was asked of whom, and what became of what was found."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from assay.core.bibliography import compile_bibliography
from assay.core.sources import SNIPPET
from assay.core.urls import canonical
from assay.core.view import RunView, SearchMade


class Left(msgspec.Struct, frozen=True):
    """A page which was found and is no evidence, and why; `tried` says that it could not be read.

    The others were left out by the rules of the run.
    """

    url: str
    reason: str
    tried: bool = False


class SearchRow(msgspec.Struct, frozen=True, kw_only=True):
    """One question to one provider, however many agents asked it.

    `hits` counts what was found, `read` how many of these were read (a search's own words on a page do not count),
    `cited` how many the report cites. `excluded` were left out by the run's rules, or could not be read. `failed` is
    why there was no answer, "" where there was one. `asked` counts how often it was asked, the ledger's answers too.
    """

    query: str
    provider: str
    hits: int
    read: int
    cited: int
    excluded: tuple[Left, ...] = ()
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
    """The searches of a run, each question to each provider once, in the order in which they were first asked."""
    made: dict[tuple[str, str], list[SearchMade]] = {}
    for each in searches(view):
        made.setdefault((each.provider, each.query), []).append(each)
    told = _Told(view)
    return tuple(told.row(group) for group in made.values())


class _Told:
    """What a run says of addresses."""

    def __init__(self, view: RunView) -> None:
        claimed = (id for claim in view.claims for id in claim.passages)
        books = compile_bibliography(view.report.text, view.sources, view.passages, claimed)
        self._read = {canonical(each.url) for each in view.sources.values() if each.media_type != SNIPPET}
        self._cited = {canonical(each.source.url) for each in books.entries if each.number is not None}
        self._failed = {canonical(each.url): each.reason for each in view.unreadable}

    def row(self, made: list[SearchMade]) -> SearchRow:
        best = max(made, key=lambda each: (not each.failed, each.results))
        found = list(dict.fromkeys(map(canonical, best.found)))
        refused = {each.url: each.reason for search in made for each in search.excluded}
        unread = {url: self._failed[url] for url in found if url in self._failed and url not in self._read}
        return SearchRow(
            query=best.query,
            provider=best.provider,
            hits=len(found) + len(refused),
            read=sum(url in self._read for url in found),
            cited=sum(url in self._cited for url in found),
            excluded=(
                *(Left(url, why) for url, why in refused.items()),
                *(Left(url, why, tried=True) for url, why in unread.items()),
            ),
            failed=best.failed,
            asked=len(made),
        )
