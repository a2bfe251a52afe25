"""Indexes of scholarly works, and the notices published about a work later."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

import msgspec

from assay.core.errors import SearchError
from assay.core.json_decoders import DECODE_ERRORS
from assay.core.lazy import lazy_module
from assay.core.ports import Query
from assay.core.sources import Notice
from assay.search.web.http import (
    FIRST_DAY,
    LAST_DAY,
    Ask,
    HttpProvider,
    Results,
    WebHit,
    convert_rows,
    decode,
    iso_date,
    plain,
)

if TYPE_CHECKING:
    from lxml import etree
else:
    etree = lazy_module("lxml.etree")


ATOM = "{http://www.w3.org/2005/Atom}"


class Arxiv(HttpProvider):
    """arXiv, whose answers are Atom feeds: https://info.arxiv.org/help/api/user-manual.html."""

    name = "arxiv"
    base = "https://export.arxiv.org/api"
    pause = 3.0

    def ask(self, query: Query) -> Ask:
        terms = " AND ".join(f"all:{word}" for word in query.text.replace('"', " ").replace(":", " ").split())
        if query.rules.since or query.rules.until:
            first, last = (
                (day.replace("-", "")) for day in (query.rules.since or FIRST_DAY, query.rules.until or LAST_DAY)
            )
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
        return [_arxiv_hit(entry) for entry in feed.iter(f"{ATOM}entry")]


def _arxiv_hit(entry: etree._Element) -> WebHit:
    names = [name.text or "" for name in entry.iterfind(f"{ATOM}author/{ATOM}name")]
    return WebHit(
        url=_atom_text(entry, "id").replace("http://", "https://", 1),
        title=plain(_atom_text(entry, "title")),
        snippet=plain(_atom_text(entry, "summary")),
        published=iso_date(_atom_text(entry, "published")),
        author="; ".join(filter(None, names)),
    )


def _atom_text(entry: etree._Element, name: str) -> str:
    return (entry.findtext(f"{ATOM}{name}") or "").strip()


class _CrossrefName(msgspec.Struct):
    given: str = ""
    family: str = ""
    name: str = ""


class _CrossrefDate(msgspec.Struct):
    parts: list[list[int | None]] = msgspec.field(default_factory=list, name="date-parts")


class _CrossrefItem(msgspec.Struct):
    doi: str = msgspec.field(name="DOI")
    title: list[str] = []
    abstract: str | None = None
    issued: _CrossrefDate = msgspec.field(default_factory=_CrossrefDate)
    author: list[_CrossrefName] = []


class _CrossrefMessage(msgspec.Struct):
    items: list[msgspec.Raw]


class _CrossrefAnswer(msgspec.Struct):
    message: _CrossrefMessage


def _works_request(params: dict[str, str | int], query: Query, dates: tuple[str, str], mailto: str) -> Ask:
    """A request for works, published between the query's `dates`, as the service names them; `mailto` says who asks."""
    bounds = zip(dates, (query.rules.since, query.rules.until), strict=True)
    extra = {"filter": ",".join(f"{name}:{day}" for name, day in bounds if day), "mailto": mailto}
    return Ask(path="/works", params=params | {name: value for name, value in extra.items() if value})


class Crossref(HttpProvider):
    """Works with a DOI. An e-mail address as its option gives a better place in the queue.

    https://api.crossref.org/swagger-ui/index.html.
    """

    name = "crossref"
    base = "https://api.crossref.org"
    pause = 0.2

    def ask(self, query: Query) -> Ask:
        rows = min(query.limit, self.most)
        return _works_request(
            {"query": query.text, "rows": rows}, query, ("from-pub-date", "until-pub-date"), self.option
        )

    def hits(self, data: bytes) -> list[WebHit]:
        return [
            WebHit(
                url=f"https://doi.org/{item.doi}",
                title=plain(" ".join(item.title)),
                snippet=plain(item.abstract),
                published=_date(item.issued),
                author="; ".join(filter(None, map(_crossref_name, item.author))),
            )
            for item in convert_rows(decode(data, _CrossrefAnswer).message.items, _CrossrefItem)
        ]


def _crossref_name(name: _CrossrefName) -> str:
    return name.name or ", ".join(filter(None, (name.family, name.given)))


def _date(issued: _CrossrefDate) -> str:
    """Year, month and day as far as they are given."""
    return _iso([part for part in (issued.parts[0] if issued.parts else []) if part is not None])


def _iso(parts: list[int]) -> str:
    return "-".join(f"{part:04d}" if index == 0 else f"{part:02d}" for index, part in enumerate(parts[:3]))


MAX_KIND_CHARS = 40
"""Code points of a kind of notice; Crossref's are shorter."""
MAX_NOTICES = 20
UNKNOWN_DOI = "crossref answered 404"


class _Update(msgspec.Struct):
    doi: str = msgspec.field(default="", name="DOI")
    type: str = ""
    updated: _CrossrefDate = msgspec.field(default_factory=_CrossrefDate)


class _Work(msgspec.Struct):
    updated_by: list[_Update] = msgspec.field(default_factory=list, name="updated-by")


class _WorkAnswer(msgspec.Struct):
    message: _Work


class CrossrefNotices(Crossref):
    """The `updated-by` of a work, with the data of Retraction Watch; implements `core.ports.Notices`."""

    async def find_notices(self, doi: str) -> tuple[Notice, ...]:
        params = {"mailto": self.option} if self.option else {}
        try:
            data = await self.send(Ask(path=f"/works/{quote(doi, safe='')}", params=params))
        except SearchError as failed:
            if str(failed).startswith(UNKNOWN_DOI):  # a DOI of another registry
                return ()
            raise
        try:
            work = decode(data, _WorkAnswer).message
        except DECODE_ERRORS as error:
            raise SearchError(f"{self.name} sent an answer that cannot be read") from error
        return tuple(dict.fromkeys(_notice(update) for update in work.updated_by[:MAX_NOTICES] if update.type))


def _notice(update: _Update) -> Notice:
    return Notice(
        kind=plain(update.type)[:MAX_KIND_CHARS].strip().lower().replace(" ", "_").replace("-", "_"),
        doi=plain(update.doi)[:300],
        date=_day(update.updated),
    )


def _day(day: _CrossrefDate) -> str:
    return _iso([part for part in (day.parts[0] if day.parts else []) if part is not None and 0 < part < 10_000])


class _OpenAlexPlace(msgspec.Struct):
    landing_page_url: str | None = None


class _OpenAlexAuthor(msgspec.Struct):
    display_name: str | None = ""


class _OpenAlexAuthorship(msgspec.Struct):
    author: _OpenAlexAuthor = msgspec.field(default_factory=_OpenAlexAuthor)


class _OpenAlexWork(msgspec.Struct):
    id: str
    doi: str | None = None
    display_name: str | None = ""
    publication_date: str | None = None
    abstract_inverted_index: dict[str, list[int]] | None = None
    primary_location: _OpenAlexPlace | None = None
    authorships: list[_OpenAlexAuthorship] = []


class OpenAlex(HttpProvider):
    """OpenAlex; an e-mail address as its option gives a better place in the queue.

    https://docs.openalex.org/api-entities/works/search-works.
    """

    name = "openalex"
    base = "https://api.openalex.org"
    pause = 0.1

    def ask(self, query: Query) -> Ask:
        params: dict[str, str | int] = {"search": query.text, "per-page": min(query.limit, self.most)}
        return _works_request(params, query, ("from_publication_date", "to_publication_date"), self.option)

    def hits(self, data: bytes) -> list[WebHit]:
        return [_openalex_hit(work) for work in convert_rows(decode(data, Results).results, _OpenAlexWork)]


def _openalex_hit(work: _OpenAlexWork) -> WebHit:
    landing_page = work.primary_location.landing_page_url if work.primary_location else None
    names = [authorship.author.display_name or "" for authorship in work.authorships]
    return WebHit(
        url=landing_page or work.doi or work.id,
        title=plain(work.display_name),
        snippet=_abstract(work.abstract_inverted_index or {}),
        published=iso_date(work.publication_date),
        author="; ".join(filter(None, names)),
    )


def _abstract(positions: dict[str, list[int]]) -> str:
    """The abstract, which is sent as words with their positions."""
    words = sorted((position, word) for word, word_positions in positions.items() for position in word_positions)
    return " ".join(word for _, word in words)


class _PubMedFound(msgspec.Struct):
    idlist: list[str] = []


class _PubMedIds(msgspec.Struct):
    esearchresult: _PubMedFound


class _PubMedName(msgspec.Struct):
    name: str = ""


class _PubMedArticle(msgspec.Struct):
    uid: str
    title: str = ""
    source: str = ""
    pubdate: str = ""
    authors: list[_PubMedName] = []


class _PubMedAnswer(msgspec.Struct):
    result: dict[str, msgspec.Raw]


class PubMed(HttpProvider):
    """PubMed: one request for the numbers of articles, one for their records.

    https://www.ncbi.nlm.nih.gov/books/NBK25499/.
    """

    name = "pubmed"
    base = "https://eutils.ncbi.nlm.nih.gov/entrez/eutils"
    pause = 0.34

    async def find(self, query: Query) -> list[WebHit]:
        data = await self.send(self.ask(query))
        try:
            ids = decode(data, _PubMedIds).esearchresult.idlist[: query.limit]
        except DECODE_ERRORS as error:
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
            first, last = (
                (day.replace("-", "/")) for day in (query.rules.since or FIRST_DAY, query.rules.until or LAST_DAY)
            )
            params |= {"datetype": "pdat", "mindate": first, "maxdate": last}
        return Ask(path="/esearch.fcgi", params=params | self._key())

    def hits(self, data: bytes) -> list[WebHit]:
        result = decode(data, _PubMedAnswer).result
        records = [record for id, record in result.items() if id != "uids"]
        if "uids" not in result or not records:
            raise ValueError("no records of articles")
        order = {id: index for index, id in enumerate(decode(bytes(result["uids"]), list[str]))}
        articles = sorted(convert_rows(records, _PubMedArticle), key=lambda article: order.get(article.uid, len(order)))
        return [
            WebHit(
                url=f"https://pubmed.ncbi.nlm.nih.gov/{article.uid}/",
                title=plain(article.title),
                snippet=". ".join(filter(None, (article.source, article.pubdate))),
                published=iso_date(article.pubdate),
                author="; ".join(name.name for name in article.authors if name.name),
            )
            for article in articles
        ]

    def _key(self) -> dict[str, str | int]:
        return {"api_key": self.key} if self.key else {}


PAPER_FIELDS = "title,abstract,url,year,publicationDate,authors"


class _SemanticName(msgspec.Struct):
    name: str | None = ""


class _SemanticPaper(msgspec.Struct):
    url: str | None = ""
    title: str | None = ""
    abstract: str | None = None
    year: int | None = None
    published: str | None = msgspec.field(default=None, name="publicationDate")
    authors: list[_SemanticName] = []


class _SemanticAnswer(msgspec.Struct):
    data: list[msgspec.Raw] = []


class SemanticScholar(HttpProvider):
    """Semantic Scholar; a key is optional, and helps.

    https://api.semanticscholar.org/api-docs/graph#tag/Paper-Data/operation/get_graph_paper_relevance_search.
    """

    name = "semantic_scholar"
    base = "https://api.semanticscholar.org/graph/v1"
    pause = 1.0

    def ask(self, query: Query) -> Ask:
        params: dict[str, str | int] = {
            "query": query.text,
            "limit": min(query.limit, self.most),
            "fields": PAPER_FIELDS,
        }
        if query.rules.since or query.rules.until:
            params["publicationDateOrYear"] = f"{query.rules.since}:{query.rules.until}"
        return Ask(path="/paper/search", params=params, headers={"x-api-key": self.key} if self.key else {})

    def hits(self, data: bytes) -> list[WebHit]:
        return [
            WebHit(
                url=paper.url or "",
                title=plain(paper.title),
                snippet=plain(paper.abstract),
                published=iso_date(paper.published or paper.year),
                author="; ".join(name.name for name in paper.authors if name.name),
            )
            for paper in convert_rows(decode(data, _SemanticAnswer).data, _SemanticPaper)
        ]
