"""Links into a site that lead to its home page."""

from __future__ import annotations

import pytest
from web import fetcher, moved, response, site

from assay.core.errors import FetchFailed
from assay.core.sources import Fetched
from assay.fetch.web.walls import leads_home

HOME = "https://port.example"

LOST = [
    ("/articles/123", "/"),
    ("/articles/tides", "/"),
    ("/how-the-harbour-was-built", "/"),
    ("/tides.html", "/"),
    ("/2023/05/12/harbour", "/"),
    ("/item?id=17", "/"),
    ("/de/articles/123", "/de/"),
    ("/de-CH/articles/123", "/de-ch"),
    ("/en/articles/123", "/"),
    ("/articles/123", "/index.html"),
    ("/articles/123", "/home"),
    ("/articles/123", "/?utm_source=moved"),
    ("/articles/%C3%BCber-die-flut", "/"),
]

THERE = [
    ("/", "/"),
    ("/", "/en/"),
    ("/index.html", "/"),
    ("/en", "/"),
    ("/en/", "/de/"),
    ("/en/index.php", "/en/"),
    ("/home", "/"),
    ("/index_en.html", "/"),
    ("/index2.html", "/"),
    ("/index.jsp;jsessionid=AB12", "/"),
    ("/contact-us-now", "/#contact"),
    ("/wiki/Main_Page", "/"),
    ("/docs/en/latest/", "/"),
    ("/docs/3.12/", "/"),
    ("/2023/", "/"),
    ("/about", "/"),
    ("/?ref=abc123", "/"),
    ("/index.php?session=17", "/"),
    ("/login?next=/articles/123", "/"),
    ("/articles/123", "/articles/123/"),
    ("/articles/123", "/archive/123"),
    ("/articles/123", "/?article=123"),
    ("/articles/123", "/articles"),
    ("/departments/it", "/it"),
    ("/old/no", "/no"),
    ("/en/articles", "/en/"),
]


def page(url: str, final_url: str) -> Fetched:
    return Fetched(url=url, final_url=final_url, media_type="text/html", body=b"", fetched_at="")


@pytest.mark.parametrize(("asked", "final"), LOST)
def test_a_link_that_leads_home_is_lost(asked: str, final: str) -> None:
    assert leads_home(page(f"{HOME}{asked}", f"{HOME}{final}")).startswith("not found: ")
    assert leads_home(page(f"http://www.port.example{asked}", f"{HOME}{final}")), "another scheme, without www"
    assert leads_home(page(f"{HOME}{asked}", f"https://m.port.example:8443{final}"))


@pytest.mark.parametrize(("asked", "final"), THERE)
def test_a_link_that_leads_elsewhere_is_not(asked: str, final: str) -> None:
    assert leads_home(page(f"{HOME}{asked}", f"{HOME}{final}")) == ""
    assert leads_home(page(f"{HOME}{asked}", f"https://www.port.example{final}")) == ""


@pytest.mark.parametrize("final", ["https://tides.example/", "https://blog.port.example/", "https://port.example.org/"])
def test_another_site_may_be_what_the_link_names(final: str) -> None:
    """As with short addresses, and with a part of a site that got a site of its own."""
    assert leads_home(page(f"{HOME}/articles/123", final)) == ""


async def test_the_home_page_is_not_read_in_place_of_the_page() -> None:
    async with site() as there, fetcher() as web:
        there.pages["/"] = response(
            "<title>Port</title><p>" + "The port has news of the day. " * 200, Content_Type="text/html"
        )
        there.pages["/articles/123"] = moved("/")
        there.pages["/home"] = moved("/")
        with pytest.raises(FetchFailed, match=r"^not found: the link leads to the site's home page$"):
            await web.fetch(there.url("/articles/123"))
        assert (await web.fetch(there.url("/home"))).status == 200
