"""Why a claim has its verdict, for a reader: passages by the numbers of their quotes in the page, and plain words."""

from __future__ import annotations

from collections.abc import Iterator

from markupsafe import Markup

from assay.core.patterns import regex
from assay.core.phrases import reason
from assay.core.translation import gettext as _
from assay.export.html.markup import Material, el, join, safe

_PASSAGE = regex(r"\bS\d+\.\d+\b")
_BY_WORDS = {"lexical, ": "compared by words, "}
"""Beginnings of reasons that name a rule, and what they say to a reader."""


def why(material: Material, text: str) -> Markup:
    """A reason, with links to the quotes of the passages it names; empty stays empty."""
    told = reason(text)
    for ours, plain in _BY_WORDS.items():
        told = plain + told.removeprefix(ours) if told.startswith(ours) else told
    return el("bdi", join(_linked(material, told))) if told else Markup("")


def _linked(material: Material, text: str) -> Iterator[Markup]:
    at = 0
    for found in _PASSAGE.finditer(text):
        quote = material.quotes.get(found[0])
        if quote is not None:
            yield safe(text[at : found.start()])
            yield el("a", label(material, found[0]), href=f"#{quote}")
            at = found.end()
    yield safe(text[at:])


def label(material: Material, passage: str) -> str:
    """The name of a passage for a reader: its quote in the page, else its id."""
    quote = material.quotes.get(passage)
    if quote is None:
        return _("Passage {id}").format(id=passage)
    return _("Quote {id}").format(id=number_of(quote))


def number_of(quote: str) -> str:
    """The number of a quote by its id in the page: `quote-1-2` is 1.2."""
    return quote.removeprefix("quote-").replace("-", ".")
