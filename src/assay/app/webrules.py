"""What a person says of the web, as rules."""

from __future__ import annotations

from collections.abc import Iterable

from assay.core.errors import UsageError
from assay.core.languages import read_country
from assay.core.urls import BadUrl, read
from assay.core.webrules import DAY, WebRules, days_of, is_below


def make_rules(
    *,
    domains: Iterable[str] = (),
    denied: Iterable[str] = (),
    since: str = "",
    until: str = "",
    country: str = "",
    fresh: bool = False,
) -> WebRules:
    """Rules as a person gives them: domains with or without `https://`, days as `2024`, `2024-05` or `2024-05-31`.

    Raises:
        UsageError: one cannot be read, `until` is before `since`, or a domain is both wanted and left out.
    """
    rules = WebRules(
        domains=tuple(dict.fromkeys(map(_domain, domains))),
        denied=tuple(dict.fromkeys(map(_domain, denied))),
        since=_day(since, last=False),
        until=_day(until, last=True),
        country=read_country(country) if country.strip() else "",
        fresh=fresh,
    )
    if rules.since and rules.until and rules.until < rules.since:
        raise UsageError(f"--until {rules.until} is before --since {rules.since}")
    for domain in rules.domains:
        if any(is_below(domain, denied) for denied in rules.denied):
            raise UsageError(f"the domain {domain} is both wanted and left out: name it once")
    return rules


def hosts(named: Iterable[str]) -> tuple[str, ...]:
    """Domains as a person gives them, as addresses write them, each once.

    Raises:
        UsageError: one is no domain.
    """
    return tuple(dict.fromkeys(map(_domain, named)))


def _domain(text: str) -> str:
    """The host which is meant, as addresses write it (small letters, Punycode)."""
    name = text.strip().removeprefix("*.").removeprefix(".")
    try:
        url = read(name if name.lower().startswith(("http://", "https://")) else f"https://{name}/")
    except BadUrl as error:
        raise UsageError(f"{text[:80]!r} is not a domain ({error}): write one such as example.org") from error
    if url.target not in ("", "/") or "." not in url.host.strip("."):
        raise UsageError(f"{text[:80]!r} is not a domain: write one such as example.org")
    return url.host.lower()


def _day(text: str, *, last: bool) -> str:
    """A day as ISO 8601; of a year or a month its first or last day."""
    if not text.strip():
        return ""
    found = DAY.fullmatch(text.strip())
    try:
        days = days_of(found) if found else None
    except ValueError:
        days = None
    if days is None:
        raise UsageError(f"{text[:40]!r} is not a date: write a day (2024-05-31), a month (2024-05) or a year")
    return days[last]
