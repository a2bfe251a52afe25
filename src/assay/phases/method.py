"""The notes of a report about the web search, about private documents, and about retracted works."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from assay.agents.findings import Finding
from assay.core import phrases
from assay.core.brief import Brief
from assay.core.claims import Claim
from assay.core.clean import one_line
from assay.core.errors import LimitReached, SearchError
from assay.core.events import Envelope, SearchExpected, SourceNoted, decode
from assay.core.languages import language_name, question_language
from assay.core.phrases import notice_line, stop_reason_phrase
from assay.core.ports import Notices
from assay.core.search_record import LOCAL_PROVIDER, SearchRow, search_log
from assay.core.sources import ACCESS, PAYWALL, SNIPPET, Notice, Source
from assay.core.translation import (
    N_,
    current_phrases,
    format_number,
    join_list,
    join_some,
    ngettext,
    quote_text,
)
from assay.core.translation import gettext as _
from assay.core.view import RunView, fold_events
from assay.core.web_addresses import BadUrl, canonical_url, doi_of, parse_url
from assay.evidence.ledger import Ledger
from assay.phases.case import Case
from assay.run.run import Run
from assay.run.steps import StepContext


async def method_notes(run: Run) -> tuple[str, ...]:
    """The method in a sentence, by the run's own log; empty if the web was not in scope.

    No limit applies: nothing is called, and a run out of time must report it too.
    """
    if not run.brief.scope.web:
        return ()

    async def read_notes(_: StepContext) -> tuple[str, ...]:
        run.check_owner()
        return await asyncio.to_thread(_provider_notes, run, await run.log())

    return await run.free_step("method", read_notes, returns=tuple[str, ...])


def _provider_notes(run: Run, log: Sequence[Envelope]) -> tuple[str, ...]:
    expected = (decode(envelope) for envelope in log if envelope.type == SearchExpected.kind)
    ahead = {event.provider for event in expected if isinstance(event, SearchExpected)}
    view = fold_events(log)
    web = {provider.name for provider in run.world.searches if provider.name != LOCAL_PROVIDER}
    rows = [row for row in search_log(view) if row.provider in web]
    unlisted = sorted(ahead - {row.provider for row in rows})
    return (
        _("{text}.").format(text=_("; ").join((_search_note(rows), *_page_notes(run, view, unlisted)))),
        *_left_out_note(rows),
    )


def _search_note(rows: Sequence[SearchRow]) -> str:
    answered = list(dict.fromkeys(row.provider for row in rows if not row.failed))
    failures = {row.provider: row.failed for row in reversed(rows) if row.failed}
    silent = [_failure(name, failures[name]) for name in sorted(failures) if name not in answered]
    missing = [join_list(silent)] if silent else []
    if not answered:
        return _("; ").join((_("The web was not searched"), *missing))
    queries, hits = len({row.query for row in rows}), sum(row.hits for row in rows)
    counts = join_list((phrases.queries(queries), phrases.hits(hits)))
    text = _("The web was searched with {providers} ({counts})").format(providers=join_list(answered), counts=counts)
    return _("; ").join((text, *missing))


def _failure(name: str, reason: str) -> str:
    text = reason.removeprefix(name).lstrip(": ")
    silent = _("{name} gave no answer").format(name=name)
    return f"{silent} ({text})" if text else silent


def _page_notes(run: Run, view: RunView, unlisted: Iterable[str] = ()) -> list[str]:
    """The pages read, the hosts they came from, the pages that could not be read, and who else was asked."""
    pages = [entry for entry in view.sources.values() if entry.media_type != SNIPPET and _host(entry.url)]
    if run.world.library.count(run.brief.scope.collections):
        pages = [entry for entry in pages if _is_page(run, entry)]
    hosts = _hosts(url for page in pages for url in (page.url, *page_addresses(run, page)))
    failed_pages = {canonical_url(entry.url): entry for entry in view.unreadable if _host(entry.url)}
    kinds = Counter(entry.reason.partition(":")[0] for entry in failed_pages.values())
    also = _hosts(
        [entry.url for entry in failed_pages.values() if not entry.reason.startswith("blocked")] + [*view.expected]
    )
    texts = [_("pages were read from {hosts}").format(hosts=join_list(hosts)) if hosts else _("no page was read")]
    if kinds:
        why = join_list(f"{format_number(count)} {kind}" for kind, count in sorted(kinds.items()))
        unread = ngettext("{count} page could not be read", "{count} pages could not be read", len(failed_pages))
        texts.append(f"{unread.format(count=format_number(len(failed_pages)))} ({why})")
    if partly := _hosts(page.url for page in pages if page.metadata.get(ACCESS) == PAYWALL):
        texts.append(_("pages of {hosts} say that not everybody can read them in full").format(hosts=join_list(partly)))
    other_hosts = [*unlisted, *(host for host in also if host not in hosts)]
    return [*texts, *([_("also contacted: {hosts}").format(hosts=join_list(other_hosts))] if other_hosts else [])]


def _left_out_note(rows: Iterable[SearchRow]) -> tuple[str, ...]:
    refused_urls = {exclusion.url for row in rows for exclusion in row.excluded if not exclusion.tried}
    text = ngettext(
        "Of what was found, {count} page was left out by request.",
        "Of what was found, {count} pages were left out by request.",
        len(refused_urls),
    )
    return (text.format(count=format_number(len(refused_urls))),) if refused_urls else ()


def _is_page(run: Run, source: Source) -> bool:
    """True if a source with a page's address was read from the web: a document in scope may have one too."""
    documents = run.world.library.find(source.url, run.brief.scope.collections)
    return all(document.sha256 != source.document_sha256 for document in documents)


def page_addresses(run: Run, source: Source) -> tuple[str, ...]:
    """The addresses that led to a page."""
    snapshot = run.world.library.snapshot(source.snapshot_sha256)
    return (snapshot.url, *snapshot.redirects) if snapshot is not None and snapshot.status else ()


def _hosts(urls: Iterable[str]) -> list[str]:
    return sorted({host for url in urls if (host := _host(url))})


def _host(url: str) -> str:
    """The host of a page; "" for a document without such an address, whatever it says about itself."""
    try:
        return parse_url(url).authority
    except BadUrl:
        return ""


# What a reader must know about private documents that were allowed to leave the machine.

WEB = "the web"
"""Listed among the models of `Brief.private_to` if the web may be used."""


def private_documents_notice(brief: Brief) -> tuple[str, ...]:
    """Where private documents may have gone; empty if they stayed."""
    models = [name for name in brief.private_to if name != WEB]
    texts = [_("{models} may have seen them").format(models=join_list(models))] if models else []
    if WEB in brief.private_to:
        texts.append(_("searches on the web may have revealed them"))
    text = _("Private documents were in scope and allowed to leave this machine: {what}.")
    return (text.format(what=_("; ").join(texts)),) if texts else ()


# Retractions and corrections are looked up by DOI: before writing, for works the report may rest on, and at its end for
# other works that it cites. The writer and the reader both see them.

MAX_WORKS = 25
"""Works looked up at a time."""
SECONDS_BEFORE_WRITING, SECONDS_AT_END = 10.0, 30.0
"""Seconds that all look-ups together may take, before writing and at the end."""
MAX_NAMED_CLAIMS = 3
WITHDRAWN = N_("A cited work was withdrawn: {title} ({notice}).")
NOTICED = N_("A cited work has a notice: {title} ({notice}).")


class WorkNotices(msgspec.Struct, frozen=True, kw_only=True):
    """The notices about works, by DOI; `failed` says why some are missing, "" if none is."""

    notices: dict[str, tuple[Notice, ...]] = {}
    failed: str = ""


async def look_up_before_writing(run: Run, ledger: Ledger, findings: Sequence[Finding]) -> None:
    """Look up the works among the sources, those that the findings cite first, and show the writer the result.

    What cannot be looked up now is tried again at the end, if the report cites it.
    """
    passages, sources = ledger.passages_and_sources()
    cited_ids = [passage.source for finding in findings for passage in finding.passages]
    other_ids = [passage.source for passage in passages.values()]
    works = _works([sources[id] for id in dict.fromkeys((*cited_ids, *other_ids)) if id in sources])
    await _look_up_unknown(run, ledger, works, SECONDS_BEFORE_WRITING)


async def look_up_cited_works(run: Run, ledger: Ledger, cited_sources: Sequence[Source]) -> tuple[str, ...]:
    """Look up the works among `cited_sources` that are not known yet, and return sentences for the report's limits."""
    works = _works(cited_sources)
    if not works or _notices_service(run) is None:
        return ()
    result = await _look_up_unknown(run, ledger, works, SECONDS_AT_END)
    titles = {works[source.id]: one_line(source.title) or source.url for source in cited_sources if source.id in works}
    notices_by_doi = {doi: notices for doi in titles if (notices := ledger.notices_about(doi)) is not None}
    return _notice_sentences(notices_by_doi, titles, result.failed)


def withdrawn_works_note(claims: Sequence[Claim], ledger: Ledger) -> tuple[str, ...]:
    """A sentence about what in the report rests only on withdrawn works; empty if nothing does."""
    alone = [claim for claim in claims if claim.passages and all(_is_withdrawn(id, ledger) for id in claim.passages)]
    if not alone:
        return ()
    quoted_claims = join_some((quote_text(one_line(claim.text)) for claim in alone), MAX_NAMED_CLAIMS)
    return (_("These statements rest only on withdrawn works: {statements}.").format(statements=quoted_claims),)


def _is_withdrawn(passage: str, ledger: Ledger) -> bool:
    source = ledger.source(passage.partition(".")[0])
    return source is not None and any(notice.withdraws for notice in source.notices)


def _works(sources: Sequence[Source]) -> dict[str, str]:
    """DOIs, in lower case, by the ids of the sources that have one."""
    return {source.id: doi.lower() for source in sources if (doi := doi_of(source.metadata, source.url))}


def _notices_service(run: Run) -> Notices | None:
    """The service to ask; None if the web is not in scope, or private documents are and may not leave.

    A look-up of a DOI reveals what is being read.
    """
    scope = run.brief.scope
    return run.world.notices if scope.web and (not scope.private or run.brief.allow_private) else None


async def _look_up_unknown(run: Run, ledger: Ledger, works: Mapping[str, str], seconds: float) -> WorkNotices:
    """Look up what is not known yet and log notices about these sources. A limit is a reason not to know."""
    desk = _notices_service(run)
    dois = tuple(dict.fromkeys(doi for doi in works.values() if ledger.notices_about(doi) is None))[:MAX_WORKS]
    if desk is None or not dois:
        return WorkNotices()

    async def ask(step_context: StepContext) -> WorkNotices:
        answer = await _look_up_notices(desk, dois, seconds)
        for id, doi in works.items():
            if answer.notices.get(doi):
                step_context.emit(SourceNoted(source=id, notices=answer.notices[doi]))
        return answer

    try:
        result = await run.with_gate("write").step("notices", ask, returns=WorkNotices, input=dict(works))
    except LimitReached as limit:
        return WorkNotices(failed=stop_reason_phrase(limit.reason))
    for doi, notices in result.notices.items():
        ledger.store_notices(doi, notices, [id for id, work_doi in works.items() if work_doi == doi])
    return result


async def _look_up_notices(desk: Notices, dois: Sequence[str], seconds: float) -> WorkNotices:
    """Look up works one after another, until one cannot be looked up or it takes too long."""
    notices: dict[str, tuple[Notice, ...]] = {}
    failure = ""
    try:
        async with asyncio.timeout(seconds):
            for doi in dois:
                notices[doi] = await desk.find_notices(doi)
    except (SearchError, TimeoutError) as error:
        failure = str(error) or _("no answer in {seconds} s").format(seconds=f"{seconds:g}")
    return WorkNotices(notices=notices, failed=failure)


def _notice_sentences(
    notices_by_doi: Mapping[str, tuple[Notice, ...]], titles: Mapping[str, str], failure: str
) -> tuple[str, ...]:
    texts = []
    for doi, notices in notices_by_doi.items():
        for notice in notices:
            doi_suffix = f" (doi.org/{notice.doi})" if notice.doi and notice.doi.lower() != doi else ""
            text = _(WITHDRAWN if notice.withdraws else NOTICED)
            texts.append(text.format(notice=notice_line(notice), title=quote_text(titles[doi]) + doi_suffix))
    unknown = len(titles) - len(notices_by_doi)
    if unknown:
        why = failure or _("at most {count} are looked up").format(count=format_number(MAX_WORKS))
        unsure = _("It is not known whether all cited works still stand: {count} could not be looked up ({why}).")
        texts.append(unsure.format(count=format_number(unknown), why=why))
    else:
        checked_text = _("Crossref was asked whether the cited works with a DOI ({count}) were retracted or corrected.")
        texts.append(checked_text.format(count=format_number(len(titles))))
    return tuple(texts)


# Requests that a quoting model cannot fulfil.

INSTRUCTIONS_NOT_FOLLOWED = N_(
    "The instructions were not followed: the model that wrote this report, {name}, can only quote."
)
LANGUAGE_NOT_WRITTEN = N_(
    "The report was asked for in {language}: the model which wrote it, {name}, can only quote, and writes no language "
    "but those of its sources."
)


def unmet_requests(run: Run, case: Case) -> tuple[str, ...]:
    """A sentence for each request that the writer could not follow; empty if it writes text of its own."""
    writer = run.profile("complex")
    if not writer.quotes:
        return ()
    instructions = (_(INSTRUCTIONS_NOT_FOLLOWED).format(name=writer.name),) if case.instructions.strip() else ()
    return (*_unmet_language(run, case, writer.name), *instructions)


def _unmet_language(run: Run, case: Case, name: str) -> tuple[str, ...]:
    """Nothing if the quoted documents are in the requested language."""
    requested = run.brief.language if run.brief.language_asked else ""
    document_languages = {language for language in case.held.languages if language} if case.held else set()
    base_language = requested.partition("-")[0]
    if not requested or (document_languages == {base_language} and not run.brief.scope.web):
        return ()
    return (_(LANGUAGE_NOT_WRITTEN).format(language=language_name(requested, current_phrases().locale), name=name),)


LANGUAGES_DIFFER = N_(
    "Only words were compared, and the question is in another language ({asked}) than the documents ({held}): ask in "
    "theirs, or search by meaning (embedder.model)."
)
LANGUAGES_NAMED = 3


def language_gap_notes(run: Run, case: Case) -> tuple[str, ...]:
    """Why nothing may have been found: a model that only quotes has read documents in other languages.

    Empty if a document may be in the question's language, if one of the two is not known, or if passages were searched
    by their meaning too.
    """
    asked_language = question_language(case.question)
    document_languages = [language for language in case.held.languages if language] if case.held else []
    by_words_only = run.profile("complex").quotes and run.world.similarity is None and not run.brief.scope.web
    if not by_words_only or not asked_language or not document_languages or asked_language in document_languages:
        return ()
    locale = current_phrases().locale
    language_list = join_some((language_name(code, locale) for code in document_languages), LANGUAGES_NAMED)
    return (_(LANGUAGES_DIFFER).format(asked=language_name(asked_language, locale), held=language_list),)
