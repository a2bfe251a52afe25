"""What stands in place of a page: walls, and home pages."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import walled_pages as pages
from hypothesis import given
from hypothesis import strategies as st
from web import Site, fetcher, moved, response, site

from assay.core.errors import FetchFailed
from assay.core.sources import Fetched
from assay.fetch.web.walls import home_page_reason, wall_reason

# Answers in place of a page, over a real connection: error pages, checks for robots, log-ins, requests for consent.

HTML = "text/html; charset=utf-8"


@pytest.fixture
async def there() -> AsyncIterator[Site]:
    async with site() as made:
        yield made


async def reason(there: Site, path: str = "/tides") -> str:
    async with fetcher() as web:
        with pytest.raises(FetchFailed) as failed:
            await web.fetch(there.url(path))
    return failed.value.reason


@pytest.mark.parametrize(
    ("page", "kind"),
    [
        (pages.WORDPRESS, "not found"),
        (pages.BARE_404, "not found"),
        (pages.GERMAN, "not found"),
        (pages.JAPANESE, "not found"),
        (pages.RUSSIAN, "not found"),
        (pages.NEXT_JS, "not found"),
        (pages.CLOUDFLARE, "bot check"),
        (pages.INCAPSULA, "bot check"),
        (pages.ANUBIS, "bot check"),
        (pages.LETTERS, "bot check"),
        (pages.LOGIN, "login"),
        (pages.CONSENT_PAGE, "consent"),
    ],
)
async def test_an_answer_in_place_of_the_page_is_no_page(there: Site, page: str, kind: str):
    there.pages["/tides"] = response(page, Content_Type=HTML)
    assert (await reason(there)).partition(":")[0] == kind


@pytest.mark.parametrize(
    ("to", "page", "kind"),
    [
        ("/404.html", pages.document("<main><p>Try our front page.</p></main>"), "not found"),
        ("/users/sign_in", pages.AUTHWALL, "login"),
        ("/authwall", pages.AUTHWALL, "login"),
        ("/consent/collect", pages.CONSENT_PAGE, "consent"),
    ],
)
async def test_an_address_which_leads_to_one(there: Site, to: str, page: str, kind: str):
    there.pages |= {"/tides": moved(to), to: response(page, Content_Type=HTML)}
    assert (await reason(there)).partition(":")[0] == kind


@pytest.mark.parametrize("status", [403, 503])
async def test_a_check_which_comes_with_an_error_is_told_as_one(there: Site, status: int):
    there.pages["/tides"] = response(pages.CLOUDFLARE, status, Content_Type=HTML, Retry_After="0")
    assert (
        await reason(there)
        == f"bot check: 127.0.0.1 answered {status}, and a check for browsers stands in place of the page"
    )


async def test_a_check_is_told_by_the_headers_of_who_makes_it(there: Site):
    there.pages |= {
        "/a": response("", 403, cf_mitigated="challenge"),
        "/b": response("", 202, x_amzn_waf_action="challenge"),
        "/c": response("<h1>Forbidden</h1>", 403, Content_Type=HTML),
    }
    assert [(await reason(there, path)).partition(":")[0] for path in ("/a", "/b", "/c")] == [
        "bot check",
        "bot check",
        "forbidden",
    ]


@pytest.mark.parametrize("path", pages.SUBJECTS)
async def test_a_page_about_one_is_a_page(there: Site, path: str):
    there.pages[path] = response(pages.SUBJECTS[path], Content_Type=HTML)
    async with fetcher() as web:
        assert (await web.fetch(there.url(path))).status == 200


@pytest.mark.parametrize("to", ["/privacy-at-sea", "/docs/auth/tides", "/errors/tides", "/not-found-in-1838/tides"])
async def test_a_page_which_moved_to_a_place_named_alike_is_a_page(there: Site, to: str):
    story = pages.document(f"<main><h1>Privacy at sea</h1><p>{pages.FACT}</p></main>", title="Privacy at sea")
    there.pages |= {"/p/7": moved(to), to: response(story, Content_Type=HTML)}
    async with fetcher() as web:
        assert (await web.fetch(there.url("/p/7"))).final_url == there.url(to)


async def test_a_dated_article_is_never_a_wall(there: Site):
    dated = '<meta property="article:published_time" content="2024-05-06">'
    page = pages.document("<main><h1>Page not found</h1><p>A play in two acts.</p></main>", dated, "Page not found")
    there.pages["/stage/7"] = response(page, Content_Type=HTML)
    async with fetcher() as web:
        assert (await web.fetch(there.url("/stage/7"))).status == 200


def made(body: bytes, media_type: str = "text/html") -> Fetched:
    url = "https://harbor.example/tides"
    return Fetched(
        url=url, final_url=url, redirects=(), status=200, media_type=media_type, headers={}, body=body, fetched_at=""
    )


@pytest.mark.parametrize(("text", "kind"), [("Try the front page.", "not found"), (f"{pages.FACT} " * 100, "")])
def test_a_page_is_judged_whole_behind_however_long_a_menu(text: str, kind: str):
    menu = f"<nav>{'<a href=/winds>Winds</a>' * 2_000}</nav>"
    page = pages.document(f"{menu}<main><h1>Page not found</h1><p>{text}</p></main>", title="Page not found")
    assert wall_reason(made(page.encode())).partition(":")[0] == kind


@given(st.binary(max_size=300))
def test_any_bytes_are_judged(noise: bytes):
    wall_reason(made(noise))
    assert wall_reason(made(pages.BARE_404.encode(), "text/plain")) == ""


# Links into a site that lead to its home page.

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
    assert home_page_reason(page(f"{HOME}{asked}", f"{HOME}{final}")).startswith("not found: ")
    assert home_page_reason(page(f"http://www.port.example{asked}", f"{HOME}{final}")), "another scheme, without www"
    assert home_page_reason(page(f"{HOME}{asked}", f"https://m.port.example:8443{final}"))


@pytest.mark.parametrize(("asked", "final"), THERE)
def test_a_link_that_leads_elsewhere_is_not(asked: str, final: str) -> None:
    assert home_page_reason(page(f"{HOME}{asked}", f"{HOME}{final}")) == ""
    assert home_page_reason(page(f"{HOME}{asked}", f"https://www.port.example{final}")) == ""


@pytest.mark.parametrize("final", ["https://tides.example/", "https://blog.port.example/", "https://port.example.org/"])
def test_another_site_may_be_what_the_link_names(final: str) -> None:
    """As with short addresses, and with a part of a site that got a site of its own."""
    assert home_page_reason(page(f"{HOME}/articles/123", final)) == ""


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
