"""Whether works the report cites were retracted or corrected since: asked by their DOIs, and told the reader."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

import msgspec

from assay.core.clean import one_line
from assay.core.errors import SearchFailed
from assay.core.events import SourceNoted
from assay.core.ports import Notices
from assay.core.quality import find_doi
from assay.core.sources import Notice, Source
from assay.run.run import Run
from assay.run.steps import Scratch

MOST = 25
"""Works asked about."""
SECONDS = 30.0
"""What all questions together may take."""


class Noticed(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of works, by DOI; `failed` says why not of all, "" where it is of all."""

    notices: dict[str, tuple[Notice, ...]] = {}
    failed: str = ""


async def notice(run: Run, cited: Sequence[Source]) -> tuple[str, ...]:
    """Ask about the works among `cited` and emit what there is; the sentences which the report's limits need.

    Nothing is asked where the web is not in scope, or where documents of a private collection are, unless that is
    allowed: who asks about a DOI says what is being read.
    """
    scope, desk = run.brief.scope, run.world.notices
    works = {source.id: doi for source in cited if (doi := find_doi(source.metadata, source.url))}
    dois = tuple(dict.fromkeys(works.values()))[:MOST]
    if desk is None or not scope.web or not dois or (scope.private and not run.brief.allow_private):
        return ()

    async def ask(scratch: Scratch) -> Noticed:
        noticed = await _asked(desk, dois)
        for id, doi in works.items():
            if noticed.notices.get(doi):
                scratch.emit(SourceNoted(source=id, notices=noticed.notices[doi]))
        return noticed

    noticed = await run.at("write").step("notices", ask, returns=Noticed, input=works)
    titles = {works[source.id]: one_line(source.title) or source.url for source in cited if source.id in works}
    return _told(noticed, titles, len(dois))


async def _asked(desk: Notices, dois: Sequence[str]) -> Noticed:
    """Work after work; with the first that cannot be asked about it ends, and so it does when it takes too long."""
    found: dict[str, tuple[Notice, ...]] = {}
    failed = ""
    try:
        async with asyncio.timeout(SECONDS):
            for doi in dois:
                found[doi] = await desk.of(doi)
    except (SearchFailed, TimeoutError) as error:
        failed = str(error) or f"no answer in {SECONDS:g} s"
    return Noticed(notices=found, failed=failed)


def _told(noticed: Noticed, titles: Mapping[str, str], works: int) -> tuple[str, ...]:
    said = []
    for doi, notices in noticed.notices.items():
        for each in notices:
            day = f" on {each.date}" if len(each.date) == len("2020-01-01") else f" in {each.date}" if each.date else ""
            of = f" (doi.org/{each.doi})" if each.doi and each.doi.lower() != doi else ""
            verb = "was withdrawn" if each.withdraws else "has a notice"
            said.append(f"A cited work {verb}: {each.kind.replace('_', ' ')}{day} of {titles[doi]!r}{of}.")
    if noticed.failed:
        open_ones = works - len(noticed.notices)
        said.append(f"Whether {open_ones} of the cited works were retracted is not known: {noticed.failed}.")
    else:
        said.append(f"Crossref was asked whether the cited works with a DOI ({works}) were retracted or corrected.")
    return tuple(said)
