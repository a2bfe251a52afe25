"""arXiv, whose answers are Atom feeds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.core.later import later
from assay.core.ports import Query
from assay.search.web.http import FIRST, LAST, Ask, HttpProvider, WebHit, iso_date, plain

if TYPE_CHECKING:
    from lxml import etree
else:
    etree = later("lxml.etree")

ATOM = "{http://www.w3.org/2005/Atom}"


class Arxiv(HttpProvider):
    """https://info.arxiv.org/help/api/user-manual.html."""

    name = "arxiv"
    base = "https://export.arxiv.org/api"
    pause = 3.0

    def ask(self, query: Query) -> Ask:
        terms = " AND ".join(f"all:{word}" for word in query.text.replace('"', " ").replace(":", " ").split())
        if query.rules.since or query.rules.until:
            first, last = ((day.replace("-", "")) for day in (query.rules.since or FIRST, query.rules.until or LAST))
            terms += f" AND submittedDate:[{first}0000 TO {last}2359]"
        params: dict[str, str | int] = {"search_query": terms, "max_results": min(query.limit, self.most)}
        return Ask(path="/query", params=params)

    def hits(self, data: bytes) -> list[WebHit]:
        # No entities, no network, no huge trees: the feed is foreign text.
        reader = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=False)
        try:
            feed = etree.fromstring(data, reader)
        except etree.XMLSyntaxError as error:
            raise ValueError(str(error)) from error
        return [_hit(entry) for entry in feed.iter(f"{ATOM}entry")]


def _hit(entry: etree._Element) -> WebHit:
    names = [name.text or "" for name in entry.iterfind(f"{ATOM}author/{ATOM}name")]
    return WebHit(
        url=_text(entry, "id").replace("http://", "https://", 1),
        title=plain(_text(entry, "title")),
        snippet=plain(_text(entry, "summary")),
        published=iso_date(_text(entry, "published")),
        author="; ".join(filter(None, names)),
    )


def _text(entry: etree._Element, name: str) -> str:
    return (entry.findtext(f"{ATOM}{name}") or "").strip()
