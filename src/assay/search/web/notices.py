"""What was published about a work later, as Crossref knows it (with the data of Retraction Watch)."""

from __future__ import annotations

from urllib.parse import quote

import msgspec

from assay.core.errors import SearchError
from assay.core.json_decoding import UNREADABLE
from assay.core.sources import Notice
from assay.search.web.crossref import Crossref
from assay.search.web.http import Ask, decode
from assay.search.web.provider import plain

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


class _Answer(msgspec.Struct):
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
            work = decode(data, _Answer).message
        except UNREADABLE as error:
            raise SearchError(f"{self.name} answered with what cannot be read") from error
        return tuple(dict.fromkeys(_notice(each) for each in work.updated_by[:MOST] if each.type))


def _notice(update: _Update) -> Notice:
    return Notice(
        kind=plain(update.type)[:LONGEST].strip().lower().replace(" ", "_").replace("-", "_"),
        doi=plain(update.doi)[:300],
        date=_day(update.updated),
    )


def _day(day: _Day) -> str:
    """Year, month and day as far as they are told."""
    known = [part for part in (day.parts[0] if day.parts else []) if part is not None and 0 < part < 10_000]
    return "-".join(f"{part:04d}" if at == 0 else f"{part:02d}" for at, part in enumerate(known[:3]))
