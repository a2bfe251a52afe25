"""Brings the catalogues of messages up to date with the source: `src/assay/locale/*/LC_MESSAGES/assay.po`, `page.po`.

Run `python scripts/messages.py` after changing what Assay says in reports, then translate what is new in each.
With `--check` it only says what is out of date, or not translated. Tests do the same.
"""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import IO

from babel.messages.catalog import Catalog
from babel.messages.extract import DEFAULT_KEYWORDS, extract_from_dir, extract_python
from babel.messages.pofile import read_po, write_po

from assay.locale import DOMAIN, FOLDER, LOCALES, PAGE, compile_catalogue

SOURCE = Path(__file__).parents[1] / "src" / "assay"
KEYWORDS = {**DEFAULT_KEYWORDS, "N_": None, "_": None, "count_phrase": (1, 2)}
OF_TEMPLATES = {"translate": None, "format_count": (2, 3)}
"""What takes messages on the page alone."""
HEADERS = {
    DOMAIN: "# What Assay says in reports. Apache-2.0.",
    PAGE: "# What Assay's page for browsers says. Apache-2.0.",
}
OF_PAGE = ("server/page/**.py", "server/problems.py")


def of_python(
    file: IO[bytes], keywords: Mapping[str, object], tags: Collection[str], options: Mapping[str, object]
) -> Iterator[object]:
    """The messages of a file of Python. Most files have none, and are not read word by word."""
    if re.search(rb"\b(?:%s)\s*\(" % "|".join(map(re.escape, keywords)).encode(), file.read()):
        file.seek(0)
        yield from extract_python(file, keywords, tags, options)


METHODS = {
    DOMAIN: [*((files, "ignore") for files in OF_PAGE), ("**.py", of_python)],
    PAGE: [*((files, of_python) for files in OF_PAGE), ("server/page/templates/**.html", "jinja2")],
}
"""Which files hold the messages of a domain, and how they are read."""
SPOKEN = dict.fromkeys((DOMAIN, PAGE), LOCALES[1:])
CHANGING = re.compile(
    rb'^"(?:POT-Creation-Date|PO-Revision-Date|Generated-By|Report-Msgid-Bugs-To|Last-Translator|Language-Team):.*\n',
    re.MULTILINE,
)
"""Lines of a header which would change with every run, or name nobody."""


def extracted(domain: str) -> Catalog:
    """The messages of the source, in the order of its files."""
    found = Catalog(project="assay", version="1", header_comment=HEADERS[domain], fuzzy=False)
    keywords = {**KEYWORDS, **(OF_TEMPLATES if domain == PAGE else {})}
    for name, _, message, comments, context in extract_from_dir(SOURCE, method_map=METHODS[domain], keywords=keywords):
        found.add(message, None, [(f"src/assay/{Path(name).as_posix()}", 0)], auto_comments=comments, context=context)
    return found


def written(catalogue: Catalog, domain: str) -> bytes:
    """A catalogue as the bytes of its file, which change only with what is said."""
    target = io.BytesIO()
    catalogue.header_comment, catalogue.project, catalogue.version = HEADERS[domain], "assay", "1"
    write_po(target, catalogue, width=110, sort_by_file=True, include_lineno=False, ignore_obsolete=True)
    return CHANGING.sub(b"", target.getvalue())


def template_of(domain: str) -> Path:
    """The file of the messages without translations."""
    return FOLDER / f"{domain}.pot"


def path_of(locale: str, domain: str = DOMAIN) -> Path:
    """The file of a catalogue."""
    return FOLDER / locale / "LC_MESSAGES" / f"{domain}.po"


def stored(locale: str, domain: str = DOMAIN) -> Catalog:
    """A catalogue as it lies in the source; empty where there is none yet."""
    path = path_of(locale, domain)
    return (
        read_po(io.BytesIO(path.read_bytes()), locale=locale) if path.is_file() else Catalog(locale=locale, fuzzy=False)
    )


def updated(locale: str, template: Catalog, domain: str) -> bytes:
    """A catalogue with exactly the messages of the source; what was translated stays."""
    catalogue = stored(locale, domain)
    catalogue.update(template, no_fuzzy_matching=True)
    return written(catalogue, domain)


def untranslated(locale: str, domain: str) -> list[str]:
    """The messages which a catalogue does not say in every plural form of its language."""
    catalogue = stored(locale, domain)
    lacking = []
    for message in catalogue:
        strings = message.string if isinstance(message.string, tuple | list) else (message.string,)
        enough = catalogue.num_plurals if message.pluralizable else 1
        if message.id and (len(strings) != enough or not all(strings)):
            lacking.append(str(message.id))
    return lacking


def stale() -> Iterator[str]:
    """What has to be done."""
    for domain, locales in SPOKEN.items():
        template, file = extracted(domain), template_of(domain)
        if not file.is_file() or file.read_bytes() != written(template, domain):
            yield f"{file.name} is not that of the source"
        for locale in locales:
            path = path_of(locale, domain)
            if not path.is_file() or path.read_bytes() != updated(locale, template, domain):
                yield f"{locale}: {path.name} does not have the messages of the source"
            yield from (f"{locale}: {path.name}: not translated: {each}" for each in untranslated(locale, domain))


def main(arguments: list[str]) -> int:
    """Write the catalogues, or check them."""
    if "--check" in arguments:
        problems = list(stale())
        print("\n".join(problems) or "all catalogues are up to date")  # noqa: T201
        return bool(problems)
    for domain, locales in SPOKEN.items():
        template = extracted(domain)
        template_of(domain).write_bytes(written(template, domain))
        for locale in locales:
            path = path_of(locale, domain)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(updated(locale, template, domain))
            path.with_suffix(".mo").write_bytes(compile_catalogue(path))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
