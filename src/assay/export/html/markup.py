"""Elements of a page. Text becomes HTML here and nowhere else: what is not `Markup` already is cleaned and escaped."""

from __future__ import annotations

from collections.abc import Iterable
from string import Formatter

from markupsafe import Markup, escape

from assay.core.clean import HARMFUL, link_target

Child = str | Markup | None

_VOID = frozenset(("br", "hr", "input", "meta"))


def safe(text: str) -> Markup:
    """`text` as HTML which shows it: escaped, without terminal escapes, controls and marks that reorder text."""
    return text if isinstance(text, Markup) else escape(HARMFUL.sub("", text))


def join(children: Iterable[Child], between: str = "") -> Markup:
    """The children after one another, those that are None or empty left out."""
    return safe(between).join([safe(child) for child in children if child])


def el(name: str, /, *children: Child, **attributes: str | bool | None) -> Markup:
    """An element. An attribute `class_` is `class`, `data_x` is `data-x`; True is one without a value, None is none."""
    opened = f"<{name}{''.join(_attribute(key, value) for key, value in attributes.items())}>"
    return Markup(opened if name in _VOID else f"{opened}{join(children)}</{name}>")


def _attribute(key: str, value: str | bool | None) -> str:
    name = key.rstrip("_").replace("_", "-")
    if value is None or value is False:
        return ""
    return f" {name}" if value is True else f' {name}="{safe(value)}"'


def foreign(text: str) -> Markup:
    """Text of unknown direction inside a line: its own direction, which does not reach past it; empty stays empty."""
    return el("bdi", text) if text else Markup("")


def address(url: str, label: Child = None) -> Markup:
    """A link to `url`, or its text alone where it may not be followed (all but http and https)."""
    target = link_target(url)
    shown = label or foreign(url)
    if target is None:
        return el("span", shown, class_="address")
    return el("a", shown, href=target, rel="noopener noreferrer nofollow", class_="address")


def framed(message: str, **parts: Child) -> Markup:
    """A message in whose `{places}` elements stand; each place once."""
    pieces = (
        safe(text) if name is None else join((safe(text), parts[name])) for text, name, *_ in Formatter().parse(message)
    )
    return Markup("").join(pieces)
