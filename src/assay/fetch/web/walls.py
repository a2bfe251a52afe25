"""Recognizes answers that stand in place of a page: error pages with status 200, checks for robots, log-ins, requests
for consent, and home pages.

All others are short, and say nothing of their own: a page that states when it was published, or has more than a few
sentences outside links, menus and forms, is never one of them. What is left must say so twice, in two of: its title or
heading, its address (which the address that was asked for does not), its fields and scripts. Nothing is tried to get
past a wall.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import unquote

import msgspec
from selectolax.lexbor import LexborHTMLParser

from assay.core.charsets import to_utf8
from assay.core.errors import ExtractError
from assay.core.languages import LANGUAGE_NAMES
from assay.core.lazy import regex
from assay.core.sources import Fetched
from assay.core.web_addresses import TRACKING, BadUrl, Url, parse_url
from assay.fetch.html import CHARSET
from assay.fetch.html_markdown import MAX_TAGS, limit_nesting
from assay.fetch.html_metadata import LINKED_DATA_SELECTOR, NON_TEXT_TAGS, attribute, read_linked, text_outside
from assay.fetch.text_form import decode
from assay.fetch.wall_words import (
    CONSENT,
    CONSENT_PLACE,
    ERROR_END,
    ERROR_PLACE,
    LOGIN_PLACE,
    NOT_FOUND,
    ROBOT,
    ROBOT_PLACE,
    ROBOT_TITLE,
)
from assay.fetch.web.response import HTML_TYPES, beginnings

# Error pages with status 200, checks for robots, log-ins, and requests for consent.

MAX_PAGE_BYTES = 3_000_000
"""Bytes; what is larger is no wall."""
MAX_PROSE_CHARS, MAX_DOUBTFUL_PROSE_CHARS = 1_000, 400
"""Characters of text outside links, menus and forms that a wall has at most, and with one sign less."""
MAX_CONSENT_CHARS = 4_000
"""Characters of a request for consent, which names purposes and partners."""
CONSENT_SHARE = 0.6
"""The share of a request for consent that is in sentences about it."""
MAX_TITLE_CHARS = 120
MAX_CHECK_FIELDS = 1
"""Fields that are filled in by hand, of a form that only asks whether somebody is human: the letters of a picture."""
NON_PROSE_TAGS = ("a", "form", "button", "select", "textarea", "label")
"""Elements whose text is no prose: links to other pages, and what belongs to fields."""
BUTTON_SELECTOR = "button, input[type=submit], input[type=button], [role=button]"
TYPED_FIELD_SELECTOR = (
    "input:not([type]), input[type=text], input[type=email], input[type=tel], input[type=search], textarea"
)
PUBLISHED_SELECTOR = 'meta[property="article:published_time" i], meta[name="citation_title" i]'
CHALLENGE = regex(
    r"cdn-cgi/challenge-platform/h/|_cf_chl_opt|cf-browser-verification|challenges\.cloudflare\.com|_Incapsula_Resource"
    r"|captcha-delivery\.com|px-captcha|within\.website/x/cmd/anubis|\.awswaf\.com|AwsWafIntegration|ddos-guard"
    r"|sucuri_cloudproxy|h-?captcha|recaptcha|validateCaptcha|geetest|arkoselabs|friendly-?challenge",
    re.IGNORECASE,
)
"""Scripts and forms that tell people from programs; many pages have them beside their text."""
CHECK_STATUSES = frozenset((401, 403, 405, 429, 503))
"""Statuses that may come with a check for browsers."""
MAX_CHECK_BYTES = 200_000
"""Bytes of the page with an error that are read."""
ANY_CHECK = "a check for browsers stands in place of the page"
SENTENCE = regex(r"(?<=[.!?。！？])\s+|\n+")


def is_check_response(headers: Mapping[str, str]) -> bool:
    """True if an answer says that it is a check for browsers."""
    return headers.get("cf-mitigated", "") == "challenge" or "x-amzn-waf-action" in headers


def is_check_page(media_type: str, body: bytes) -> bool:
    """True if the page that came with an error is a check for browsers. Blocking: milliseconds."""
    if media_type not in HTML_TYPES or body.count(b"<") > MAX_TAGS:
        return False
    try:
        text = limit_nesting(decode(body))
        return bool(_bot_check_reason(_inspect_page(text, _prose_length(text)), ""))
    except ExtractError:
        return False


def wall_reason(page: Fetched) -> str:
    """Why a page is not what was asked for; "" if it may be. The reason begins with its kind. Blocking: milliseconds.

    The kinds are "not found", "bot check", "login" and "consent".
    """
    if page.media_type not in HTML_TYPES:
        return ""
    if why := home_page_reason(page):
        return why
    if len(page.body) > MAX_PAGE_BYTES or page.body.count(b"<") > MAX_TAGS:
        return ""
    try:
        text = _decode_page(page)
    except ExtractError:
        return ""
    for part in beginnings(text):
        markup = limit_nesting(part)
        prose = _prose_length(markup)
        if prose > MAX_CONSENT_CHARS:
            return ""
    overview, addresses = _inspect_page(markup, prose), _PageAddresses(page)
    if overview.published:
        return ""
    return (
        _bot_check_reason(overview, addresses.requested)
        or _not_found_reason(overview, addresses)
        or _login_reason(overview, addresses)
        or _consent_reason(overview, addresses)
    )


class _PageOverview(msgspec.Struct, frozen=True, kw_only=True):
    """What a page shows at a glance: its titles, its prose, the text that includes forms, its fields.

    A `challenge` is looked for only where there is little prose.
    """

    titles: tuple[str, ...]
    prose: int
    text: str
    published: bool
    challenge: bool
    password: bool
    text_fields: int
    buttons: bool


class _PageAddresses:
    """The addresses of a page: where it was asked for, and where that led."""

    def __init__(self, page: Fetched) -> None:
        self.requested, self.final = (_place(page.url), _place(page.final_url))

    def leads_to(self, words: re.Pattern[str]) -> bool:
        """True if the final address has such words, and the one that was asked for has none."""
        return self.requested != self.final and bool(words.search(self.final)) and not words.search(self.requested)


def _place(url: str) -> str:
    """The host and path of an address, in lower case; a query often holds the address to return to."""
    try:
        parsed = parse_url(url)
    except BadUrl:
        return ""
    return f"{parsed.host}{parsed.target.partition('?')[0]}".lower()


def _decode_page(page: Fetched) -> str:
    """A page's HTML."""
    body = to_utf8(page.body, page.headers.get("content-type", ""))
    charset = CHARSET.search(body[:4096])
    return decode(body, charset[1].decode("ascii") if charset else "")


def _prose_length(page: str) -> int:
    """Characters of text outside menus, links and forms."""
    return len(text_outside(LexborHTMLParser(page), *NON_PROSE_TAGS))


def _inspect_page(page: str, prose: int) -> _PageOverview:
    tree = LexborHTMLParser(page)
    heads = [attribute(tree, 'meta[property="og:title" i]', "content")]
    heads += [" ".join(node.text(deep=True).split()) for node in tree.css("title, h1")[:4]]
    linked_data = read_linked(node.text(deep=True) for node in tree.css(LINKED_DATA_SELECTOR))
    published = bool(linked_data.published) or tree.css_first(PUBLISHED_SELECTOR) is not None
    tree.strip_tags([*NON_TEXT_TAGS])
    password, buttons = tree.css_first("input[type=password]") is not None, tree.css_first(BUTTON_SELECTOR) is not None
    text_fields = len(tree.css(TYPED_FIELD_SELECTOR))
    return _PageOverview(
        titles=tuple(head[:MAX_TITLE_CHARS] for head in heads if head),
        prose=prose,
        text=_first_lines(tree),
        published=published,
        challenge=prose <= MAX_DOUBTFUL_PROSE_CHARS and bool(CHALLENGE.search(page)),
        password=password,
        text_fields=text_fields,
        buttons=buttons,
    )


def _first_lines(tree: LexborHTMLParser) -> str:
    """The beginning of a page's text, long enough to tell that it is too long for a request for consent."""
    text = tree.body.text(separator="\n") if tree.body is not None else ""
    lines, left = list[str](), 2 * MAX_CONSENT_CHARS
    for line in text.split("\n"):
        if left >= 0 and (words := line.split()):
            lines.append(" ".join(words))
            left -= len(lines[-1]) + 1
    return "\n".join(lines)[: 2 * MAX_CONSENT_CHARS]


def _has_in_titles(overview: _PageOverview, words: re.Pattern[str]) -> bool:
    return any(words.search(title) for title in overview.titles)


def _bot_check_reason(overview: _PageOverview, requested: str) -> str:
    """A check for robots: by two of its title, its script or picture, and its words. A form to write to somebody has
    more fields.
    """
    if (
        overview.prose > MAX_DOUBTFUL_PROSE_CHARS
        or overview.text_fields > MAX_CHECK_FIELDS
        or overview.password
        or ROBOT_PLACE.search(requested)
    ):
        return ""
    signs = _has_in_titles(overview, ROBOT_TITLE) + bool(ROBOT.search(overview.text)) + overview.challenge
    return f"bot check: {ANY_CHECK}" if signs >= 2 else ""


def _not_found_reason(overview: _PageOverview, addresses: _PageAddresses) -> str:
    """An error page: by its title or heading, or by the address to which it was moved."""
    if overview.prose > MAX_PROSE_CHARS or ERROR_PLACE.search(addresses.requested):
        return ""
    if _has_in_titles(overview, NOT_FOUND):
        return "not found: the page itself says so, whatever its status"
    moved = overview.prose < MAX_DOUBTFUL_PROSE_CHARS and addresses.leads_to(ERROR_END)
    return "not found: the address leads to an error page" if moved else ""


def _login_reason(overview: _PageOverview, addresses: _PageAddresses) -> str:
    """A page to log in: by a field for a password, or by its address and a button, and hardly any text."""
    if overview.prose > MAX_PROSE_CHARS or LOGIN_PLACE.search(addresses.requested):
        return ""
    moved, short = addresses.leads_to(LOGIN_PLACE), overview.prose < MAX_DOUBTFUL_PROSE_CHARS
    if (overview.password and (short or moved)) or (overview.buttons and short and moved):
        return "login: the page is shown only to those who log in"
    return ""


def _consent_reason(overview: _PageOverview, addresses: _PageAddresses) -> str:
    """A request for consent: by a button and its words, of which it has hardly others, and fewer if its address says so
    too.
    """
    if (
        CONSENT_PLACE.search(addresses.requested)
        or len(overview.text) > MAX_CONSENT_CHARS
        or not overview.buttons
        or _is_about_consent(overview)
    ):
        return ""
    least = CONSENT_SHARE / 2 if addresses.leads_to(CONSENT_PLACE) else CONSENT_SHARE
    return "consent: a request for consent stands in place of the page" if _share(overview.text) >= least else ""


def _is_about_consent(overview: _PageOverview) -> bool:
    """True if consent is the page's own subject."""
    return bool(overview.titles) and all(CONSENT.search(title) for title in overview.titles)


def _share(text: str) -> float:
    """The share of a text that is in sentences about consent."""
    sentences = SENTENCE.split(text)
    return sum(len(sentence) for sentence in sentences if CONSENT.search(sentence)) / (sum(map(len, sentences)) or 1)


# A link into a site that leads to its home page: what was linked is no longer there.
#
# Sites move to their home page what they do not find any more, with status 200. The page is a real one, and none that
# the link is about. Only addresses tell: a home page may be long, dated, and may say anything.

HOME_PAGE_REASON = "not found: the link leads to the site's home page"
_HOME = regex(
    r"(?:index|home|default|main|start|welcome|main[-_ ]?page|portal|homepage)(?:\d|[-_.][a-z]{2})?(?:\.\w{1,5})?",
    re.IGNORECASE,
)
"""The end of the address of a home page itself."""
_NO_PAGE = regex(
    r"docs?|documentation|wiki|blog|site|web|latest|stable|current|master|v\d[\d.]*|\d+(?:\.\d+)+|(?:19|20)\d\d",
    re.IGNORECASE,
)
"""Parts of an address that say which part of a site, or which version or year of it, and name no page."""
_TAGGED = regex(r"([a-z]{2,3})(?:[-_](?:[a-z]{2,4}|\d{3}))?", re.IGNORECASE)
_PAGE = regex(r"\d|[-_+ ].*[-_+ ]|\.\w{2,5}$")
"""One part alone names a page if it has a number, several words, or the suffix of a file."""


def home_page_reason(page: Fetched) -> str:
    """Why a page is not what its link named, if it is the home page of the same site; "" if it may be."""
    try:
        requested, final = parse_url(page.url), parse_url(page.final_url)
    except BadUrl:
        return ""
    if _site(requested) != _site(final) or LOGIN_PLACE.search(requested.target.partition("?")[0]):
        return ""
    parts, final_parts = _parts(requested), _parts(final)
    if (
        parts == final_parts
        or (final_parts and not _is_home_in(final_parts, parts))
        or _query(final)
        or "#" in page.final_url
    ):
        return ""
    names = [part for part in parts if not (_is_language(part) or _HOME.fullmatch(part) or _NO_PAGE.fullmatch(part))]
    if names:  # a query alone, as of a campaign, leads to a home page anyway
        names += _query(requested)
    return HOME_PAGE_REASON if len(names) > 1 or any(map(_PAGE.search, names)) else ""


def _site(url: Url) -> str:
    return url.host.removeprefix("www.").removeprefix("m.")


def _parts(url: Url) -> list[str]:
    """The parts of an address's path, without the end of a home page's, and without numbers of sessions."""
    names = (name.partition(";")[0] for name in url.target.partition("?")[0].split("/"))
    parts = [unquote(name) for name in names if name]
    return parts[:-1] if parts and _HOME.fullmatch(parts[-1]) else parts


def _query(url: Url) -> list[str]:
    """The parts of an address's query that may name a page."""
    return [
        parameter
        for parameter in url.target.partition("?")[2].split("&")
        if parameter and not TRACKING.match(parameter.partition("=")[0])
    ]


def _is_home_in(final_parts: list[str], parts: list[str]) -> bool:
    """True if an address leads to the home page in its own language."""
    return (
        len(final_parts) == 1 < len(parts)
        and _is_language(final_parts[0])
        and final_parts[0].lower() == parts[0].lower()
    )


def _is_language(part: str) -> bool:
    match = _TAGGED.fullmatch(part)
    return match is not None and match[1].lower() in LANGUAGE_NAMES
