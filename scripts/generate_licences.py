"""Writes docs/licences.md: the licence of each library which Assay may install, from the libraries' own metadata.

Run `python scripts/generate_licences.py` after `make lock`. A test compares, and wants each to be an allowed one.
"""

from __future__ import annotations

import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PAGE = Path(__file__).parents[1] / "docs" / "licences.md"
HEAD = """# Licences

*Written by `scripts/generate_licences.py` from what the libraries say of themselves; do not edit.*

Assay is licensed under Apache-2.0. It installs the libraries below, each under its own licence: those without an extra
always, the others with their extra.

| library | licence | with |
|---|---|---|
"""
CLASSIFIERS = {
    "3-Clause BSD License": "BSD-3-Clause",
    "Apache Software License": "Apache-2.0",
    "BSD License": "BSD",
    "Apache 2.0": "Apache-2.0",
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
}
TOLD = {
    "py-rust-stemmers": "MIT",  # its metadata name none; its repository has the text
    "pypdfium2": "BSD-3-Clause AND Apache-2.0",  # a list in words, of its own and of PDFium's
}
"""Where the metadata of a library give no name."""
ALLOWED = {
    *("0BSD", "Apache-2.0", "BSD", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "CNRI-Python", "ISC", "MIT", "MIT-0"),
    *("MIT-CMU", "PSF-2.0", "Unlicense", "Zlib"),
    *("MPL-1.1", "MPL-2.0"),  # changes of its own files are to be published; we change none
    "LGPL-3.0-only",  # a library which is used as it is, and can be exchanged
}
"""Licences which let Assay be used and passed on by Apache-2.0, with what they ask for where they ask for anything."""


def licence(name: str) -> str:
    """The licence of an installed library, as an SPDX expression where it gives one; "" where it gives none."""
    metadata = distribution(name).metadata
    if name in TOLD:
        return TOLD[name]
    if expression := metadata.get("License-Expression"):
        return str(expression)
    lines = [str(each) for each in metadata.get_all("Classifier") or () if str(each).startswith("License ::")]
    classified = [each.rpartition(" :: ")[2] for each in lines if not each.endswith("OSI Approved")]
    if classified:
        return " AND ".join(CLASSIFIERS.get(each, each) for each in classified)
    stated = str(metadata.get("License") or "").strip().partition("\n")[0]
    return CLASSIFIERS.get(stated, stated)


def allowed(expression: str) -> bool:
    """Whether Assay may install what has this licence: of several to choose from, one."""
    return any(
        all(each.strip("() ") in ALLOWED for each in choice.split(" AND ")) for choice in expression.split(" OR ")
    )


def libraries() -> dict[str, set[str]]:
    """The libraries which the project installs here, each with the extras which ask for it; "" is none."""
    extras = [*(distribution("assay").metadata.get_all("Provides-Extra") or ())]
    found: dict[str, set[str]] = {}
    for extra in ("", *(each for each in extras if each != "dev")):
        for name in _closure("assay", extra, set()):
            found.setdefault(name, set()).add(extra)
    return {name: {""} if "" in asked else asked for name, asked in sorted(found.items())}


def _closure(name: str, extra: str, seen: set[tuple[str, str]]) -> set[str]:
    found: set[str] = set()
    for line in distribution(name).requires or ():
        wanted = Requirement(line)
        if wanted.marker is not None and not wanted.marker.evaluate({"extra": extra}):
            continue
        if extra and wanted.marker is None and not seen:  # asked for without the extra too
            continue
        required = canonicalize_name(wanted.name)
        for further in ("", *wanted.extras):
            if (required, further) in seen:
                continue
            seen.add((required, further))
            try:
                found |= _closure(required, further, seen)
            except PackageNotFoundError:
                continue
            found.add(required)
    return found - {"assay"}


def page() -> str:
    """The page."""
    rows = (
        f"| {name} | {licence(name)} | {', '.join(f'`{each}`' for each in sorted(asked) if each)} |\n"
        for name, asked in libraries().items()
    )
    return HEAD + "".join(rows)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    sys.exit(0)
