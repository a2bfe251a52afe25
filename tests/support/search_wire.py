"""The formats of search providers, as their services answer: three pages each, one of them no page at all."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from assay.search.web.http import HttpProvider

URLS = ("https://one.example/a?b=1", "https://two.example/", "javascript:alert(1)")


class Wire(NamedTuple):
    """One provider: what it answers at which path, the dates a reader must see, and where the key goes."""

    provider: str
    answers: Mapping[str, str]
    published: tuple[str, str] = ("", "")
    authors: tuple[str, str] = ("", "")
    key_in: str = ""
    option: str = ""
    urls: tuple[str, str] = URLS[:2]


def _rows(**fields: list[Any]) -> list[dict[str, Any]]:
    return [dict(zip(fields, values, strict=True)) for values in zip(*fields.values(), strict=True)]


TEXTS = ["It <b>says</b> one.", "It says two.", "x"]
FEED = """<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom"><title>q</title>
<entry><id>http://one.example/a?b=1</id><published>2024-03-05T10:00:00Z</published><title>First</title>
<summary>It says
 one.</summary><author><name>Ada Byron</name></author><author><name>C. Babbage</name></author></entry>
<entry><id>https://two.example/</id><title>Second &amp; last</title><summary>It says two.</summary></entry>
<entry><id>javascript:alert(1)</id><title>x</title></entry></feed>"""

WIRES = (
    Wire(
        "searxng",
        {
            "/search": json.dumps(
                {
                    "query": "q",
                    "results": _rows(
                        url=[*URLS], title=["First", "Second & last", "x"], content=TEXTS,
                        publishedDate=["2024-03-05T10:00:00", None, None],
                    ),
                }
            )
        },
        ("2024-03-05", ""),
    ),
    Wire(
        "brave",
        {
            "/web/search": json.dumps(
                {
                    "type": "search",
                    "web": {
                        "results": _rows(
                            url=[*URLS], title=["First", "Second &amp; last", "x"], description=TEXTS,
                            page_age=["2024-03-05T10:00:00", "2023-01-01T00:00:00", None],
                        )
                    },
                }
            )
        },
        ("2024-03-05", "2023-01-01"),
        key_in="x-subscription-token: k3y",
    ),
    Wire(
        "tavily",
        {
            "/search": json.dumps(
                {
                    "results": _rows(
                        url=[*URLS], title=["First", "Second & last", "x"], content=TEXTS, score=[0.9, 0.8, 0.1],
                        published_date=["Tue, 05 Mar 2024 10:00:00 GMT", None, None],
                    )
                }
            )
        },
        ("2024-03-05", ""),
        key_in="authorization: Bearer k3y",
    ),
    Wire(
        "exa",
        {
            "/search": json.dumps(
                {
                    "results": _rows(
                        url=[*URLS], title=["First", "Second & last", None], highlights=[[each] for each in TEXTS],
                        publishedDate=["2024-03-05T00:00:00.000Z", "2022", None], author=["Ada Byron", None, None],
                    )
                }
            )
        },
        ("2024-03-05", "2022"),
        ("Ada Byron", ""),
        key_in="x-api-key: k3y",
    ),
    Wire(
        "serper",
        {
            "/search": json.dumps(
                {
                    "organic": _rows(
                        link=[*URLS], title=["First", "Second & last", "x"], snippet=TEXTS,
                        date=["Mar 5, 2024", "2 days ago", None],
                    )
                }
            )
        },
        ("2024-03-05", ""),
        key_in="x-api-key: k3y",
    ),
    Wire(
        "google_search",
        {"": json.dumps({"items": _rows(link=[*URLS], title=["First", "Second & last", "x"], snippet=TEXTS)})},
        key_in="x-goog-api-key: k3y",
        option="engine",
    ),
    Wire(
        "wikipedia",
        {
            "/w/api.php": json.dumps(
                {
                    "query": {
                        "search": _rows(
                            title=["First", "Second & last"], pageid=[1, 2], timestamp=["2024-03-05T10:00:00Z", None],
                            snippet=["It <span class=\"searchmatch\">says</span> one.", "It says two."],
                        )
                    }
                }
            )
        },
        ("2024-03-05", ""),
        urls=("/wiki/First", "/wiki/Second_%26_last"),
    ),
    Wire("arxiv", {"/query": FEED}, ("2024-03-05", ""), ("Ada Byron; C. Babbage", "")),
    Wire(
        "openalex",
        {
            "/works": json.dumps(
                {
                    "meta": {"count": 3},
                    "results": _rows(
                        id=["https://openalex.example/W1", URLS[1], URLS[2]],
                        display_name=["First", "Second & last", None],
                        publication_date=["2024-03-05", None, None],
                        abstract_inverted_index=[
                            {"one.": [2], "It": [0], "says": [1]}, {"It": [0], "two.": [2], "says": [1]}, None,
                        ],
                        primary_location=[{"landing_page_url": URLS[0]}, None, None],
                        authorships=[[{"author": {"display_name": "Ada Byron"}}], [], []],
                    ),
                }
            )
        },
        ("2024-03-05", ""),
        ("Ada Byron", ""),
    ),
    Wire(
        "crossref",
        {
            "/works": json.dumps(
                {
                    "status": "ok",
                    "message": {
                        "items": _rows(
                            DOI=["10.1/one", "10.1/two"],
                            title=[["First"], ["Second & last"]],
                            abstract=["<jats:p>It says one.</jats:p>", "It says two."],
                            issued=[{"date-parts": [[2024, 3, 5]]}, {"date-parts": [[None]]}],
                            author=[[{"given": "Ada", "family": "Byron"}, {"name": "The Club"}], []],
                        )
                    },
                }
            )
        },
        ("2024-03-05", ""),
        ("Byron, Ada; The Club", ""),
        urls=("https://doi.org/10.1/one", "https://doi.org/10.1/two"),
    ),
    Wire(
        "pubmed",
        {
            "/esearch.fcgi": json.dumps({"esearchresult": {"count": "2", "idlist": ["1", "2"]}}),
            "/esummary.fcgi": json.dumps(
                {
                    "result": {
                        "uids": ["1", "2"],
                        "1": {
                            "uid": "1", "title": "First", "source": "It says one", "pubdate": "2024 Mar 5",
                            "authors": [{"name": "Byron A"}],
                        },
                        "2": {"uid": "2", "title": "Second & last", "source": "It says two", "pubdate": "2023"},
                    }
                }
            ),
        },
        ("2024-03-05", "2023"),
        ("Byron A", ""),
        urls=("https://pubmed.ncbi.nlm.nih.gov/1/", "https://pubmed.ncbi.nlm.nih.gov/2/"),
    ),
    Wire(
        "semantic_scholar",
        {
            "/paper/search": json.dumps(
                {
                    "total": 3,
                    "data": _rows(
                        paperId=["1", "2", "3"], url=[*URLS], title=["First", "Second & last", None],
                        abstract=["It says one.", "It says two.", None], year=[2024, 2021, None],
                        publicationDate=["2024-03-05", None, None], authors=[[{"name": "Ada Byron"}], [], []],
                    ),
                }
            )
        },
        ("2024-03-05", "2021"),
        ("Ada Byron", ""),
    ),
)  # fmt: skip


def provider_of(wire: Wire, url: str, key: str = "k3y") -> HttpProvider:
    """The provider of a wire, at `url`."""
    from assay import plugins
    from assay.core.ports.models import Secret
    from assay.search.web.http import SearchAccess

    access = SearchAccess(url=url, key=Secret(key) if key else None, option=wire.option)
    provider: HttpProvider = plugins.load("searches", wire.provider)(access)
    return provider
