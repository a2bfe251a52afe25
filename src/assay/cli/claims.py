"""`assay claims` and `assay cite`: the evidence for a report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from assay.cli import options
from assay.cli.english import english_claims, english_view
from assay.cli.figures import summary_line
from assay.cli.library import read_library
from assay.cli.terminal import clean, print_table, say, write_json, write_lines
from assay.core.assurance import assurance_text
from assay.core.claims import HOLDING, Relevance, Verdict, Version
from assay.core.milestones import pluralize, shorten
from assay.core.phrases import relevance
from assay.core.quote_context import QuoteInContext, QuotePlace, group_quotes, plain_words
from assay.core.report import Report, ReportClaim, ReportSource, build_report

if TYPE_CHECKING:
    from assay import Assay, CitedPassage
    from assay.core.view import RunView

_TEXT = 300
_QUOTE = 160
_HEADINGS = ("claim", "verdict", "answers?", "rule", "sentence", "why", "sources")


@click.command("claims")
@options.run_argument("RUN")
@click.option(
    "--problems", is_flag=True, help="List only claims that are neither quoted nor supported, and removed sentences."
)
@click.option("--json", "as_json", is_flag=True, help="Print each as a line of JSON.")
@options.common_options
def claims(reference: str, problems: bool, as_json: bool, home: Path | None) -> None:
    """List the claims in the report of RUN: verdict, rule, relevance to the question, reason, and cited sources.

    \b
        assay claims last
        assay claims last --problems
        assay claims last --json | jq -r 'select(.verdict == "contradicted") | .text'
        assay claims last --json | jq -r 'select(.relevance == "answers") | .text'

    Source numbers are those of the report; `assay cite RUN N` shows the passages.
    """
    view = read_library(home, lambda assay: _view_of_report(assay, reference))
    report = build_report(view if as_json else english_view(view))
    listed_claims = [claim for claim in _list_claims(report) if not (problems and claim.verdict in HOLDING)]
    if as_json:
        for claim in listed_claims:
            write_json(claim, line=True)
        return
    print_table(_HEADINGS, list(map(row_of, listed_claims)))
    removed = f", {pluralize(len(report.removed), 'sentence')} taken out" if report.removed else ""
    say(f"{summary_line(report.summary)}{removed}", at_words=True)
    say(assurance_text(view), at_words=True)


class CitedSource(msgspec.Struct, frozen=True, kw_only=True):
    """A source that a claim cites: its number in the report, and its passages."""

    number: int
    title: str
    url: str
    passages: tuple[str, ...]


class NearestPassage(msgspec.Struct, frozen=True, kw_only=True):
    """The cited passage closest to a claim that does not hold, and which of the claim's words it lacks."""

    passage: str
    text: str
    missing: tuple[str, ...]


class ListedClaim(msgspec.Struct, frozen=True, kw_only=True):
    """A claim in a list; `removed` says why its sentence was removed, empty if it was not."""

    id: str
    text: str
    verdict: Verdict
    rule: str
    reason: str
    sources: tuple[CitedSource, ...]
    against: tuple[str, ...]
    versions: tuple[Version, ...]
    removed: str = ""
    nearest: NearestPassage | None = None
    relevance: Relevance = ""


async def _view_of_report(assay: Assay, reference: str) -> RunView:
    return await assay.view((await assay.find(reference, "report")).run_id)


def _list_claims(report: Report) -> Iterator[ListedClaim]:
    sources = {source.number: source for source in report.sources if source.number is not None}
    passages = {passage.id: passage.text for passage in report.passages}
    for claim in report.claims:
        yield ListedClaim(
            id=claim.id,
            text=claim.text,
            verdict=claim.verdict,
            rule=claim.checks[-1].rule if claim.checks else "",
            reason=claim.reason,
            sources=tuple(_cited_sources(claim, sources)),
            against=tuple(citation.passage for citation in claim.against),
            versions=claim.versions,
            nearest=_nearest_passage(claim, passages),
            relevance=claim.relevance,
        )
    for sentence in report.removed:
        yield ListedClaim(
            id=sentence.id,
            text=sentence.text,
            verdict=sentence.verdict,
            rule="",
            reason=sentence.reason,
            sources=(),
            against=(),
            versions=sentence.versions,
            removed=sentence.why,
        )


def _nearest_passage(claim: ReportClaim, passages: Mapping[str, str]) -> NearestPassage | None:
    nearest = claim.checks[-1].nearest if claim.checks else None
    if nearest is None:
        return None
    return NearestPassage(passage=nearest.passage, text=passages.get(nearest.passage, ""), missing=nearest.missing)


def _cited_sources(claim: ReportClaim, sources: Mapping[int, ReportSource]) -> Iterator[CitedSource]:
    for number in claim.numbers:
        passages = tuple(citation.passage for citation in claim.citations if citation.number == number)
        yield CitedSource(number=number, title=sources[number].title, url=sources[number].url, passages=passages)


def _nearest(nearest: NearestPassage | None) -> str:
    if nearest is None:
        return ""
    missing_note = f", which lacks: {', '.join(nearest.missing)}" if nearest.missing else ""
    return f"nearest: {nearest.passage} “{shorten(nearest.text, _QUOTE)}”{missing_note}"


def row_of(claim: ListedClaim) -> tuple[str, ...]:
    """A claim as a row of the table."""
    citations = " ".join(f"[{source.number}]" for source in claim.sources)
    verdict = f"{claim.verdict}, taken out" if claim.removed else claim.verdict
    reasons = "; ".join(part for part in (claim.removed, claim.reason, _nearest(claim.nearest)) if part)
    return claim.id, verdict, relevance(claim.relevance), claim.rule, shorten(claim.text, _TEXT), reasons, citations


@click.command("cite")
@options.run_argument("RUN")
@click.argument("number", type=click.IntRange(1), metavar="N")
@options.json_output
@options.common_options
def cite(reference: str, number: int, as_json: bool, home: Path | None) -> None:
    """Show the passages behind citation [N] in the report of RUN, each in its document, with the verdicts.

    \b
        assay cite last 1
        assay cite k3v9 2 --json
    """
    passages, locale = read_library(home, lambda assay: cited_passages(assay, reference, number))
    if as_json:
        write_json(passages)
        return
    write_cited(passages, locale)


async def cited_passages(assay: Assay, reference: str, number: int) -> tuple[Sequence[CitedPassage], str]:
    """The passages behind a citation, and the language in which code spoke in the report."""
    view = await _view_of_report(assay, reference)
    return await assay.passage(view.run_id, number), view.brief.locale if view.brief else ""


def write_cited(citations: Sequence[CitedPassage], locale: str) -> None:
    """Print cited passages of one document in it, those that stand close together in one text."""
    citations = _merge_same(citations)
    places = [QuotePlace(cited.passage.start, cited.passage.end, cited.before, cited.after) for cited in citations]
    groups = (_cited_lines(citations, group, locale) for group in group_quotes(places))
    write_lines("\n\n".join("\n".join(lines) for lines in groups).split("\n"))


def _merge_same(citations: Sequence[CitedPassage]) -> list[CitedPassage]:
    """The passages, each once: one that several agents met has the claims of all of them."""
    merged: dict[tuple[int, int], CitedPassage] = {}
    for cited in citations:
        place = cited.passage.start, cited.passage.end
        claims = (*merged[place].claims, *cited.claims) if place in merged else cited.claims
        merged[place] = msgspec.structs.replace(merged.get(place, cited), claims=claims)
    return list(merged.values())


def _cited_lines(citations: Sequence[CitedPassage], group: Sequence[QuoteInContext], locale: str) -> Iterator[str]:
    """Cited passages in their part of the document, as lines."""
    cited = [citations[part.index] for part in group]
    first = cited[0]
    yield f"[{first.number}] {clean(first.source.title)}  {clean(first.source.url)}"
    *places, last_place = _places(cited)
    yield from (f"    {place}" for place in places)
    yield f"    {last_place}, read {first.source.fetched_at[:10]}, snapshot {first.source.snapshot_sha256[:12]}"
    yield ""
    prefix = "…" if len(first.before.encode()) < first.passage.start else ""
    suffix = "…" if cited[-1].after.strip() else ""
    words = partial(plain_words, media_type=first.source.media_type)
    quotes = (f"{words(part.before)}»{citations[part.index].passage.text}«{words(part.after)}" for part in group)
    yield f"{prefix}{''.join(quotes)}{suffix}"
    yield ""
    for claim in english_claims(dict.fromkeys(claim for citation in cited for claim in citation.claims), locale):
        reason_note = f" ({clean(claim.reason)})" if claim.reason else ""
        yield f"    {claim.verdict}{reason_note}: {clean(claim.text)}"


def _places(citations: Sequence[CitedPassage]) -> Iterator[str]:
    """The places of passages: headings and page, if there are any, and the bytes; with the ids of several."""
    id = " ({})" if len(citations) > 1 else ""
    for (above, page), group in groupby(citations, lambda citation: (citation.passage.above, citation.passage.page)):
        passages = [citation.passage for citation in group]
        spans = ", ".join(f"{passage.start} to {passage.end}{id.format(passage.id)}" for passage in passages)
        place = " > ".join(clean(part) for part in above), f"page {page}" if page else "", f"bytes {spans}"
        yield ", ".join(part for part in place if part)
