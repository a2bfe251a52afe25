"""Crossref: works with a DOI, and notices published about them later (with the data of Retraction Watch).

An e-mail address as its option gives a better place in the queue.
"""

from __future__ import annotations

from urllib.parse import quote

import msgspec

from assay.core.errors import SearchError
from assay.core.json_decoders import UNREADABLE
from assay.core.ports import Query
from assay.core.sources import Notice
from assay.search.web.http import Ask, HttpProvider, WebHit, decode, plain


class _Name(msgspec.Struct):
    given: str = ""
    family: str = ""
    name: str = ""


class _Issued(msgspec.Struct):
    parts: list[list[int | None]] = msgspec.field(default_factory=list, name="date-parts")


class _Item(msgspec.Struct):
    doi: str = msgspec.field(name="DOI")
    title: list[str] = []
    abstract: str | None = None
    issued: _Issued = msgspec.field(default_factory=_Issued)
    author: list[_Name] = []


class _Message(msgspec.Struct):
    items: list[_Item]


class _Answer(msgspec.Struct):
    message: _Message


class Crossref(HttpProvider):
    """https://api.crossref.org/swagger-ui/index.html."""

    name = "crossref"
    base = "https://api.crossref.org"
    pause = 0.2

    def ask(self, query: Query) -> Ask:
        params: dict[str, str | int] = {"query": query.text, "rows": min(query.limit, self.most)}
        dates = (("from-pub-date", query.rules.since), ("until-pub-date", query.rules.until))
        if wanted := ",".join(f"{name}:{day}" for name, day in dates if day):
            params["filter"] = wanted
        if self.option:
            params["mailto"] = self.option
        return Ask(path="/works", params=params)

    def hits(self, data: bytes) -> list[WebHit]:
        return [
            WebHit(
                url=f"https://doi.org/{each.doi}",
                title=plain(" ".join(each.title)),
                snippet=plain(each.abstract),
                published=_date(each.issued),
                author="; ".join(filter(None, map(_name, each.author))),
            )
            for each in decode(data, _Answer).message.items
        ]


def _name(name: _Name) -> str:
    return name.name or ", ".join(filter(None, (name.family, name.given)))


def _date(issued: _Issued) -> str:
    """Year, month and day as far as they are given."""
    known = [part for part in (issued.parts[0] if issued.parts else []) if part is not None]
    return "-".join(f"{part:04d}" if at == 0 else f"{part:02d}" for at, part in enumerate(known[:3]))


LONGEST = 40
"""Code points of a kind of notice; Crossref's are shorter."""
MOST = 20
UNKNOWN = "crossref answered 404"


class _Day(msgspec.Struct):
    parts: list[list[int | None]] = msgspec.field(default_factory=list, name="date-parts")


class _Update(msgspec.Struct):
    doi: str = msgspec.field(default="", name="DOI")
    type: str = ""
    updated: _Day = msgspec.field(default_factory=_Day)


class _Work(msgspec.Struct):
    updated_by: list[_Update] = msgspec.field(default_factory=list, name="updated-by")


class _WorkAnswer(msgspec.Struct):
    message: _Work


class CrossrefNotices(Crossref):
    """The `updated-by` of a work: https://api.crossref.org/swagger-ui/index.html."""

    async def of(self, doi: str) -> tuple[Notice, ...]:
        """Implements `core.ports.Notices`."""
        params = {"mailto": self.option} if self.option else {}
        try:
            data = await self.send(Ask(path=f"/works/{quote(doi, safe='')}", params=params))
        except SearchError as failed:
            if str(failed).startswith(UNKNOWN):  # a DOI of another registry
                return ()
            raise
        try:
            work = decode(data, _WorkAnswer).message
        except UNREADABLE as error:
            raise SearchError(f"{self.name} sent an answer that cannot be read") from error
        return tuple(dict.fromkeys(_notice(each) for each in work.updated_by[:MOST] if each.type))


def _notice(update: _Update) -> Notice:
    return Notice(
        kind=plain(update.type)[:LONGEST].strip().lower().replace(" ", "_").replace("-", "_"),
        doi=plain(update.doi)[:300],
        date=_day(update.updated),
    )


def _day(day: _Day) -> str:
    """Year, month and day as far as they are given."""
    known = [part for part in (day.parts[0] if day.parts else []) if part is not None and 0 < part < 10_000]
    return "-".join(f"{part:04d}" if at == 0 else f"{part:02d}" for at, part in enumerate(known[:3]))
