"""Brings the catalogues of messages up to date with the source: `src/assay/locale/*/LC_MESSAGES/assay.po`.

Run `python scripts/messages.py` after changing what Assay says in reports, then translate what is new in each.
With `--check` it only says what is out of date, or not translated. Tests do the same.
"""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.extract import DEFAULT_KEYWORDS, extract_from_dir
from babel.messages.pofile import read_po, write_po

from assay.locale import DOMAIN, FOLDER, LOCALES, compile_catalogue

SOURCE = Path(__file__).parents[1] / "src" / "assay"
TEMPLATE = FOLDER / f"{DOMAIN}.pot"
KEYWORDS = {**DEFAULT_KEYWORDS, "N_": None, "_": None}
HEADER = "# What Assay says in reports. Apache-2.0."
CHANGING = re.compile(
    rb'^"(?:POT-Creation-Date|PO-Revision-Date|Generated-By|Report-Msgid-Bugs-To|Last-Translator|Language-Team):.*\n',
    re.MULTILINE,
)
"""Lines of a header which would change with every run, or name nobody."""


def extracted() -> Catalog:
    """The messages of the source, in the order of its files."""
    found = Catalog(project="assay", version="1", header_comment=HEADER, fuzzy=False)
    for name, _, message, comments, context in extract_from_dir(
        SOURCE, method_map=[("**.py", "python")], keywords=KEYWORDS
    ):
        found.add(message, None, [(f"src/assay/{Path(name).as_posix()}", 0)], auto_comments=comments, context=context)
    return found


def written(catalogue: Catalog) -> bytes:
    """A catalogue as the bytes of its file, which change only with what is said."""
    target = io.BytesIO()
    catalogue.header_comment, catalogue.project, catalogue.version = HEADER, "assay", "1"
    write_po(target, catalogue, width=110, sort_by_file=True, include_lineno=False, ignore_obsolete=True)
    return CHANGING.sub(b"", target.getvalue())


def path_of(locale: str) -> Path:
    """The file of a catalogue."""
    return FOLDER / locale / "LC_MESSAGES" / f"{DOMAIN}.po"


def stored(locale: str) -> Catalog:
    """A catalogue as it lies in the source; empty where there is none yet."""
    path = path_of(locale)
    return (
        read_po(io.BytesIO(path.read_bytes()), locale=locale) if path.is_file() else Catalog(locale=locale, fuzzy=False)
    )


def updated(locale: str, template: Catalog) -> bytes:
    """A catalogue with exactly the messages of the source; what was translated stays."""
    catalogue = stored(locale)
    catalogue.update(template, no_fuzzy_matching=True)
    return written(catalogue)


def untranslated(locale: str) -> list[str]:
    """The messages which a catalogue does not say in every plural form of its language."""
    catalogue = stored(locale)
    lacking = []
    for message in catalogue:
        said = message.string if isinstance(message.string, tuple | list) else (message.string,)
        enough = catalogue.num_plurals if message.pluralizable else 1
        if message.id and (len(said) != enough or not all(said)):
            lacking.append(str(message.id))
    return lacking


def stale() -> Iterator[str]:
    """What has to be done."""
    template = extracted()
    if not TEMPLATE.is_file() or TEMPLATE.read_bytes() != written(template):
        yield f"{TEMPLATE.name} is not that of the source"
    for locale in LOCALES[1:]:
        if not path_of(locale).is_file() or path_of(locale).read_bytes() != updated(locale, template):
            yield f"{locale}: the catalogue does not have the messages of the source"
        yield from (f"{locale}: not translated: {message}" for message in untranslated(locale))


def main(arguments: list[str]) -> int:
    """Write the catalogues, or check them."""
    if "--check" in arguments:
        problems = list(stale())
        print("\n".join(problems) or "all catalogues are up to date")  # noqa: T201
        return bool(problems)
    template = extracted()
    TEMPLATE.write_bytes(written(template))
    for locale in LOCALES[1:]:
        path = path_of(locale)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(updated(locale, template))
        path.with_suffix(".mo").write_bytes(compile_catalogue(path))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
