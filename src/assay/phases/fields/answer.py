"""The report of a run with a schema: its fields, one a line, each cited, and what could not be found."""

from __future__ import annotations

from collections.abc import Sequence

from assay.agents.task import Toolset
from assay.core.clean import escape_markdown
from assay.core.events import FieldsFilled, ReportDelta, ReportStarted
from assay.core.phrases import missing
from assay.core.translation import labelled
from assay.core.typed_answers import Field
from assay.phases.case import Case, Draft, Research
from assay.phases.empty_report import checked
from assay.phases.fields.filler import Filler
from assay.phases.fields.schema import read
from assay.phases.fields.values import label, line
from assay.phases.write import shortcomings, with_date
from assay.run.run import Run


async def fill(run: Run, toolset: Toolset, case: Case, research: Research) -> Draft:
    """Fill the fields of the brief's schema from what was found; the report is made of them by code.

    Raises:
        NothingSearched: no field could be filled, because nothing was searched.
    """
    form = read(run.brief.schema)
    async with run.at("write").phase("write") as phase:
        phase.emit(ReportStarted(title=form.title or research.plan.title))
        filler = Filler(phase, toolset, case, research.findings)
        fields = await filler.fill(form)
        sourced = any(field.sentence for field in fields)
        if not sourced:
            await checked(phase, toolset, case)
        phase.emit(FieldsFilled(fields=fields))
        text = with_date(composed(fields), toolset, case)
        phase.emit(ReportDelta(text=text))
    return Draft(text=text, limits=shortcomings(research), sourced=sourced, written=not filler.failed, composed=True)


def composed(fields: Sequence[Field]) -> str:
    """The fields as the report's text, with passage markers."""
    filled = list(dict.fromkeys(line(field) for field in fields if field.sentence))
    empty = [f"- {labelled(_called(field), escape_markdown(field.reason))}" for field in fields if not field.sentence]
    unfilled = f"## {missing()}\n\n" + "\n".join(empty) if empty else ""
    return "\n\n".join(part for part in ("\n".join(filled), unfilled) if part)


def _called(field: Field) -> str:
    names = [label(part) if isinstance(part, str) else str(part + 1) for part in field.path]
    return escape_markdown(" ".join([names[0], *(name.lower() for name in names[1:])]))
