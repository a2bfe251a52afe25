"""Reports as texts of answers, with citations as links; and the names of models, responses and items."""

from __future__ import annotations

from typing import Literal
from urllib.parse import unquote

import msgspec

from assay.app.assay import Assay
from assay.core.assurance import report_state
from assay.core.bibliography import Bibliography
from assay.core.brief import Brief, Depth
from assay.core.clean import link_target, make_inactive, one_line
from assay.core.errors import UnknownName
from assay.core.lazy import regex
from assay.core.report import Report, render_report
from assay.core.sources import Source
from assay.core.view import RunView
from assay.core.ways import adapt_wording
from assay.export.markdown import after_text
from assay.server.problems import Fault, refusal
from assay.services.places import is_sent_collection

PIECE = 400
"""About how many code points are sent at a time."""


class UrlCitation(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", tag="url_citation"):
    """A link of the text to a page: code points `[start_index, end_index)`."""

    start_index: int
    end_index: int
    url: str
    title: str


class FileCitation(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", tag="file_citation"):
    """A citation of a document other than a page; `index` is its place in the text, `file_id` the document's hash."""

    index: int
    file_id: str
    filename: str


Annotation = UrlCitation | FileCitation


class SearchResult(msgspec.Struct, frozen=True, kw_only=True):
    """A source of an answer; `snippet` is the passage of it that the answer cites first."""

    title: str
    url: str
    date: str | None = None
    snippet: str = ""
    source: Literal["web", "attachment"] = "web"


class AnswerText(msgspec.Struct, frozen=True, kw_only=True):
    """A report as text, with its citations."""

    text: str
    annotations: tuple[Annotation, ...] = ()
    sources: tuple[SearchResult, ...] = ()

    def pieces(self) -> list[str]:
        """The text in pieces, cut at white space if possible."""
        pieces, start = list[str](), 0
        while start < len(self.text):
            end = min(start + PIECE, len(self.text))
            if end < len(self.text):
                end = max(self.text.rfind(sign, start, end) + 1 for sign in " \n") or end
            pieces.append(self.text[start:end])
            start = end
        return pieces


def answer_of(view: RunView, base: str = "") -> AnswerText:
    """The answer of a run: its report, or why there is none.

    With `base`, the address of a server, citations of documents other than pages lead there, and the last line leads to
    the evidence; so the text depends on the server.
    """
    has_fields = view.brief is not None and bool(view.brief.schema)
    if not has_fields and report_state(view) == "none":
        return AnswerText(text=no_report_reason(view))
    report, body, books = render_report(view, "numbers")
    sources = _sources(report, books, base)
    if has_fields:
        return AnswerText(text=msgspec.json.encode(report.data).decode(), sources=sources)
    entries = {entry.number: entry for entry in books.entries if entry.number is not None}
    parts, notes, length, position = list[str](), list[Annotation](), 0, 0
    for citation in body.numbered_citations(books.numbers):
        source = entries[citation.number].source
        link = _link(citation.number, url_of(source, base))
        parts += [body.text[position : citation.start], link]
        length += citation.start - position
        notes.append(_annotation(length, length + len(link), source, url_of(source, base)))
        length, position = length + len(link), citation.end
    answer = f"{''.join(parts)}{body.text[position:]}".rstrip()
    foot = answer_footer(view.run_id, base) if base else ""
    text = "\n\n".join(filter(None, (answer, after_text(view, report))))
    return AnswerText(text=f"{text}{foot}\n", annotations=tuple(notes), sources=sources)


def no_report_reason(view: RunView) -> str:
    """Why a run gave no report."""
    if view.status == "cancelled":
        return "The run was cancelled before its report was written."
    reason = adapt_wording(view.error) or view.stop_reason or view.status
    return f"The run ended without a report: {make_inactive(reason)}"


def answer_footer(run_id: str, base: str) -> str:
    """The last line of an answer in a chat: it names the run, so that the next question can use the same evidence."""
    return f"\n\n[Run {run_id}: evidence and verdicts]({base}/api/v1/runs/{run_id}/report?format=html)"


def url_of(source: Source, base: str = "") -> str:
    """The address of a source that is a page; for others that of its text on the server, "" without one."""
    if source.url.startswith(("http://", "https://")):
        return link_target(source.url) or ""
    return f"{base}/api/v1/documents/{source.document_sha256}/text" if base else ""


def file_name(url: str) -> str:
    """The last part of the address of a document, which is the name of its file; "" if it has none."""
    return one_line(unquote(url.rpartition("/")[2]))


def _link(number: int, url: str) -> str:
    return f"[{number}]({url.replace('(', '%28').replace(')', '%29')})" if url else f"[{number}]"


def _annotation(start: int, end: int, source: Source, url: str) -> Annotation:
    title = one_line(source.title)
    if url:
        return UrlCitation(start_index=start, end_index=end, url=url, title=title)
    return FileCitation(index=start, file_id=source.document_sha256, filename=file_name(source.url) or title)


def _sources(report: Report, books: Bibliography, base: str) -> tuple[SearchResult, ...]:
    sources = [entry.source for entry in books.entries if entry.number is not None]
    snippets = {passage.document_sha256: passage.text for passage in reversed(report.passages)}
    return tuple(
        SearchResult(
            title=one_line(source.title),
            url=url_of(source, base) or source.url,
            date=source.published or None,
            snippet=snippets.get(source.document_sha256, ""),
            source="web" if url_of(source) else "attachment",
        )
        for source in sources
    )


# Names: models stand for depths and collections, ids of responses for ids of runs.

DEFAULT_MODEL = "assay"
DEPTHS: dict[str, Depth] = {"assay-light": "light", DEFAULT_MODEL: "auto", "assay-extended": "extended"}
"""The depth behind each model's name."""

LABEL_PREFIX = "openai."
"""Begins the labels of a run about the request itself; all others are the request's metadata."""
Kind = Literal["model", "effort", "background", "include", "max_tool_calls", "max_output_tokens"]

_RESPONSE = regex(r"resp_([0-9a-z]+)")
_ITEM = regex(r"msg_([0-9a-z]+)")
_FOOT = regex(r"\[Run ([0-9a-z]{6,}): ")
"""How the last line of an answer names its run (see `answer_footer`)."""


class ModelName(msgspec.Struct, frozen=True):
    """A model: the depth, and the one collection it is limited to, "" for none."""

    depth: Depth
    collection: str = ""


class ListedModel(msgspec.Struct, frozen=True, kw_only=True):
    """A model in a list."""

    id: str
    object: Literal["model"] = "model"
    created: int = 1_767_225_600
    owned_by: str = "assay"


async def available_models(assay: Assay) -> list[ListedModel]:
    """The available models: three depths, and one for each collection except those of files sent with questions."""
    names = [row.name for row in await assay.collections() if row.documents and not is_sent_collection(row)]
    return [ListedModel(id=name) for name in (*DEPTHS, *(f"{DEFAULT_MODEL}:{name}" for name in names))]


async def read_model(assay: Assay, name: str) -> ModelName:
    """The meaning of a model's name: a depth, and after a colon a collection (`assay-light:papers`).

    Raises:
        Refusal: there is no such model.
    """
    base, _, collection = name.partition(":")
    collections = {row.name for row in await assay.collections()} if collection else set()
    if base not in DEPTHS or (collection and collection not in collections):
        unknown = str(UnknownName("model", name, [model.id for model in await available_models(assay)]))
        raise refusal("unknown-name", unknown, errors=(Fault(pointer="/model", detail=unknown),))
    return ModelName(DEPTHS[base], collection)


def model_of(brief: Brief) -> str:
    """The model of a run: the requested one, or the one that would have started it."""
    if model := request_label(brief, "model"):
        return model
    return next((name for name, depth in DEPTHS.items() if depth == brief.depth), DEFAULT_MODEL)


def request_label(brief: Brief, name: Kind) -> str:
    """The words of the request about this, "" if nothing."""
    return brief.labels.get(f"{LABEL_PREFIX}{name}", "")


def response_id(run_id: str) -> str:
    """The id of a run's response."""
    return f"resp_{run_id}"


def run_id_of(response: str) -> str:
    """The id of a response's run.

    Raises:
        UnknownName: this is not the id of a response.
    """
    match = _RESPONSE.fullmatch(response)
    if match is None:
        raise UnknownName("response", response)
    return match[1]


def item_run_id(item: str) -> str:
    """The id of the run whose report is the message with this id, "" if there is none."""
    match = _ITEM.fullmatch(item)
    return match[1] if match else ""


def footer_run_id(text: str) -> str:
    """The run named in the last line of an answer, "" if there is none."""
    matches = _FOOT.findall(text)
    return str(matches[-1]) if matches else ""
