"""The cited sources as a BibTeX file for biblatex and biber, in UTF-8.

Unicode is kept: biber, Zotero, JabRef and Mendeley read it, and macros exist for few scripts. So only TeX's ten special
signs are escaped, in macros whose braces pair up, since BibTeX counts braces before it knows about backslashes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from assay.core.markers import CitationMode
from assay.core.view import RunView
from assay.export.protocols import Record
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
_SIGNS = re.compile(r"[\\{}^~$&#_%]")


def escape(text: str) -> str:
    """`text` as TeX which prints it: no command, comment, group or formula begins in it."""
    return _SIGNS.sub(lambda match: _SPECIAL[match[0]], text)


def render(view: RunView) -> str:
    """One entry a cited source, in the order of their numbers; empty when nothing is cited."""
    return "\n".join(_entry(reference) for reference in references(view))


def _entry(reference: BibliographyEntry) -> str:
    fields = "".join(f"  {name} = {{{value}}},\n" for name, value in _fields(reference) if value)
    return f"@{_ENTRIES[reference.kind]}{{{reference.key},\n{fields}}}\n"


def _fields(reference: BibliographyEntry) -> Iterator[tuple[str, str]]:
    """Names and values; `doi` and `url` are verbatim to biblatex and hold no sign which TeX or BibTeX would act on."""
    yield "title", f"{{{escape(reference.title)}}}"
    yield "author", " and ".join(_name(name) for name in reference.authors)
    yield _CONTAINERS.get(reference.kind, ""), escape(reference.container) if reference.kind in _CONTAINERS else ""
    yield _publisher(reference.kind), escape(reference.publisher)
    yield "date", _iso(reference.issued)
    yield "doi", reference.doi
    yield "url", reference.url
    yield "urldate", _iso(reference.accessed)
    yield "howpublished", escape(reference.path)
    yield "note", escape(reference.note)


def _publisher(kind: Kind) -> str:
    return "institution" if kind in ("report", "thesis") else "publisher"


def _name(name: Name) -> str:
    """`Family, Suffix, Given`; in braces what BibTeX must not take apart."""
    if name.literal:
        return f"{{{escape(name.literal)}}}"
    parts = (name.family, name.suffix, name.given)
    return ", ".join(_part(part) for part in parts if part)


def _part(text: str) -> str:
    return f"{{{escape(text)}}}" if "," in text or " and " in f" {text.lower()} " else escape(text)


def _iso(day: Day) -> str:
    return "-".join(f"{part:04d}" if at == 0 else f"{part:02d}" for at, part in enumerate(day))


class BibtexExporter:
    """Writes `.bib` files."""

    suffix = ".bib"

    def render(self, record: Record, citations: CitationMode = "numbers") -> bytes:
        """As `render` of this module, in UTF-8; how citations look in a text makes no difference."""
        return render(record.view).encode()


EXPORTER = BibtexExporter()
