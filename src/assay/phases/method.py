"""What a reader must know of how the web was searched: who was asked and did not answer, what was read and what not."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Sequence

from assay.core.looked import LOCAL
from assay.core.method import SearchRow, search_log
from assay.core.sources import SNIPPET, Source
from assay.core.urls import BadUrl, canonical
from assay.core.urls import read as read_url
from assay.core.view import RunView, fold
from assay.run.run import Run
from assay.run.steps import Scratch, digest, perform


async def method(run: Run) -> tuple[str, ...]:
    """The method in a sentence, by the run's own log; nothing where the web was not in scope.

    No limit ends this: it asks nobody, and a run whose time is up has to tell it too.
    """
    if not run.brief.scope.web:
        return ()

    async def look(_: Scratch) -> tuple[str, ...]:
        run.execution.check_owner()
        view = fold(await run.execution.journal.events(run.run_id))
        return await asyncio.to_thread(_told, run, view)

    return await perform(run, "method", look, returns=tuple[str, ...], input_hash=digest(None), gated=False)


def _told(run: Run, view: RunView) -> tuple[str, ...]:
    web = {each.name for each in run.world.searches if each.name != LOCAL}
    rows = [row for row in search_log(view) if row.provider in web]
    return (f"{_searched(rows)}; {_read(run, view)}.", *_left_out(rows))


def _searched(rows: Sequence[SearchRow]) -> str:
    answered = _names(row for row in rows if not row.failed)
    failed = {row.provider: row.failed for row in reversed(rows) if row.failed}
    silent = [_failure(name, failed[name]) for name in sorted(failed) if name not in answered]
    missing = f"; {', '.join(silent)}" if silent else ""
    if not answered:
        return f"The web was not searched{missing}"
    queries, hits = len({row.query for row in rows}), sum(row.hits for row in rows)
    counted = f"{_counted(queries, 'query', 'queries')}, {_counted(hits, 'hit', 'hits')}"
    return f"The web was searched with {', '.join(answered)} ({counted}){missing}"


def _failure(name: str, reason: str) -> str:
    said = reason.removeprefix(name).lstrip(": ")
    return f"{name} gave no answer ({said})" if said else f"{name} gave no answer"


def _read(run: Run, view: RunView) -> str:
    """The pages read, the hosts they came from, the pages which could not be read, and who else was asked for one."""
    pages = [each for each in view.sources.values() if each.media_type != SNIPPET and _is_page(run, each)]
    hosts = _hosts(url for page in pages for url in (page.url, *_way(run, page)))
    failed = {canonical(each.url): each for each in view.unreadable if _host(each.url)}
    kinds = Counter(each.reason.partition(":")[0] for each in failed.values())
    also = _hosts([each.url for each in failed.values() if not each.reason.startswith("blocked")] + [*view.expected])
    said = f"pages were read from {', '.join(hosts)}" if hosts else "no page was read"
    if kinds:
        why = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
        said += f"; {_counted(len(failed), 'page', 'pages')} could not be read ({why})"
    others = [host for host in also if host not in hosts]
    return said + (f"; also contacted: {', '.join(others)}" if others else "")


def _left_out(rows: Iterable[SearchRow]) -> tuple[str, ...]:
    refused = {left.url for row in rows for left in row.excluded if not left.tried}
    said = _counted(len(refused), "page was", "pages were")
    return (f"Of what was found, {said} left out by request.",) if refused else ()


def _is_page(run: Run, source: Source) -> bool:
    """Whether it was read from the web: a document of the scope may have the address of a page as well."""
    found = run.world.library.find(source.url, run.brief.scope.collections)
    return bool(_host(source.url)) and all(each.sha256 != source.document_sha256 for each in found)


def _way(run: Run, source: Source) -> tuple[str, ...]:
    """The addresses a page was come by."""
    snapshot = run.world.library.snapshot(source.snapshot_sha256)
    return (snapshot.url, *snapshot.redirects) if snapshot is not None and snapshot.status else ()


def _hosts(urls: Iterable[str]) -> list[str]:
    return sorted({host for url in urls if (host := _host(url))})


def _host(url: str) -> str:
    """The host of a page; "" for a document which has no such address, whatever it says of itself."""
    try:
        return read_url(url).authority
    except BadUrl:
        return ""


def _names(rows: Iterable[SearchRow]) -> list[str]:
    return list(dict.fromkeys(row.provider for row in rows))


def _counted(count: int, one: str, several: str) -> str:
    return f"{count} {one if count == 1 else several}"
