"""Whether works were retracted or corrected since: asked by their DOIs before the report is written, for those it may
rest on, and of what it cites beside those at its end. The writer sees what there is, and so does the reader.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

import msgspec

from assay.agents.task import Finding
from assay.core.claims import Claim
from assay.core.clean import one_line
from assay.core.endings import in_words
from assay.core.errors import LimitReached, SearchError
from assay.core.events import SourceNoted
from assay.core.kinds import notice_line
from assay.core.ports import Notices
from assay.core.quality import find_doi
from assay.core.sources import Notice, Source
from assay.core.translation import N_, enumerated, number, quoted
from assay.core.translation import gettext as _
from assay.evidence.ledger import Ledger
from assay.run.run import Run
from assay.run.steps import StepContext

MOST = 25
"""Works asked about at a time."""
BEFORE, AFTER = 10.0, 30.0
"""Seconds all questions together may take, before writing and at the end."""
NAMED = 3
WITHDRAWN = N_("A cited work was withdrawn: {title} ({notice}).")
NOTICED = N_("A cited work has a notice: {title} ({notice}).")


class Noticed(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of works, by DOI; `failed` says why not of all, "" where it is of all."""

    notices: dict[str, tuple[Notice, ...]] = {}
    failed: str = ""


async def forewarn(run: Run, ledger: Ledger, findings: Sequence[Finding]) -> None:
    """Ask about the works among the sources, those the findings cite first: the writer is shown what there is.

    What cannot be asked now is asked again at the end, of what the report cites.
    """
    passages, sources = ledger.everything()
    cited = [passage.source for finding in findings for passage in finding.passages]
    others = [passage.source for passage in passages.values()]
    works = _works([sources[id] for id in dict.fromkeys((*cited, *others)) if id in sources])
    await _ask(run, ledger, works, BEFORE)


async def notice(run: Run, ledger: Ledger, cited: Sequence[Source]) -> tuple[str, ...]:
    """Ask about the works among `cited` nobody has asked about; the sentences which the report's limits need."""
    works = _works(cited)
    if not works or _desk(run) is None:
        return ()
    noticed = await _ask(run, ledger, works, AFTER)
    titles = {works[source.id]: one_line(source.title) or source.url for source in cited if source.id in works}
    known = {doi: found for doi in titles if (found := ledger.noticed(doi)) is not None}
    return _told(known, titles, noticed.failed)


def rests_on_withdrawn(claims: Sequence[Claim], ledger: Ledger) -> tuple[str, ...]:
    """The sentence which says what of the report rests on withdrawn works and on nothing else, where anything does."""
    alone = [claim for claim in claims if claim.passages and all(_is_withdrawn(id, ledger) for id in claim.passages)]
    if not alone:
        return ()
    some = enumerated((quoted(one_line(claim.text)) for claim in alone), NAMED)
    return (_("These statements rest on withdrawn works and on nothing else: {statements}.").format(statements=some),)


def _is_withdrawn(passage: str, ledger: Ledger) -> bool:
    source = ledger.source(passage.partition(".")[0])
    return source is not None and any(each.withdraws for each in source.notices)


def _works(sources: Sequence[Source]) -> dict[str, str]:
    """DOIs by the ids of the sources which have one."""
    return {source.id: doi for source in sources if (doi := find_doi(source.metadata, source.url))}


def _desk(run: Run) -> Notices | None:
    """Who is asked: nobody where the web is not in scope, or where documents of a private collection are, unless that
    is allowed. Who asks about a DOI says what is being read.
    """
    scope = run.brief.scope
    return run.world.notices if scope.web and (not scope.private or run.brief.allow_private) else None


async def _ask(run: Run, ledger: Ledger, works: Mapping[str, str], seconds: float) -> Noticed:
    """Ask about what is not known yet, and tell what there is of these sources; a limit is a reason not to know."""
    desk = _desk(run)
    dois = tuple(dict.fromkeys(doi for doi in works.values() if ledger.noticed(doi) is None))[:MOST]
    if desk is None or not dois:
        return Noticed()

    async def ask(step_context: StepContext) -> Noticed:
        noticed = await _asked(desk, dois, seconds)
        for id, doi in works.items():
            if noticed.notices.get(doi):
                step_context.emit(SourceNoted(source=id, notices=noticed.notices[doi]))
        return noticed

    try:
        noticed = await run.at("write").step("notices", ask, returns=Noticed, input=dict(works))
    except LimitReached as limit:
        return Noticed(failed=in_words(limit.reason))
    for doi, found in noticed.notices.items():
        ledger.note(doi, found, [id for id, each in works.items() if each == doi])
    return noticed


async def _asked(desk: Notices, dois: Sequence[str], seconds: float) -> Noticed:
    """Work after work; with the first that cannot be asked about it ends, and so it does when it takes too long."""
    found: dict[str, tuple[Notice, ...]] = {}
    failed = ""
    try:
        async with asyncio.timeout(seconds):
            for doi in dois:
                found[doi] = await desk.of(doi)
    except (SearchError, TimeoutError) as error:
        failed = str(error) or _("no answer in {seconds} s").format(seconds=f"{seconds:g}")
    return Noticed(notices=found, failed=failed)


def _told(known: Mapping[str, tuple[Notice, ...]], titles: Mapping[str, str], failed: str) -> tuple[str, ...]:
    said = []
    for doi, notices in known.items():
        for each in notices:
            of = f" (doi.org/{each.doi})" if each.doi and each.doi.lower() != doi else ""
            told = _(WITHDRAWN if each.withdraws else NOTICED)
            said.append(told.format(notice=notice_line(each), title=quoted(titles[doi]) + of))
    unknown = len(titles) - len(known)
    if unknown:
        why = failed or _("no more than {count} are asked about").format(count=number(MOST))
        unsure = _("Whether all cited works still stand is not known: of {count} it could not be asked ({why}).")
        said.append(unsure.format(count=number(unknown), why=why))
    else:
        asked = _("Crossref was asked whether the cited works with a DOI ({count}) were retracted or corrected.")
        said.append(asked.format(count=number(len(titles))))
    return tuple(said)
