"""Languages by their codes (BCP 47, names of CLDR)."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from assay.core.errors import UsageError
from assay.core.later import later

if TYPE_CHECKING:
    import babel.core
else:
    babel = later("babel")


@cache
def _english() -> babel.core.Locale:
    return babel.core.Locale("en")


@cache
def _names(locale: str) -> babel.core.Locale:
    return babel.core.Locale(locale)


def read_language(code: str) -> str:
    """A language code as a person gives it (`de`, `pt-BR`, `zh_Hant`), as BCP 47 writes it.

    Raises:
        UsageError: there is no such language; a language's English name is answered with its code.
    """
    tag, names = code.strip().replace("_", "-"), _english()
    try:
        language, territory, script, *_ = babel.core.parse_locale(tag, sep="-")
    except ValueError:
        language, territory, script = "", None, None
    known = (
        language in names.languages
        and (script is None or script in names.scripts)
        and (territory is None or territory in names.territories)
    )
    if not known:
        raise UsageError(f"no language code {code[:40]!r}; {_hint(code.strip())}")
    return "-".join(part for part in (language, script, territory) if part)


def _hint(name: str) -> str:
    wanted = name.casefold()
    code = next((code for code, called in _english().languages.items() if called.casefold() == wanted), "")
    return f"{name} is {code}" if code else "a code is like en, de or pt-BR"


def language_name(tag: str, locale: str = "en") -> str:
    """A language's name (`German`, `Portuguese (Brazil)`), in that of a locale; an unknown code, and none, as it is."""
    names = _names(locale)
    try:
        language, territory, script, *_ = babel.core.parse_locale(tag.replace("_", "-"), sep="-")
    except ValueError:
        return tag
    called = names.languages.get(language, tag)
    more = [names.scripts.get(script or ""), names.territories.get(territory or "")]
    said = ", ".join(part for part in more if part)
    return f"{called} ({said})" if said else called


COMMON = {"uk": "gb"}
"""What a country is called, and is not its code."""


def read_country(code: str) -> str:
    """The code of a country (ISO 3166, two small letters).

    Raises:
        UsageError: there is no such country.
    """
    known = COMMON.get(code.strip().lower(), code.strip().lower())
    if len(known) != 2 or known.upper() not in _english().territories:
        raise UsageError(f"no country {code[:40]!r}; write two letters, such as de or us")
    return known


def country_name(code: str) -> str:
    """The English name of a country, by its code; "" for an unknown one, and for none."""
    return str(_english().territories.get(code.upper(), ""))
