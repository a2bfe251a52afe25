"""DOIs: the one that a document states, or that is in its address."""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import parse_qs, unquote, urlsplit

from assay.core.clean import one_line
from assay.core.patterns import regex

DOI = regex(r"10\.[0-9]{4,9}(?:\.[0-9]+)*/[-._;()/:A-Za-z0-9<>\[\]+]{1,200}")
"""Only the characters that Crossref allows in new DOIs (and `<>[]+` of old ones), so it is safe in any format."""
_TAIL = regex(r"(?:/(?:full|fulltext|abstract|pdf|epdf|meta|html|summary))+$|(?:\.(?:full|pdf|html))+$|[.,;:]+$")
_NAMED = regex(r"(?:^|[._:-])doi$", re.IGNORECASE)
_CLOSING = (("(", ")"), ("[", "]"), ("<", ">"))
MOST = 2_000
"""Characters of a stated DOI that are looked at."""


def doi_of(metadata: Mapping[str, str], url: str = "") -> str:
    """The DOI of a document by its metadata, whatever vocabulary names it there, else by its address; "" for none."""
    stated = (value for name, value in metadata.items() if _NAMED.search(name.strip()))
    return next(filter(None, (find_doi(each, "") for each in stated)), "") or find_doi("", url)


def find_doi(stated: str, url: str) -> str:
    """The DOI that a document states, or that is in its address (of doi.org or a publisher); "" for none."""
    given = DOI.search(one_line(stated[:MOST]))
    if given:
        return _whole(given[0])
    try:
        parts = urlsplit(one_line(url))
        asked = parse_qs(parts.query, max_num_fields=50).get("doi", [""])[0]
    except ValueError:
        return ""
    if parts.scheme.lower() not in ("http", "https"):
        return ""
    inside = re.search(rf"(?:^|/|doi:)({DOI.pattern})$", unquote(parts.path)) or DOI.fullmatch(asked)
    return _whole(inside[inside.lastindex or 0]) if inside else ""


def _whole(found: str) -> str:
    """The DOI without what publishers append, and without the end of a sentence or of a bracket around it, unless
    nothing else would be left ("10.1234/pdf").
    """
    doi, before = found, ""
    while doi != before:
        before, doi = doi, _TAIL.sub("", doi)
        if any(doi.endswith(end) and doi.count(end) > doi.count(begin) for begin, end in _CLOSING):
            doi = doi[:-1]
    return doi if "/" in doi.rstrip("/") else found
