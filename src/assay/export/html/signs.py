"""Verdicts and citations as they stand in the text. A verdict is always a word and a sign, never a colour alone."""

from __future__ import annotations

from markupsafe import Markup

from assay.core import phrases
from assay.core.bibliography import NumberedCitation
from assay.core.claims import VERDICTS, Verdict
from assay.core.clean import one_line
from assay.core.translation import gettext as _
from assay.core.translation import labelled
from assay.export.html.markup import Material, el, foreign, join

_SHAPES: dict[Verdict, str] = {
    "quoted": "M6.8 4.2C4.6 5.2 3.4 6.9 3.4 9v2.6h3V9H4.6M13 4.2c-2.2 1-3.4 2.7-3.4 4.8v2.6h3V9h-1.8",
    "supported": "M3 8.5l3.2 3.2L13 5",
    "partial": "M8 2.5a5.5 5.5 0 1 0 0 11a5.5 5.5 0 1 0 0-11v11a5.5 5.5 0 0 1-3.5-9.7zM6.2 4v8M4.4 5.6v4.8",
    "unsupported": "M4 4l8 8M12 4l-8 8",
    "contradicted": "M8 2.2L14.6 13.6H1.4zM8 6.6v3.2M8 11.6v.2",
    "unchecked": "M5.6 5.8a2.4 2.4 0 1 1 3.4 2.2c-.7.4-1 .8-1 1.7M8 12.3v.2",
}
_LABEL_LENGTH = 60


def sprite() -> Markup:
    """The signs of all verdicts, to be drawn with `icon`."""
    symbols = (
        el("symbol", el("path", d=_SHAPES[verdict]), id=f"sign-{verdict}", viewBox="0 0 16 16") for verdict in VERDICTS
    )
    return el("svg", *symbols, class_="sprite", aria_hidden="true", width="0", height="0")


def icon(verdict: Verdict) -> Markup:
    """A verdict's sign; the word stands beside it."""
    return el("svg", el("use", href=f"#sign-{verdict}"), class_="sign", aria_hidden="true", width="16", height="16")


def word(verdict: Verdict) -> Markup:
    """A verdict's sign and word."""
    return el("span", icon(verdict), phrases.verdict(verdict), class_=f"badge {verdict}")


def badge(material: Material, index: int) -> Markup:
    """The badge after a claim: a link to what is said of it."""
    verdict = material.verdicts[index]
    shows = (f"claim-{index + 1}", *material.quotes_of_claim(index))
    link = el(
        "a",
        icon(verdict),
        phrases.verdict(verdict),
        href=f"#claim-{index + 1}",
        class_=f"badge {verdict}",
        data_show=" ".join(shows),
        aria_label=labelled(phrases.verdict(verdict), _("sentence {number}").format(number=index + 1)),
    )
    return el("span", " ", link, class_=f"verdict {verdict}")


def cite(material: Material, cited: NumberedCitation) -> Markup:
    """A citation: a link to its first quote, else to its source."""
    quotes = material.quotes_of(cited.ids)
    source = material.cited.get(cited.number)
    title = one_line(source.title or source.url) if source else ""
    target = quotes[0] if quotes else f"source-{cited.number}"
    link = el(
        "a",
        *_label(material, cited, title),
        href=f"#{target}",
        class_="cite",
        data_show=" ".join(quotes or (f"source-{cited.number}",)),
        title=None if material.mode == "links" else title,
    )
    return link if material.mode == "links" else el("sup", link)


def _label(material: Material, cited: NumberedCitation, title: str) -> tuple[Markup | str, ...]:
    if material.mode == "markers":
        return (f"[{', '.join(cited.ids)}]",)
    if material.mode == "links":
        short = title if len(title) <= _LABEL_LENGTH else title[: _LABEL_LENGTH - 1] + "…"
        return (join(("(", foreign(short or str(cited.number)), ")")),)
    return (f"[{cited.number}]",)
