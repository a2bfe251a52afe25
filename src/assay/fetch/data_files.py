"""Files of settings, data and references: which reader a name stands for."""

from __future__ import annotations

from pathlib import PurePath

from assay.core.sources import Extracted
from assay.fetch.data_trees import MAX_CHARS, tree_document
from assay.fetch.reference_lists import read_bibtex, read_ris
from assay.fetch.settings_text import PROPERTIES, read_settings, read_toml
from assay.fetch.xml_records import read_xml
from assay.fetch.yaml_text import read_yaml

_KINDS = {
    ".toml": "TOML",
    ".bib": "BibTeX",
    ".ris": "RIS",
    **dict.fromkeys((".yaml", ".yml"), "YAML"),
    **dict.fromkeys((".xml", ".gpx", ".kml", ".opml", ".plist", ".rss", ".atom"), "XML"),
    **dict.fromkeys((".xsd", ".wsdl", ".pom", ".csproj", ".config"), "XML"),
    **dict.fromkeys((".ini", ".cfg", ".conf", ".env", PROPERTIES, ".desktop", ".editorconfig", ".gitconfig"), "INI"),
    **dict.fromkeys((".service", ".socket", ".timer", ".mount"), "INI"),
}
DATA_SUFFIXES = tuple(_KINDS)
"""Suffixes of such files; what is not written as its suffix says is read as source code."""


def read_data(text: str, name: str) -> Extracted | None:
    """The document of a file of settings or data; None if it is none, or is not written as its name says."""
    suffix = PurePath(f"x{name.lower()}").suffix
    if suffix not in _KINDS or len(text) > MAX_CHARS:
        return None
    kind = "XML" if text.lstrip().startswith("<?xml") else _KINDS[suffix]
    match kind:
        case "XML":
            tree = read_xml(text)
        case "YAML":
            tree = read_yaml(text)
        case "TOML":
            tree = read_toml(text)
        case "BibTeX":
            tree = read_bibtex(text)
        case "RIS":
            tree = read_ris(text)
        case _:
            tree = read_settings(text, suffix)
    return tree_document(tree, name, kind, len(text)) if tree is not None else None
