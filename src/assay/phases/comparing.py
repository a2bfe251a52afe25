"""Before a report is verified its sources are compared: which copy one another, and where they disagree.

Where sources disagree is told in the text, before what could not be found. A text with a form of its own (a template,
or one composed of records) stays as it is, and the report's limits tell it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence

import msgspec

from assay.agents.citing import cite
from assay.agents.task import Kit
from assay.core.claims import Conflict
from assay.core.clean import one_line
from assay.core.errors import Failed
from assay.core.events import ConflictFound, CopiesFound, ReportRevised
from assay.core.plan import Coverage
from assay.core.ports import Library
from assay.core.sources import SNIPPET, Passage, Source
from assay.evidence.documents import Reader
from assay.evidence.identity import pages
from assay.phases.draft import Draft
from assay.phases.form import redated, with_section
from assay.phases.inquiry import Inquiry
from assay.phases.write import date_of
from assay.run.run import Run
from assay.run.steps import Scratch
from assay.verify.conflicts.finding import conflicts
from assay.verify.conflicts.telling import section, summary
from assay.verify.copies import LONGEST, clusters, copies
from assay.verify.holdings import text_of
from assay.verify.streaming.carrying import spans

REVISED = "where sources disagree was put in by code"
MOST_NAMED = 4
NAME_LENGTH = 60


class Compared(msgspec.Struct, frozen=True, kw_only=True):
    """Groups of documents, by hash, which copy one another, and where sources disagree."""

    copies: tuple[tuple[str, ...], ...] = ()
    conflicts: tuple[Conflict, ...] = ()


async def compare(
    run: Run, kit: Kit, reader: Reader, inquiry: Inquiry, draft: Draft, coverage: Sequence[Coverage]
) -> Draft:
    """The draft with what its sources say against each other.

    Args:
        run: where it is done: reading and comparing are one step of it.
        kit: whose ledger has the passages.
        reader: reads stored documents.
        inquiry: has the day of the research: what is put in may cite a source newer than all before.
        draft: the report as written.
        coverage: names the passages which findings cite.
    """
    cited = cite(draft.text, kit.ledger)
    found = (id for part in coverage for id in part.passages)
    named = tuple(dict.fromkeys((*(passage.id for passage in cited.passages), *found)))
    passages, sources = kit.ledger.everything()
    compared = await _compared(run, reader, passages, sources, named) if named else Compared()
    if compared.copies:
        run.emit(CopiesFound(groups=compared.copies))
    for each in compared.conflicts:
        run.emit(_told(each, passages))
    limits = copied(compared.copies, [passage.document_sha256 for passage in cited.passages], sources)
    draft = msgspec.structs.replace(draft, limits=(*draft.limits, *limits))
    return _with(run, draft, compared, passages, sources, lambda text: redated(text, date_of(text, kit, inquiry)))


async def _compared(
    run: Run, reader: Reader, passages: Mapping[str, Passage], sources: Mapping[str, Source], cited: Sequence[str]
) -> Compared:
    def work() -> Compared:
        read = {source.document_sha256: source.media_type != SNIPPET for source in sources.values()}
        shown = dict.fromkeys(passage.document_sha256 for passage in passages.values())
        texts = _texts(run.world.library, reader, sorted(sha256 for sha256 in shown if read.get(sha256)))
        groups = clusters(texts, pages(sources.values()))
        return Compared(copies=copies(groups), conflicts=conflicts(passages, sources, cited, groups))

    async def step(_: Scratch) -> Compared:
        return await asyncio.to_thread(work)

    try:
        return await run.step("compare", step, returns=Compared, input=list(cited))
    except Failed as failed:
        run.warn(f"the sources were not compared with each other: {failed.reason}")
        return Compared()


def _texts(library: Library, reader: Reader, documents: Sequence[str]) -> dict[str, str]:
    """The beginnings of documents, as much as is compared, by their hash."""
    stored = text_of(library, reader)
    return {sha256: stored(sha256)[: 4 * LONGEST].decode(errors="ignore") for sha256 in documents}


def _told(conflict: Conflict, passages: Mapping[str, Passage]) -> ConflictFound:
    return ConflictFound(
        text=conflict.text,
        subject=conflict.subject,
        measure=conflict.measure,
        sides=conflict.sides,
        passages=tuple(passages[id] for id in conflict.passages),
    )


def _with(
    run: Run,
    draft: Draft,
    compared: Compared,
    passages: Mapping[str, Passage],
    sources: Mapping[str, Source],
    retell: Callable[[str], str],
) -> Draft:
    """The draft, and where sources disagree: in its text, or where that has a form of its own among its limits."""
    if not compared.conflicts:
        return draft
    if draft.composed or run.brief.template:
        said = tuple(summary(each, sources) for each in compared.conflicts)
        return msgspec.structs.replace(draft, limits=(*draft.limits, *said))
    added = section(compared.conflicts, passages, sources, draft.text)
    if not added:
        return draft
    text = retell(with_section(draft.text, added))
    run.emit(ReportRevised(text=text, why=REVISED, spans=spans(draft.streamed, text)))
    return msgspec.structs.replace(draft, text=text)


def copied(groups: Sequence[Sequence[str]], cited: Sequence[str], sources: Mapping[str, Source]) -> tuple[str, ...]:
    """What a reader must know of cited documents which copy one another."""
    names = {source.document_sha256: _name(source) for source in reversed(list(sources.values()))}
    told = []
    for group in groups:
        inside = [sha256 for sha256 in group if sha256 in cited]
        if len(inside) > 1:
            named = ", ".join(f"“{names[sha256]}”" for sha256 in inside[:MOST_NAMED])
            more = f" and {len(inside) - MOST_NAMED} more" if len(inside) > MOST_NAMED else ""
            told.append(
                f"{len(inside)} of the documents cited copy one another and count as one source: {named}{more}."
            )
    return tuple(told)


def _name(source: Source) -> str:
    name = one_line(source.title or source.url)
    return name if len(name) <= NAME_LENGTH else name[:NAME_LENGTH].rstrip() + "…"
