"""A schedule's reports as an Atom feed (RFC 4287): an entry for each report, with the changes since the one before."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree.ElementTree import Element, SubElement, tostring

import msgspec
from markupsafe import Markup

from assay.core import phrases
from assay.core.clean import one_line
from assay.core.difference import FeedEntry as FeedEntry
from assay.core.lazy import regex
from assay.core.report import ReportClaim
from assay.export.html.markup import Child, el, join

ATOM = "http://www.w3.org/2005/Atom"
MEDIA = "application/atom+xml"
MAX_TITLE_CHARS = 200
_NO_XML = regex(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class AtomFeed(msgspec.Struct, frozen=True, kw_only=True):
    """The reports on a question, latest first. `url` is the address of the feed, `site` that of the server."""

    id: str
    question: str
    created_at: str
    url: str
    site: str
    entries: tuple[FeedEntry, ...]


def render_feed(feed: AtomFeed) -> bytes:
    """The feed as XML."""
    root = Element("feed", {"xmlns": ATOM, "xml:lang": "en"})
    _add_element(root, "id", f"urn:assay:schedule:{feed.id}")
    _add_element(root, "title", one_line(feed.question)[:MAX_TITLE_CHARS])
    _add_element(root, "updated", feed.entries[0].at if feed.entries else feed.created_at)
    SubElement(root, "link", {"rel": "self", "type": MEDIA, "href": feed.url})
    SubElement(root, "link", {"rel": "alternate", "type": "text/html", "href": f"{feed.site}/schedules"})
    _add_element(SubElement(root, "author"), "name", "Assay")
    _add_element(root, "generator", "Assay")
    for entry in feed.entries:
        _entry(root, feed, entry)
    data: bytes = tostring(root, encoding="utf-8", xml_declaration=True)
    return data


def _entry(root: Element, feed: AtomFeed, entry: FeedEntry) -> None:
    element = SubElement(root, "entry")
    _add_element(element, "id", f"urn:assay:run:{entry.run_id}")
    _add_element(element, "title", f"{_summary(entry)}: {one_line(feed.question)[:MAX_TITLE_CHARS]}")
    _add_element(element, "updated", entry.at)
    SubElement(element, "link", {"rel": "alternate", "type": "text/html", "href": f"{feed.site}/runs/{entry.run_id}"})
    content = _add_element(element, "content", str(_content(entry)))
    content.set("type", "html")


def _add_element(parent: Element, name: str, text: str) -> Element:
    child = SubElement(parent, name)
    child.text = _NO_XML.sub("", text)
    return child


def _summary(entry: FeedEntry) -> str:
    changes = entry.changes
    if changes is None:
        return f"First report, {_claim_count(len(entry.report.claims))}"
    parts = [
        f"{len(claims)} {word}"
        for claims, word in ((changes.changed, "changed"), (changes.added, "added"), (changes.dropped, "dropped"))
        if claims
    ]
    return f"Claims: {', '.join(parts)}" if parts else "Nothing changed"


def _claim_count(count: int) -> str:
    return f"{count:,} claim{'' if count == 1 else 's'}"


def _content(entry: FeedEntry) -> Markup:
    changes = entry.changes
    if changes is None:
        return join((el("p", f"{_summary(entry)}."), _list("Claims", [_claim(claim) for claim in entry.report.claims])))
    sources = [one_line(source.title or source.url) for source in changes.sources_added]
    return join(
        (
            el("p", f"{_summary(entry)}. {_claim_count(changes.same)} said the same before."),
            _list(
                "Changed",
                [
                    join((_claim(change.before, "del"), " → ", _claim(change.after, "ins")))
                    for change in changes.changed
                ],
            ),
            _list("Added", [_claim(claim) for claim in changes.added]),
            _list("Dropped", [_claim(claim) for claim in changes.dropped]),
            _list("Sources added", sources),
        )
    )


def _list(title: str, items: Sequence[Child]) -> Markup | None:
    return join((el("h3", title), el("ul", *(el("li", item) for item in items)))) if items else None


def _claim(claim: ReportClaim, mark: str = "") -> Markup:
    """A claim with its verdict; `mark` is the element around its text."""
    text = one_line(claim.text)
    return join((el("strong", phrases.verdict(claim.verdict)), ": ", el(mark, text) if mark else text))
