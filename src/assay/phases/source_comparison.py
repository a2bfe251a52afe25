"""Compares sources before a report is verified: which are one page, which copy one another, and where they disagree.

The text reports disagreements before what could not be found. A text with a fixed form (a template, or one composed of
records) stays as it is, and the report's limits have them.
"""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar

import msgspec

from assay.agents.findings import cite
from assay.core.claims import Conflict
from assay.core.clean import one_line
from assay.core.errors import Failed, SearchError, StoreError
from assay.core.events import ConflictFound, CopiesFound, ReportRevised
from assay.core.messages import passage_text
from assay.core.phrases import in_words
from assay.core.ports import Library
from assay.core.sources import FINAL_URL, SNIPPET, Document, Source
from assay.core.translation import enumerated, number, quoted
from assay.core.translation import gettext as _
from assay.core.usage import Usage
from assay.core.web_addresses import BadUrl, canonical, is_below, read
from assay.evidence.documents import DocumentReader
from assay.phases.case import Case, Draft
from assay.phases.form import with_section
from assay.phases.write import with_new_date
from assay.run.run import Run
from assay.run.sent_request import similar
from assay.run.steps import StepContext
from assay.verify.conflicts.detection import conflicts, section, summary
from assay.verify.copies import (
    ELSEWHERE,
    LONGEST,
    MOST_COMPARED,
    DocumentGroups,
    Part,
    clusters,
    copies,
    joined,
    parts,
    rewrites,
)
from assay.verify.evidence_index import text_of
from assay.verify.proofreader import spans

# What a page says about its address (`<link rel="canonical">`) counts only within its own site, since any page may name
# any other. Only addresses are compared here: whoever joins documents by them must check that they say the same, since
# many sites name their front page, or the first of several parts, on all of their pages.

CANONICAL = "canonical"
"""The metadata key of a source for the address that the page itself gives."""
DEVICES = frozenset(("www", "amp", "m", "mobile", "touch", "print"))
"""First labels of hosts that are versions of a site rather than other sites."""


def same_site(one: str, other: str) -> bool:
    """True if two addresses are of one site: equal hosts except `www.`, `amp.` and the like, or one below the other.

    That is narrower than a registrable domain and needs no list of these: `a.github.io` is not `b.github.io`.
    """
    try:
        first, second = _bare(read(one).host), _bare(read(other).host)
    except BadUrl:
        return False
    return is_below(first, second) or is_below(second, first)


def pages(sources: Iterable[Source]) -> tuple[tuple[str, ...], ...]:
    """The groups of two or more documents, by hash, that are one page by their addresses; sorted."""
    read_ones = [source for source in sources if source.url and source.media_type != SNIPPET]
    groups = DocumentGroups()
    groups.join([source.document_sha256, *_addresses(source)] for source in read_ones)
    numbers = groups.numbered()
    found: defaultdict[int, set[str]] = defaultdict(set)
    for source in read_ones:
        found[numbers[source.document_sha256]].add(source.document_sha256)
    return tuple(sorted(tuple(sorted(group)) for group in found.values() if len(group) > 1))


def _addresses(source: Source) -> set[str]:
    """All addresses of a page in the form for comparison, which ignores TLS."""
    there = source.metadata.get(FINAL_URL, source.url)
    stated = source.metadata.get(CANONICAL, "")
    own = (stated,) if stated and same_site(stated, there) else ()
    return {canonical(address).partition("://")[2] or address for address in (source.url, there, *own)}


def _bare(host: str) -> str:
    """The host without a label for a version of the site; the rest has a dot."""
    host = host.lower()
    first, _, rest = host.partition(".")
    return rest if first in DEVICES and "." in rest else host


# Documents rewritten from others count as one source; they are found by meaning, if an embedder is set.

log = logging.getLogger(__name__)


def read_parts(run: Run, reader: DocumentReader, documents: Sequence[str]) -> list[Part]:
    """The passages of documents (hashes) in the form for comparison; empty if no embedder is set. Blocking."""
    if run.world.similarity is None:
        return []
    found: list[Part] = []
    for document in run.world.library.of_hashes(documents[:MOST_COMPARED]):
        found += _parts(reader, document)
    return found


def most(run: Run, compared: Sequence[Part]) -> Usage:
    """The most that comparing them may cost."""
    similarity = run.world.similarity
    return (
        similarity.most([*(each.read for each in compared), *ELSEWHERE])
        if similarity is not None and compared
        else Usage()
    )


async def rewritten(run: Run, compared: Sequence[Part], groups: Mapping[str, int]) -> tuple[dict[str, int], Usage]:
    """The groups of documents that copy one another, with rewritten ones added, and the cost."""
    if len({each.document for each in compared}) < 2:
        return dict(groups), Usage()
    texts = [each.read for each in compared]
    try:
        found = await similar(run, texts, [*texts, *ELSEWHERE])
    except SearchError as failed:
        log.warning("sources are compared by words alone: %s", failed)
        return dict(groups), Usage()
    return joined(groups, rewrites(compared, found.rows)), found.usage


def _parts(reader: DocumentReader, document: Document) -> list[Part]:
    try:
        spans = reader.spans(document)
    except StoreError:
        return []  # the final gate reports it if it is cited
    return parts(
        document.sha256,
        [
            (passage_text(span.heading[-1] if span.heading else document.title, span.label, span.text), span.text)
            for span in spans
            if span.kind != "heading"
        ],
    )


REVISED = "where sources disagree was put in by code"
MOST_NAMED = 4
NAME_LENGTH = 60


class SourceComparison(msgspec.Struct, frozen=True, kw_only=True):
    """Groups of documents (hashes) that copy one another, and disagreements between sources."""

    step_tag: ClassVar[str] = "compared"

    copies: tuple[tuple[str, ...], ...] = ()
    conflicts: tuple[Conflict, ...] = ()


async def compare(run: Run, case: Case, draft: Draft) -> Draft:
    """Add to the draft where its sources disagree.

    Args:
        run: the place of the step that reads and compares.
        case: has the ledger, and the date of the research, since an added citation may be newer than all others.
        draft: the report as written; its coverage names the passages that findings cite.
    """
    cited = cite(draft.text, case.ledger)
    found = (id for part in draft.coverage for id in part.passages)
    named = tuple(dict.fromkeys((*(passage.id for passage in cited.passages), *found)))
    compared = await _compared(run, case, named) if named else SourceComparison()
    passages, sources = case.ledger.everything()
    if compared.copies:
        run.emit(CopiesFound(groups=compared.copies))
    for each in compared.conflicts:
        cites = tuple(passages[id] for id in each.passages)
        run.emit(
            ConflictFound(text=each.text, subject=each.subject, measure=each.measure, sides=each.sides, passages=cites)
        )
    limits = copied(compared.copies, [passage.document_sha256 for passage in cited.passages], sources)
    draft = msgspec.structs.replace(draft, limits=(*draft.limits, *limits))
    return _with(run, case, draft, compared.conflicts)


async def _compared(run: Run, case: Case, cited: Sequence[str]) -> SourceComparison:
    reader, (passages, sources) = case.reader, case.ledger.everything()
    read = {source.document_sha256: source.media_type != SNIPPET for source in sources.values()}
    shown = dict.fromkeys(passage.document_sha256 for passage in passages.values())
    documents = sorted(sha256 for sha256 in shown if read.get(sha256))

    def work() -> tuple[dict[str, int], tuple[Conflict, ...]]:
        groups = clusters(_texts(run.world.library, reader, documents), pages(sources.values()))
        return groups, conflicts(passages, sources, cited, groups)

    async def step(step_context: StepContext) -> SourceComparison:
        groups, found = await asyncio.to_thread(work)
        again, usage = await rewritten(run, compared, groups)
        step_context.spend(usage)
        return SourceComparison(copies=copies(again), conflicts=found)

    try:
        compared = await asyncio.to_thread(read_parts, run, reader, documents)
        cost = most(run, compared)
        return await run.step("compare", step, returns=SourceComparison, input=list(cited), cost=cost)
    except Failed as failed:
        run.warn(_("the sources were not compared with each other: {why}").format(why=in_words(failed.reason)))
        return SourceComparison()


def _texts(library: Library, reader: DocumentReader, documents: Sequence[str]) -> dict[str, str]:
    """The beginnings of documents, as far as they are compared, by hash."""
    stored = text_of(library, reader, documents)
    return {sha256: stored(sha256)[: 4 * LONGEST].decode(errors="ignore") for sha256 in documents}


def _with(run: Run, case: Case, draft: Draft, found: Sequence[Conflict]) -> Draft:
    """The draft with disagreements: in its text, or if that has a fixed form, among its limits."""
    if not found:
        return draft
    passages, sources = case.ledger.everything()
    if draft.composed or run.brief.template:
        texts = tuple(summary(each, sources) for each in found)
        return msgspec.structs.replace(draft, limits=(*draft.limits, *texts))
    added = section(found, passages, sources, draft.text)
    if not added:
        return draft
    text = with_new_date(with_section(draft.text, added), case)
    run.emit(ReportRevised(text=text, why=REVISED, spans=spans(draft.streamed, text)))
    return msgspec.structs.replace(draft, text=text)


def copied(groups: Sequence[Sequence[str]], cited: Sequence[str], sources: Mapping[str, Source]) -> tuple[str, ...]:
    """A note for readers about cited documents that copy one another."""
    names = {source.document_sha256: _name(source) for source in reversed(list(sources.values()))}
    texts = []
    for group in groups:
        inside = [sha256 for sha256 in group if sha256 in cited]
        if len(inside) > 1:
            named = enumerated((quoted(names[sha256]) for sha256 in inside), MOST_NAMED)
            text = _("{count} of the documents cited copy one another and count as one source: {documents}.")
            texts.append(text.format(count=number(len(inside)), documents=named))
    return tuple(texts)


def _name(source: Source) -> str:
    name = one_line(source.title or source.url)
    return name if len(name) <= NAME_LENGTH else name[:NAME_LENGTH].rstrip() + "…"
