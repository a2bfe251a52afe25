"""Tables of documents by questions, filled by `assay table`: each cell is a run with the name of its table as label."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from starlette.responses import Response

from assay.core.errors import UnknownName
from assay.core.ports import FINAL
from assay.core.ports.lists import CELL_OF, MAX_PAGE_ENTRIES
from assay.core.report import build_report
from assay.core.view import RunView
from assay.server.api import runs
from assay.server.page.templates_environment import screen
from assay.server.problems import refusal
from assay.server.wire import RouteCall
from assay.services.batch.answer_table import MAX_CELLS, AnswerCell, report_cell

SHOWN_CELLS = 100
"""Cells shown at a time: each is read from its run."""


class TableListed(msgspec.Struct, frozen=True, kw_only=True):
    """A table in the list: its name, the number of its runs, and when the latest began."""

    name: str
    runs: int
    latest: str


class RowShown(msgspec.Struct, frozen=True, kw_only=True):
    """A document, by its hash ("" if it is gone) and title, and its cells by their questions."""

    document: str
    title: str
    cells: dict[str, AnswerCell]


async def list_tables(call: RouteCall) -> Response:
    """The tables with cells among the latest `MAX_CELLS` of the user's runs for tables."""
    tables: dict[str, TableListed] = {}
    cursor = ""
    for _ in range(MAX_CELLS // MAX_PAGE_ENTRIES):
        page = await runs.list_runs(call, runs.RunsWanted(label=CELL_OF, cursor=cursor, limit=MAX_PAGE_ENTRIES))
        for run in page.runs:
            name = run.labels[CELL_OF]
            known = tables.get(name) or TableListed(name=name, runs=0, latest=run.created_at)
            tables[name] = msgspec.structs.replace(known, runs=known.runs + 1)
        cursor = page.next
        if not cursor:
            break
    return screen(call, "tables.html", section="runs", tables=tuple(tables.values()))


async def show_table(call: RouteCall, table: str) -> Response:
    """The latest cells of a table, or those before a cursor; of a question asked again the latest answer."""
    cursor = call.request.query_params.get("cursor", "")
    wanted = runs.RunsWanted(label=f"{CELL_OF}={table}", cursor=cursor, limit=SHOWN_CELLS)
    page = await runs.list_runs(call, wanted)
    if not page.runs:
        raise refusal("not-found")
    rows: dict[str, RowShown] = {}
    for run in reversed(page.runs):
        view = await call.assay.view(run.id)
        scope = view.brief.scope.collections if view.brief else ()
        place = scope[0] if scope else run.id
        row = rows.get(place) or RowShown(**await _document(call, view), cells={})
        rows[place] = row
        row.cells[run.question] = _cell(view)
    questions = tuple(dict.fromkeys(question for row in rows.values() for question in row.cells))
    shown = tuple(rows.values())
    return screen(call, "table.html", section="runs", name=table, questions=questions, rows=shown, next=page.next)


async def _document(call: RouteCall, view: RunView) -> Mapping[str, str]:
    """The hash and the title of the one document that a cell's run reads."""
    try:
        for collection in view.brief.scope.collections if view.brief else ():
            for document in await call.assay.documents(collection):
                return {"document": document.sha256, "title": document.title or document.name or document.url}
    except UnknownName:
        pass  # its collection was deleted
    source = next(iter(view.sources.values()), None)
    return {"document": "", "title": (source.title or source.url) if source else view.run_id}


def _cell(view: RunView) -> AnswerCell:
    if view.status not in FINAL or not view.report.text:
        return AnswerCell(question=view.question, status=view.status, run=view.run_id)
    return report_cell(view.question, build_report(view), view.run_id)
