"""The report a run gives in Python: data, and what a person does with it at once, show it and save it."""

from __future__ import annotations

import html
import os
from pathlib import Path

import msgspec

from assay import plugins
from assay.core.errors import StoreError, UnknownName, UsageError
from assay.core.markers import CitationMode
from assay.core.ports.exporters import Exporter, Record
from assay.core.report import Report, build_report

FRAME = (
    '<iframe title="Report" sandbox="allow-popups" srcdoc="{page}" '
    'style="width:100%;height:42rem;border:1px solid #8888;border-radius:4px"></iframe>'
)
"""How a notebook shows the page: apart from its own styles and ids, and without a script."""


def replace_file(target: Path, data: bytes) -> None:
    """Write a file in the place of one that is there: whole, or not at all.

    Raises:
        StoreError: it cannot be written.
    """
    draft = target.with_name(f".{target.name}.part")
    try:
        draft.write_bytes(data)
        os.replace(draft, target)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise StoreError(f"{target} cannot be written ({error.strerror}): name another place") from error


class ResearchReport(Report, frozen=True, kw_only=True, dict=True):
    """A report which can be shown and saved; it holds what its run had stored when it was made."""

    def save(self, path: str | Path, *, citations: CitationMode = "numbers") -> Path:
        """Write the report to a file in the format of its name (`report.md`, `.html`, `.docx`, `.pdf`, …); its path.

        Args:
            path: where; a file that is there is replaced.
            citations: how the report shows its citations.

        Raises:
            UnknownName: no format has this suffix.
            ConfigError: the format needs an extra which is not installed; the message names it.
            StoreError: the file cannot be written.
        """
        target = Path(path).expanduser()
        replace_file(target, self._as(format_of(target), citations))
        return target

    def _as(self, suffix: str, citations: CitationMode) -> bytes:
        record: Record | None = self.__dict__.get("_record")
        if record is None:
            raise UsageError("this report does not come from a run: Assay.export writes the report of a run to a file")
        exporter: Exporter = plugins.load("exporters", suffix)
        return exporter.render(record, citations)

    def _repr_markdown_(self) -> str:
        """What a notebook shows where it shows no HTML."""
        return self._as(".md", "numbers").decode()

    def _repr_html_(self) -> str:
        """What a notebook shows: the page of `save("report.html")`, whose citations open their quotes."""
        return FRAME.format(page=html.escape(self._as(".html", "numbers").decode(), quote=True))


def format_of(path: Path) -> str:
    """The longest end of a file's name which stands for a format (".csl.json" before ".json").

    Raises:
        UnknownName: there is none.
    """
    known = plugins.names("exporters")
    ends = [suffix for suffix in known if path.name.lower().endswith(suffix)]
    if not ends:
        raise UnknownName("format", path.suffix, known, f"(it is the end of the file's name, {path.name})")
    return max(ends, key=len)


def research_report(record: Record) -> ResearchReport:
    """The report of a run, of its log as it stands."""
    made = ResearchReport(**msgspec.structs.asdict(build_report(record.view)))
    made.__dict__["_record"] = record
    return made
