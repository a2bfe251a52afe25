"""What a reader must know of how the web was searched: who was asked and did not answer, what was read and what not."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Sequence

from assay.core import counts
from assay.core.method import SearchRow, search_log
from assay.core.search_record import LOCAL
from assay.core.sources import SNIPPET, Source
from assay.core.translation import gettext as _
from assay.core.translation import listed, ngettext, number
from assay.core.urls import BadUrl, canonical
from assay.core.urls import read as read_url
from assay.core.view import RunView, fold
from assay.run.run import Run
from assay.run.steps import StepContext, digest, perform


async def method(run: Run) -> tuple[str, ...]:
    """The method in a sentence, by the run's own log; nothing where the web was not in scope.

    No limit ends this: it asks nobody, and a run whose time is up has to tell it too.
    """
    if not run.brief.scope.web:
        return ()

    async def look(_: StepContext) -> tuple[str, ...]:
        run.execution.check_owner()
        view = fold(await run.execution.journal.events(run.run_id))
        return await asyncio.to_thread(_told, run, view)

    return await perform(run, "method", look, returns=tuple[str, ...], input_hash=digest(None), gated=False)


def _told(run: Run, view: RunView) -> tuple[str, ...]:
    web = {each.name for each in run.world.searches if each.name != LOCAL}
    rows = [row for row in search_log(view) if row.provider in web]
    return (_("{text}.").format(text=_("; ").join((_searched(rows), *_read(run, view)))), *_left_out(rows))


def _searched(rows: Sequence[SearchRow]) -> str:
    answered = _names(row for row in rows if not row.failed)
    failed = {row.provider: row.failed for row in reversed(rows) if row.failed}
    silent = [_failure(name, failed[name]) for name in sorted(failed) if name not in answered]
    missing = [listed(silent)] if silent else []
    if not answered:
        return _("; ").join((_("The web was not searched"), *missing))
    queries, hits = len({row.query for row in rows}), sum(row.hits for row in rows)
    counted = listed((counts.queries(queries), counts.hits(hits)))
    said = _("The web was searched with {providers} ({counts})").format(providers=listed(answered), counts=counted)
    return _("; ").join((said, *missing))


def _failure(name: str, reason: str) -> str:
    said = reason.removeprefix(name).lstrip(": ")
    silent = _("{name} gave no answer").format(name=name)
    return f"{silent} ({said})" if said else silent


def _read(run: Run, view: RunView) -> list[str]:
    """The pages read, the hosts they came from, the pages which could not be read, and who else was asked for one."""
    pages = [each for each in view.sources.values() if each.media_type != SNIPPET and _is_page(run, each)]
    hosts = _hosts(url for page in pages for url in (page.url, *_way(run, page)))
    failed = {canonical(each.url): each for each in view.unreadable if _host(each.url)}
    kinds = Counter(each.reason.partition(":")[0] for each in failed.values())
    also = _hosts([each.url for each in failed.values() if not each.reason.startswith("blocked")] + [*view.expected])
    said = [_("pages were read from {hosts}").format(hosts=listed(hosts)) if hosts else _("no page was read")]
    if kinds:
        why = listed(f"{number(count)} {kind}" for kind, count in sorted(kinds.items()))
        unread = ngettext("{count} page could not be read", "{count} pages could not be read", len(failed))
        said.append(f"{unread.format(count=number(len(failed)))} ({why})")
    others = [host for host in also if host not in hosts]
    return [*said, *([_("also contacted: {hosts}").format(hosts=listed(others))] if others else [])]


def _left_out(rows: Iterable[SearchRow]) -> tuple[str, ...]:
    refused = {left.url for row in rows for left in row.excluded if not left.tried}
    said = ngettext(
        "Of what was found, {count} page was left out by request.",
        "Of what was found, {count} pages were left out by request.",
        len(refused),
    )
    return (said.format(count=number(len(refused))),) if refused else ()


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
