"""The messages of reports, in the languages with catalogues (gettext).

`<locale>/LC_MESSAGES/assay.po` is for translators; `assay.mo` beside it is compiled when a wheel, or an editable
install, is built (`hatch_build.py`). `make messages` updates all catalogues from the source. The page for browsers has
catalogues of its own for its other messages, `page.po`, in the same languages.
"""

from __future__ import annotations

import io
from contextlib import AbstractContextManager
from functools import cache
from gettext import GNUTranslations, NullTranslations
from pathlib import Path

from assay.core.lazy import lazy_module
from assay.core.translation import ENGLISH, Phrases, use_phrases

mofile, pofile = lazy_module("babel.messages.mofile"), lazy_module("babel.messages.pofile")

FOLDER = Path(__file__).parent
DOMAIN, PAGE = "assay", "page"
LOCALES = (ENGLISH, "ar", "de", "es", "fr", "hi", "it", "ja", "ko", "nl", "pl", "pt", "ru", "tr", "uk", "zh")
"""The languages of reports and of the page for browsers; English are the messages themselves."""


def locale_for(language: str) -> str:
    """The catalogue for a language (BCP 47): its own, else that without script and country, else English."""
    primary = language.partition("-")[0].lower()
    return next((name for name in (language, primary) if name in LOCALES), ENGLISH)


def use_locale(locale: str) -> AbstractContextManager[Phrases]:
    """Use the language of a catalogue in the block, "" for English."""
    return use_phrases(Phrases(locale if locale in LOCALES else ENGLISH, catalogue(locale)))


def use_page_locale(locale: str) -> AbstractContextManager[Phrases]:
    """Use a language of the page in the block, with its own messages and those of reports."""
    return use_phrases(Phrases(locale if locale in LOCALES else ENGLISH, page_catalogue(locale)))


@cache
def page_catalogue(locale: str) -> NullTranslations:
    """The messages of the page, and if one is missing those of reports."""
    if locale not in LOCALES or locale == ENGLISH:
        return NullTranslations()
    translations = _read_catalogue(locale, PAGE)
    translations.add_fallback(catalogue(locale))
    return translations


@cache
def catalogue(locale: str) -> NullTranslations:
    """The messages of a locale; for English and unknown locales, the messages themselves."""
    return NullTranslations() if locale not in LOCALES or locale == ENGLISH else _read_catalogue(locale, DOMAIN)


def _read_catalogue(locale: str, domain: str) -> NullTranslations:
    """A catalogue; one that is not there has no messages."""
    try:
        return GNUTranslations(io.BytesIO(read_compiled(locale, domain)))
    except FileNotFoundError:
        return NullTranslations()


def read_compiled(locale: str, domain: str = DOMAIN) -> bytes:
    """The bytes of the `.mo` file of a locale."""
    folder = FOLDER / locale / "LC_MESSAGES"
    source, compiled = folder / f"{domain}.po", folder / f"{domain}.mo"
    if compiled.is_file() and not (source.is_file() and source.stat().st_mtime > compiled.stat().st_mtime):
        return compiled.read_bytes()
    return compile_catalogue(source)  # a checkout whose catalogue was changed since


def compile_catalogue(source: Path) -> bytes:
    """The bytes of the `.mo` file of a `.po` file."""
    with source.open("rb") as file:
        messages = pofile.read_po(file, locale=source.parent.parent.name, domain=source.stem)
    compiled = io.BytesIO()
    mofile.write_mo(compiled, messages)
    return compiled.getvalue()
