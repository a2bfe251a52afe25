"""The cited sources as a BibTeX file for biblatex and biber, in UTF-8.

Unicode stays: biber, Zotero, JabRef and Mendeley read it, and few scripts have macros. Only TeX's ten special
characters are escaped, as macros with balanced braces, since BibTeX counts braces before it interprets backslashes.
"""

from __future__ import annotations

from collections.abc import Iterator

from assay.core.lazy import regex
from assay.core.view import RunView
from assay.export import ViewExporter
from assay.export.references import BibliographyEntry, Day, Kind, Name, references

_ENTRIES: dict[Kind, str] = {
    "article-journal": "article",
    "paper-conference": "inproceedings",
    "book": "book",
    "chapter": "incollection",
    "thesis": "thesis",
    "report": "report",
    "dataset": "dataset",
    "webpage": "online",
    "document": "misc",
}
_CONTAINERS: dict[Kind, str] = {
    "article-journal": "journaltitle",
    "paper-conference": "booktitle",
    "chapter": "booktitle",
    "webpage": "organization",
}
_SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\textbraceleft{}",
    "}": r"\textbraceright{}",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    **{sign: f"\\{sign}" for sign in "$&#_%"},
}
_SIGNS = regex(r"[\\{}^~$&#_%]")


def escape(text: str) -> str:
    """`text` in a form that TeX prints as it is: without commands, comments, groups or formulas."""
    return _SIGNS.sub(lambda match: _SPECIAL[match[0]], text)


def render(view: RunView) -> str:
    """One entry for each cited source, in the order of their numbers; empty if nothing is cited."""
    return "\n".join(_entry(reference) for reference in references(view))


def _entry(reference: BibliographyEntry) -> str:
    fields = "".join(f"  {name} = {{{value}}},\n" for name, value in _fields(reference) if value)
    return f"@{_ENTRIES[reference.kind]}{{{reference.key},\n{fields}}}\n"


def _fields(reference: BibliographyEntry) -> Iterator[tuple[str, str]]:
    """Names and values. `doi` and `url` are verbatim for biblatex, without characters special to TeX or BibTeX."""
    yield "title", f"{{{escape(reference.title)}}}"
    yield "author", " and ".join(_name(name) for name in reference.authors)
    yield _CONTAINERS.get(reference.kind, ""), escape(reference.container) if reference.kind in _CONTAINERS else ""
    yield "institution" if reference.kind in ("report", "thesis") else "publisher", escape(reference.publisher)
    yield "date", _iso(reference.issued)
    yield "doi", reference.doi
    yield "url", reference.url
    yield "urldate", _iso(reference.accessed)
    yield "howpublished", escape(reference.path)
    yield "note", escape(reference.note)


def _name(name: Name) -> str:
    """`Family, Suffix, Given`; parts that BibTeX must not split are in braces."""
    if name.literal:
        return f"{{{escape(name.literal)}}}"
    parts = (name.family, name.suffix, name.given)
    return ", ".join(_part(part) for part in parts if part)


def _part(text: str) -> str:
    return f"{{{escape(text)}}}" if "," in text or " and " in f" {text.lower()} " else escape(text)


def _iso(day: Day) -> str:
    return "-".join(f"{part:04d}" if index == 0 else f"{part:02d}" for index, part in enumerate(day))


EXPORTER = ViewExporter(".bib", lambda view, _: render(view).encode())
