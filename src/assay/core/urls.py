"""Web addresses: how they are read, and when two of them are the same page.

Read as browsers do (WHATWG URL Standard), so that no notation of a host can mean one thing here and another where the
connection is made. An address is fetched and cited as it was found; it is compared in its canonical form.
"""

from __future__ import annotations

import re
from functools import lru_cache

import ada_url
import msgspec

LONGEST = 8_000
"""Characters; no page needs more, and servers refuse it."""
SCHEMES = {"http:": 80, "https:": 443}
TRACKING = re.compile(
    r"^(?:utm_\w+|fbclid|gclid|gclsrc|dclid|gbraid|wbraid|msclkid|yclid|twclid|ttclid|igshid|mc_[ce]id|mkt_tok|_hsenc|_hsmi"
    r"|vero_id|oly_(?:anon|enc)_id|_openstat|wickedid|s_cid|ref_src)$",
    re.IGNORECASE,
)
_SIGNS = re.compile(r"[\x00-\x20\x7f]")


class Url(msgspec.Struct, frozen=True):
    """An address taken apart: `href` is how it is asked for (no fragment, no user), `host` without brackets."""

    href: str
    scheme: str
    host: str
    port: int
    target: str

    @property
    def origin(self) -> str:
        """Scheme, host and port: what robots.txt and politeness go by."""
        return f"{self.scheme}://{self._named}:{self.port}"

    @property
    def authority(self) -> str:
        """The host as an address writes it, with the port where that is not the scheme's own."""
        return self._named if self.port == SCHEMES[f"{self.scheme}:"] else f"{self._named}:{self.port}"

    @property
    def _named(self) -> str:
        return f"[{self.host}]" if ":" in self.host else self.host


class BadUrl(ValueError):
    """The text is no address of a web page; the message says why."""


@lru_cache(maxsize=512)
def read(text: str, base: str = "") -> Url:
    """An address, perhaps relative to `base`.

    Raises:
        BadUrl: it is none, is not http or https, names a user, or is too long.
    """
    text = text.strip(" \t\r\n\f")
    if len(text) > LONGEST:
        raise BadUrl(f"an address of more than {LONGEST:,} characters")
    if not base and _SIGNS.search(text):
        raise BadUrl("an address with control characters or spaces")
    try:
        url = ada_url.URL(text, base) if base else ada_url.URL(text)
    except (ValueError, UnicodeEncodeError) as error:
        raise BadUrl("not an address") from error
    if url.protocol not in SCHEMES:
        raise BadUrl(f"not http or https, but {url.protocol[:20]}")
    if url.username or url.password:
        raise BadUrl("an address which names a user or a password")
    if not url.hostname.strip("."):
        raise BadUrl("an address without a host")
    url.hash = ""
    if len(url.href) > LONGEST:  # what it spells out takes up to nine times the room
        raise BadUrl(f"an address of more than {LONGEST:,} characters")
    return Url(
        href=url.href.removesuffix("#"),
        scheme=url.protocol[:-1],
        host=url.hostname.strip("[]").rstrip("."),
        port=int(url.port) if url.port else SCHEMES[url.protocol],
        target=url.pathname + url.search,
    )


def canonical(text: str) -> str:
    """The form in which addresses are compared; what is no address stays itself.

    The host is in lower case; default port, fragment, and the parameters which only say where a reader came from are
    gone. The rest of the query is kept as it stands.
    """
    try:
        url = read(text)
    except BadUrl:
        return text
    path, question, query = url.target.partition("?")
    kept = [part for part in query.split("&") if part and not TRACKING.match(part.partition("=")[0])]
    return f"{url.scheme}://{url.authority}{path}" + (question + "&".join(kept) if kept else "")
