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

from assay.agents.findings import resolve_citations
from assay.core.claims import Conflict
from assay.core.clean import one_line
from assay.core.errors import Failed, SearchError, StoreError
from assay.core.events import ConflictFound, CopiesFound, ReportRevised
from assay.core.messages import passage_text
from assay.core.phrases import stop_reason_phrase
from assay.core.ports import Library
from assay.core.relevance.topic_question import keys, near_keys, read_question
from assay.core.report_sentences import claims
from assay.core.sources import FINAL_URL, SNIPPET, Document, Source
from assay.core.translation import format_number, join_some, quote_text
from assay.core.translation import gettext as _
from assay.core.usage import Usage
from assay.core.web_addresses import BadUrl, canonical_url, is_below, parse_url
from assay.evidence.documents import DocumentReader
from assay.phases.case import Case, Draft
from assay.phases.form import add_section
from assay.phases.write import update_date
from assay.run.run import Run
from assay.run.sent_request import compare_texts
from assay.run.steps import StepContext
from assay.verify.conflicts.detection import conflict_summary, conflicts_section, find_conflicts
from assay.verify.copies import (
    ELSEWHERE,
    MAX_COMPARED_CHARS,
    MAX_COMPARED_DOCUMENTS,
    DocumentGroups,
    Part,
    comparable_parts,
    copy_groups,
    find_rewrites,
    group_by_copying,
    merge_groups,
)
from assay.verify.evidence_index import text_reader
from assay.verify.proofreader import streamed_spans

# What a page says about its address (`<link rel="canonical">`) counts only within its own site, since any page may name
# any other. Only addresses are compared here: whoever joins documents by them must check that they say the same, since
# many sites name their front page, or the first of several parts, on all of their pages.

CANONICAL = "canonical"
"""The metadata key of a source for the address that the page itself gives."""
DEVICE_LABELS = frozenset(("www", "amp", "m", "mobile", "touch", "print"))
"""First labels of hosts that are versions of a site rather than other sites."""


def is_same_site(url: str, other_url: str) -> bool:
    """True if two addresses are of one site: equal hosts except `www.`, `amp.` and the like, or one below the other.

    That is narrower than a registrable domain and needs no list of these: `a.github.io` is not `b.github.io`.
    """
    try:
        first, second = _bare_host(parse_url(url).host), _bare_host(parse_url(other_url).host)
    except BadUrl:
        return False
    return is_below(first, second) or is_below(second, first)


def group_pages(sources: Iterable[Source]) -> tuple[tuple[str, ...], ...]:
    """The groups of two or more documents, by hash, that are one page by their addresses; sorted."""
    read_ones = [source for source in sources if source.url and source.media_type != SNIPPET]
    groups = DocumentGroups()
    groups.join([source.document_sha256, *_addresses(source)] for source in read_ones)
    numbers = groups.group_numbers()
    documents_by_group: defaultdict[int, set[str]] = defaultdict(set)
    for source in read_ones:
        documents_by_group[numbers[source.document_sha256]].add(source.document_sha256)
    return tuple(sorted(tuple(sorted(group)) for group in documents_by_group.values() if len(group) > 1))


def _addresses(source: Source) -> set[str]:
    """All addresses of a page in the form for comparison, which ignores TLS."""
    final_url = source.metadata.get(FINAL_URL, source.url)
    stated_url = source.metadata.get(CANONICAL, "")
    canonical_urls = (stated_url,) if stated_url and is_same_site(stated_url, final_url) else ()
    return {
        canonical_url(address).partition("://")[2] or address for address in (source.url, final_url, *canonical_urls)
    }


def _bare_host(host: str) -> str:
    """The host without a label for a version of the site; the rest has a dot."""
    host = host.lower()
    first, _, rest = host.partition(".")
    return rest if first in DEVICE_LABELS and "." in rest else host


# Documents rewritten from others count as one source; they are found by meaning, if an embedder is set.

log = logging.getLogger(__name__)


def read_parts(run: Run, reader: DocumentReader, documents: Sequence[str]) -> list[Part]:
    """The passages of documents (hashes) in the form for comparison; empty if no embedder is set. Blocking."""
    if run.world.similarity is None:
        return []
    parts: list[Part] = []
    for document in run.world.library.documents_by_hash(documents[:MAX_COMPARED_DOCUMENTS]):
        parts += _document_parts(reader, document)
    return parts


def max_comparison_cost(run: Run, parts: Sequence[Part]) -> Usage:
    """The most that comparing them may cost."""
    similarity = run.world.similarity
    return (
        similarity.max_usage([*(part.embedded_text for part in parts), *ELSEWHERE])
        if similarity is not None and parts
        else Usage()
    )


async def add_rewrites(run: Run, parts: Sequence[Part], groups: Mapping[str, int]) -> tuple[dict[str, int], Usage]:
    """The groups of documents that copy one another, with rewritten ones added, and the cost."""
    if len({part.document for part in parts}) < 2:
        return dict(groups), Usage()
    texts = [part.embedded_text for part in parts]
    try:
        comparison = await compare_texts(run, texts, [*texts, *ELSEWHERE])
    except SearchError as failed:
        log.warning("sources are compared by words alone: %s", failed)
        return dict(groups), Usage()
    return merge_groups(groups, find_rewrites(parts, comparison.rows)), comparison.usage


def _document_parts(reader: DocumentReader, document: Document) -> list[Part]:
    try:
        spans = reader.spans(document)
    except StoreError:
        return []  # the final gate reports it if it is cited
    return comparable_parts(
        document.sha256,
        [
            (passage_text(span.heading[-1] if span.heading else document.title, span.label, span.text), span.text)
            for span in spans
            if span.kind != "heading"
        ],
    )


REVISION_REASON = "where sources disagree was put in by code"
MAX_NAMED_DOCUMENTS = 4
NAME_LENGTH = 60


class SourceComparison(msgspec.Struct, frozen=True, kw_only=True):
    """Groups of documents (hashes) that copy one another, and disagreements between sources."""

    step_tag: ClassVar[str] = "compared"

    copies: tuple[tuple[str, ...], ...] = ()
    conflicts: tuple[Conflict, ...] = ()


async def compare_sources(run: Run, case: Case, draft: Draft) -> Draft:
    """Add to the draft where its sources disagree.

    Args:
        run: the place of the step that reads and compares.
        case: has the ledger, and the date of the research, since an added citation may be newer than all others.
        draft: the report as written; its coverage names the passages that findings cite.
    """
    citations = resolve_citations(draft.text, case.ledger)
    finding_ids = (id for part in draft.coverage for id in part.passages)
    passage_ids = tuple(dict.fromkeys((*(passage.id for passage in citations.passages), *finding_ids)))
    comparison = await _compare_documents(run, case, passage_ids) if passage_ids else SourceComparison()
    passages, sources = case.ledger.passages_and_sources()
    if comparison.copies:
        run.emit(CopiesFound(groups=comparison.copies))
    conflicts = comparison.conflicts if draft.found else ()  # no answer: they are about something else
    for conflict in conflicts:
        cites = tuple(passages[id] for id in conflict.passages)
        run.emit(
            ConflictFound(
                text=conflict.text,
                subject=conflict.subject,
                measure=conflict.measure,
                sides=conflict.sides,
                passages=cites,
            )
        )
    limits = copy_notes(comparison.copies, [passage.document_sha256 for passage in citations.passages], sources)
    draft = msgspec.structs.replace(draft, limits=(*draft.limits, *limits))
    return _add_disagreements(run, case, draft, conflicts)


async def _compare_documents(run: Run, case: Case, passage_ids: Sequence[str]) -> SourceComparison:
    reader, (passages, sources) = case.reader, case.ledger.passages_and_sources()
    has_full_text = {source.document_sha256: source.media_type != SNIPPET for source in sources.values()}
    shown_documents = dict.fromkeys(passage.document_sha256 for passage in passages.values())
    documents = sorted(sha256 for sha256 in shown_documents if has_full_text.get(sha256))

    def work() -> tuple[dict[str, int], tuple[Conflict, ...]]:
        groups = group_by_copying(_texts(run.world.library, reader, documents), group_pages(sources.values()))
        return groups, find_conflicts(passages, sources, passage_ids, groups)

    async def step(step_context: StepContext) -> SourceComparison:
        groups, conflicts = await asyncio.to_thread(work)
        merged_groups, usage = await add_rewrites(run, parts, groups)
        step_context.spend(usage)
        return SourceComparison(copies=copy_groups(merged_groups), conflicts=conflicts)

    try:
        parts = await asyncio.to_thread(read_parts, run, reader, documents)
        cost = max_comparison_cost(run, parts)
        return await run.step("compare", step, returns=SourceComparison, input=list(passage_ids), cost=cost)
    except Failed as failed:
        run.warn(
            _("the sources were not compared with each other: {why}").format(why=stop_reason_phrase(failed.reason))
        )
        return SourceComparison()


def _texts(library: Library, reader: DocumentReader, documents: Sequence[str]) -> dict[str, str]:
    """The beginnings of documents, as far as they are compared, by hash."""
    read_text = text_reader(library, reader, documents)
    return {sha256: read_text(sha256)[: 4 * MAX_COMPARED_CHARS].decode(errors="ignore") for sha256 in documents}


def _add_disagreements(run: Run, case: Case, draft: Draft, conflicts: Sequence[Conflict]) -> Draft:
    """The draft with disagreements about what is asked: in its text, or if that has a fixed form, among its limits."""
    if conflicts:
        conflicts = relevant_conflicts(conflicts, run.brief.question, [item.text for item in claims(draft.text)])
    if not conflicts:
        return draft
    passages, sources = case.ledger.passages_and_sources()
    if draft.composed or run.brief.template:
        texts = tuple(conflict_summary(item, sources) for item in conflicts)
        return msgspec.structs.replace(draft, limits=(*draft.limits, *texts))
    section = conflicts_section(conflicts, passages, sources, draft.text)
    if not section:
        return draft
    text = update_date(add_section(draft.text, section), case)
    run.emit(ReportRevised(text=text, why=REVISION_REASON, spans=streamed_spans(draft.streamed, text)))
    return msgspec.structs.replace(draft, text=text)


def relevant_conflicts(conflicts: Sequence[Conflict], question: str, statements: Sequence[str]) -> tuple[Conflict, ...]:
    """The disagreements that may be about what the question asks.

    If a statement of the report has all that it asks of what it names ("the activation energy of LZTO-3"), a
    disagreement whose sides share none of these words is about something else.
    """
    parsed_question = read_question(question)
    topic = set(parsed_question.keys) - parsed_question.names
    covers_topic = (topic <= set(keys(item, parsed_question.analysis)) for item in statements)
    if not (
        topic
        and parsed_question.names
        and parsed_question.answer_kind == "other"
        and not parsed_question.measure
        and any(covers_topic)
    ):
        return tuple(conflicts)
    conflict_keys = [set(keys(f"{item.subject} {item.measure}", parsed_question.analysis)) for item in conflicts]
    return tuple(
        item
        for item, key_set in zip(conflicts, conflict_keys, strict=True)
        if not item.measure or not topic.isdisjoint(key_set) or any(near_keys(topic, key_set).values())
    )


def copy_notes(
    groups: Sequence[Sequence[str]], cited_documents: Sequence[str], sources: Mapping[str, Source]
) -> tuple[str, ...]:
    """A note for readers about cited documents that copy one another."""
    names = {source.document_sha256: _source_name(source) for source in reversed(list(sources.values()))}
    texts = []
    for group in groups:
        inside = [sha256 for sha256 in group if sha256 in cited_documents]
        if len(inside) > 1:
            name_list = join_some((quote_text(names[sha256]) for sha256 in inside), MAX_NAMED_DOCUMENTS)
            text = _("{count} of the documents cited copy one another and count as one source: {documents}.")
            texts.append(text.format(count=format_number(len(inside)), documents=name_list))
    return tuple(texts)


def _source_name(source: Source) -> str:
    name = one_line(source.title or source.url)
    return name if len(name) <= NAME_LENGTH else name[:NAME_LENGTH].rstrip() + "…"
