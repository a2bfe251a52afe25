"""OpenAlex: scholarly works; an e-mail address as its option gives a better place in the queue."""

from __future__ import annotations

import msgspec

from assay.core.ports import Query
from assay.search.web.http import Ask, HttpProvider, WebHit, decode, iso_date, plain


class _Place(msgspec.Struct):
    landing_page_url: str | None = None


class _Author(msgspec.Struct):
    display_name: str | None = ""


class _Authorship(msgspec.Struct):
    author: _Author = msgspec.field(default_factory=_Author)


class _Work(msgspec.Struct):
    id: str
    doi: str | None = None
    display_name: str | None = ""
    publication_date: str | None = None
    abstract_inverted_index: dict[str, list[int]] | None = None
    primary_location: _Place | None = None
    authorships: list[_Authorship] = []


class _Answer(msgspec.Struct):
    results: list[_Work]


class OpenAlex(HttpProvider):
    """https://docs.openalex.org/api-entities/works/search-works."""

    name = "openalex"
    base = "https://api.openalex.org"
    pause = 0.1

    def ask(self, query: Query) -> Ask:
        params: dict[str, str | int] = {"search": query.text, "per-page": min(query.limit, self.most)}
        rules = query.rules
        dates = (("from_publication_date", rules.since), ("to_publication_date", rules.until))
        if wanted := ",".join(f"{name}:{day}" for name, day in dates if day):
            params["filter"] = wanted
        if self.option:
            params["mailto"] = self.option
        return Ask(path="/works", params=params)

    def hits(self, data: bytes) -> list[WebHit]:
        return [_hit(work) for work in decode(data, _Answer).results]


def _hit(work: _Work) -> WebHit:
    place = work.primary_location.landing_page_url if work.primary_location else None
    names = [each.author.display_name or "" for each in work.authorships]
    return WebHit(
        url=place or work.doi or work.id,
        title=plain(work.display_name),
        snippet=_abstract(work.abstract_inverted_index or {}),
        published=iso_date(work.publication_date),
        author="; ".join(filter(None, names)),
    )


def _abstract(places: dict[str, list[int]]) -> str:
    """The abstract, which is sent as words with their positions."""
    words = sorted((at, word) for word, found in places.items() for at in found)
    return " ".join(word for _, word in words)
