"""Names of document formats for readers."""

from __future__ import annotations

_OPEN_XML = "application/vnd.openxmlformats-officedocument."
_OPEN_DOCUMENT = "application/vnd.oasis.opendocument."
_NAMES = {
    f"{_OPEN_XML}wordprocessingml.document": "Word",
    f"{_OPEN_XML}presentationml.presentation": "PowerPoint",
    f"{_OPEN_XML}spreadsheetml.sheet": "Excel",
    "application/vnd.ms-excel": "Excel",
    f"{_OPEN_DOCUMENT}text": "OpenDocument text",
    f"{_OPEN_DOCUMENT}presentation": "OpenDocument slides",
    f"{_OPEN_DOCUMENT}spreadsheet": "OpenDocument sheet",
    "application/pdf": "PDF",
    "application/epub+zip": "e-book",
    "application/jsonl": "JSON lines",
    "application/mbox": "mailbox",
    "application/xhtml+xml": "HTML",
    "message/rfc822": "e-mail",
    "text/csv": "CSV",
    "text/html": "HTML",
    "text/markdown": "Markdown",
    "text/plain": "text",
    "text/x-source": "source code",
}


def format_name(media_type: str) -> str:
    """The name of a format by its media type; any other media type unchanged."""
    return _NAMES.get(media_type, media_type)
