"""A run's report as a paper, for the formats people print: DOCX and PDF only typeset it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import msgspec

from assay.core.assurance import assurance_text
from assay.core.claims import Claim
from assay.core.clean import one_line
from assay.core.markers import CitationMode, strip_markers
from assay.core.phrases import verdict, verdict_reason
from assay.core.quote_context import printed_quote
from assay.core.report import Report, ReportPassage, ReportSource
from assay.core.translation import current_phrases, format_report_date, is_right_to_left, join_list, label_text
from assay.core.translation import gettext as _
from assay.core.view import RunView
from assay.export import report_parts
from assay.export.formatted_text import FormattedBlock, Heading, Line, Piece, Table, make_line, read_formatted
from assay.export.references import read_names
from assay.export.report_parts import numbered_mode, read_body
from assay.locale import use_locale

_NO_DATE = datetime(1980, 1, 1, tzinfo=UTC)  # the first one a zip file can hold


class PaperSource(msgspec.Struct, frozen=True, kw_only=True):
    """A cited source, and the passages cited from it."""

    number: int
    line: Line
    quotes: tuple[Line, ...] = ()


class Labels(msgspec.Struct, frozen=True, kw_only=True):
    """The headings that code adds; `boxed` is the note, with `{count}`, about characters that no font has."""

    sources: str
    to_check: str
    limits: str
    legend: str
    boxed: str


class Paper(msgspec.Struct, frozen=True, kw_only=True):
    """A report to be typeset. `language` is a BCP 47 tag or empty; `made` is when the run ended, as far as it has.

    `rtl` says that code's own words are in a language written from right to left.
    """

    title: Line
    facts: tuple[Line, ...]
    language: str
    made: datetime
    body: tuple[FormattedBlock, ...]
    sources: tuple[PaperSource, ...]
    to_check: tuple[Line, ...]
    limits: tuple[Line, ...]
    legend: tuple[Line, ...]
    labels: Labels
    rtl: bool = False


def read_paper(view: RunView, citations: CitationMode) -> Paper:
    """The report of a run, as far as it is written."""
    with use_locale(report_parts.report_locale(view)):
        return _make_paper(view, citations)


def _make_paper(view: RunView, citations: CitationMode) -> Paper:
    body = read_body(view, numbered_mode(citations))
    report = body.report
    quotes = report_parts.cited_passages(report)
    title, question = one_line(view.report.title), one_line(view.question)
    moment = _moment(view)
    shown_question = question if title and title != question else ""
    checked_line = _("{text}.").format(text=join_list((format_report_date(f"{moment:%Y-%m-%d}"), assurance_text(view))))
    facts = (shown_question, f"{checked_line} {report_parts.counts_line(report.summary)}".strip())
    return Paper(
        title=make_line(title or question or _("Report")),
        facts=tuple(make_line(fact) for fact in facts if fact),
        language=report_parts.language_tag(view.brief.language if view.brief else ""),
        made=moment,
        body=(*_drop_repeated_headings(read_formatted(body, citations), title or question), *_fields(report)),
        sources=tuple(_source(source, quotes.get(source.id, ())) for source in report_parts.cited_sources(report)),
        to_check=tuple(_claim(claim) for claim in report_parts.claims_to_check(view)),
        limits=tuple(make_line(one_line(limit)) for limit in report_parts.report_limits(view, report)),
        legend=_legend() if report.claims else (),
        labels=_labels(),
        rtl=is_right_to_left(current_phrases().locale),
    )


def _drop_repeated_headings(body: Sequence[FormattedBlock], title: str) -> tuple[FormattedBlock, ...]:
    """The body without headings that repeat the title, or the heading directly above."""
    blocks: list[FormattedBlock] = []
    above = _heading_key(title)
    for block in body:
        says = _heading_key(block.line.text) if isinstance(block, Heading) else ""
        if not says or says != above:
            blocks.append(block)
        above = says
    levels = [block.level for block in blocks if isinstance(block, Heading)]
    lift = min(levels, default=1) - 1
    return tuple(
        msgspec.structs.replace(block, level=block.level - lift) if lift and isinstance(block, Heading) else block
        for block in blocks
    )


def _heading_key(heading: str) -> str:
    """A heading in the form for comparison: without case, extra spaces and final punctuation."""
    return " ".join(heading.split()).rstrip("?.!:？。 ").casefold()


def _labels() -> Labels:
    return Labels(
        sources=_("Sources"),
        to_check=_("Claims to check"),
        limits=_("Limits"),
        legend=report_parts.legend().title,
        boxed=_(
            "{count} of the signs in this report are drawn as boxes: no font on the machine which made this file "
            "has them."
        ),
    )


def _legend() -> tuple[Line, ...]:
    """The meaning of each verdict, and what none of them says."""
    legend = report_parts.legend()
    rows = ((verdict(name), meaning) for name, meaning in legend.rows)
    return (*(_labelled_line(word, meaning) for word, meaning in rows), make_line(legend.note))


def _fields(report: Report) -> tuple[FormattedBlock, ...]:
    """The fields of a typed answer as a table under a heading."""
    if not report.fields:
        return ()
    rows = (report_parts.field_headings(), *report_parts.field_rows(report))
    cells = tuple(tuple(make_line(one_line(cell)) for cell in row) for row in rows)
    return (Heading(level=1, line=make_line(_("Fields"))), Table(rows=cells))


def _moment(view: RunView) -> datetime:
    """In whole seconds; the moment is the run's, so that the same run gives the same file."""
    for timestamp in (view.finished_at, view.started_at, view.created_at, view.brief.date if view.brief else ""):
        try:
            moment = datetime.fromisoformat(timestamp).replace(microsecond=0)
        except ValueError:
            continue
        moment = moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
        return max(moment, _NO_DATE)
    return _NO_DATE


def _source(source: ReportSource, quotes: Sequence[ReportPassage]) -> PaperSource:
    label = report_parts.source_label(source)
    parts = (
        Piece(text=make_line(label.title or label.where).text, link=label.target),
        Piece(text=make_line(join_list(name.full for name in read_names(source.author))).text),
        Piece(text=make_line(report_parts.found_date(source) or one_line(format_report_date(source.published))).text),
        *(Piece(text=make_line(note).text) for note in report_parts.source_notes(source)),
        Piece(text=make_line(label.where).text if label.title else "", link=label.target),
        Piece(text=report_parts.retrieval_text(label.retrieved)),
    )
    apart = [piece for part in parts if part.text for piece in (Piece(text=_(", ")), part)][1:]
    return PaperSource(
        number=source.number or 0,
        line=make_line(*apart),
        quotes=tuple(_quote(quote, source.media_type) for quote in quotes),
    )


def _quote(passage: ReportPassage, media_type: str) -> Line:
    return make_line(f"“{printed_quote(passage.text, media_type)}”{report_parts.page_text(passage.page)}")


def _claim(claim: Claim) -> Line:
    word, quote = verdict(claim.verdict), f"(“{one_line(strip_markers(claim.text))}”)"
    return _labelled_line(word, one_line(verdict_reason(claim.reason)), f" {quote}")


def _labelled_line(word: str, text: str, after: str = "") -> Line:
    """A bold word with what is said of it."""
    label_end = label_text(word, text).removeprefix(word) if text else ""
    return make_line(Piece(text=word, bold=True), f"{label_end}{after}")
