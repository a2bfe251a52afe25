"""PubMed: one request for the numbers of articles, one for their records."""

from __future__ import annotations

import msgspec

from assay.core.errors import SearchError
from assay.core.json_decoders import UNREADABLE
from assay.core.ports import Query
from assay.search.web.http import FIRST, LAST, Ask, HttpProvider, WebHit, decode, iso_date, plain


class _Found(msgspec.Struct):
    idlist: list[str] = []


class _Ids(msgspec.Struct):
    esearchresult: _Found


class _Name(msgspec.Struct):
    name: str = ""


class _Article(msgspec.Struct):
    uid: str
    title: str = ""
    source: str = ""
    pubdate: str = ""
    authors: list[_Name] = []


class _Answer(msgspec.Struct):
    result: dict[str, msgspec.Raw]


class PubMed(HttpProvider):
    """https://www.ncbi.nlm.nih.gov/books/NBK25499/."""

    name = "pubmed"
    base = "https://eutils.ncbi.nlm.nih.gov/entrez/eutils"
    pause = 0.34

    async def find(self, query: Query) -> list[WebHit]:
        """See `Provider.find`."""
        data = await self.send(self.ask(query))
        try:
            ids = decode(data, _Ids).esearchresult.idlist[: query.limit]
        except UNREADABLE as error:
            raise SearchError(f"{self.name} sent an answer that cannot be read: {error}") from error
        if not ids:
            return []
        params: dict[str, str | int] = {"db": "pubmed", "id": ",".join(ids), "retmode": "json"}
        data = await self.send(Ask(path="/esummary.fcgi", params=params | self._key()))
        return self.read(data, self.url)[: query.limit]

    def ask(self, query: Query) -> Ask:
        params: dict[str, str | int] = {"db": "pubmed", "term": query.text, "retmode": "json", "sort": "relevance"}
        params["retmax"] = min(query.limit, self.most)
        if query.rules.since or query.rules.until:
            first, last = ((day.replace("-", "/")) for day in (query.rules.since or FIRST, query.rules.until or LAST))
            params |= {"datetype": "pdat", "mindate": first, "maxdate": last}
        return Ask(path="/esearch.fcgi", params=params | self._key())

    def hits(self, data: bytes) -> list[WebHit]:
        result = decode(data, _Answer).result
        articles = [decode(bytes(result[id]), _Article) for id in decode(bytes(result["uids"]), list[str])]
        return [
            WebHit(
                url=f"https://pubmed.ncbi.nlm.nih.gov/{each.uid}/",
                title=plain(each.title),
                snippet=". ".join(filter(None, (each.source, each.pubdate))),
                published=iso_date(each.pubdate),
                author="; ".join(name.name for name in each.authors if name.name),
            )
            for each in articles
        ]

    def _key(self) -> dict[str, str | int]:
        return {"api_key": self.key} if self.key else {}
