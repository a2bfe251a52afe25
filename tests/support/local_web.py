"""A small web on loopback: pages about an old harbor, a SearXNG-like service which finds them, and what goes wrong."""

from __future__ import annotations

import json
from collections.abc import Callable

from web import Site, moved, response

from assay.settings import Settings, load

PAGE = (
    "<!doctype html><html lang=en><head><title>{0}</title></head>"
    "<body><main><h1>{0}</h1><p>{1}</p></main></body></html>"
)
HARBOR = (
    "The Harbor report was written by Ada Byron in 1843. It describes the tides of the old harbor and how they were"
    " measured over eleven years. The measurements were made twice a day by the harbor master."
)
TIDES = "In the old harbor the highest tide on record was 5.2 metres, in March 1838. Fishermen kept their own records."
QUESTION = "Who wrote the Harbor report, and how high was the highest tide in the old harbor?"


class Pages(dict[str, object]):
    """Pages by path; searches are answered whatever their words."""

    search: Callable[[], bytes]

    def get(self, path: str, default: object = None) -> object:
        return self.search() if path.startswith("/search?") else super().get(path, default)


class LocalWeb:
    """`found` is what the service answers: address, title, words and perhaps the day of publication."""

    def __init__(self, there: Site) -> None:
        self.there, self.status = there, 200
        pages = Pages(
            {
                "/harbor": response(PAGE.format("The Harbor report", HARBOR), Content_Type="text/html", ETag='"h1"'),
                "/old": moved("/harbor", 301),
                "/tides": [0.1, response(PAGE.format("Tides of the north", TIDES), Content_Type="text/html")],
            }
        )
        pages.search = self._search
        there.pages = pages  # type: ignore[assignment]
        self.found: list[tuple[str, ...]] = [
            (there.url("/old"), "The Harbor report", "The report on the tides of the old harbor …", "2024-03-01"),
            (there.url("/tides"), "Tides of the north", "Tides of the northern coast", "2021-05-01"),
            (there.url("/dead"), "Harbor news", "News of the harbor", ""),
        ]

    @property
    def read(self) -> list[str]:
        """The paths which were asked for, searches and robots.txt left out."""
        return [path for path in self.there.asked if not path.startswith(("/search", "/robots"))]

    def settings(self, **search: object) -> Settings:
        """Settings under which this web is the whole web."""
        service = {"url": self.there.url("").rstrip("/")}
        return load(
            search={"providers": "searxng", "services": {"searxng": service}, **search},
            web={"allow": "127.0.0.1", "max_mb": 1, "timeout": 5},
        )

    def _search(self) -> bytes:
        rows = [
            {"url": url, "title": title, "content": text, "publishedDate": "".join(day)}
            for url, title, text, *day in self.found
        ]
        return response(json.dumps({"results": rows}), self.status, Content_Type="application/json")
