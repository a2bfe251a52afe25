"""Shared by all clients of services: trusted certificates, why one cannot be reached, when to ask again, and object
stores' answers.
"""

from __future__ import annotations

import errno
import functools
import math
import socket
import ssl
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

from assay.core.clean import error_words, one_line
from assay.core.lazy import lazy_module, regex

if TYPE_CHECKING:
    import httpx2
else:
    httpx2 = lazy_module("httpx2")


@functools.cache
def tls_context(*, from_environment: bool = False) -> ssl.SSLContext:
    """The system's trusted certificates; with `from_environment`, those in `SSL_CERT_FILE` and `SSL_CERT_DIR`
    instead. Blocking.
    """
    context: ssl.SSLContext = httpx2.create_ssl_context(trust_env=from_environment)
    return context


_HOST = regex(r"[^/]*//(?:[^/?#]*@)?([^/?#@]+)")
NO_ROUTE = frozenset((errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ENETDOWN))


def connection_problem(error: BaseException, url: str) -> str:
    """Why the host of `url` cannot be reached, and what to check; for an unknown cause, the error's own words."""
    match = _HOST.match(url)
    host = match[1] if match else "its address"
    problems = (_problem(cause, host) for cause in causes_of(error))
    return next(filter(None, problems), "") or one_line(error_words(error))[:300]


def causes_of(error: BaseException | None) -> Iterator[BaseException]:
    """An error and its causes, each once, those in groups too."""
    ahead, seen = [error], set[int]()
    while ahead:
        error = ahead.pop()
        if error is not None and id(error) not in seen:
            seen.add(id(error))
            yield error
            ahead.append(error.__cause__ or error.__context__)  # the HTTP client hides the reason by "from None"
            ahead += reversed(error.exceptions) if isinstance(error, BaseExceptionGroup) else ()


def _problem(error: BaseException, host: str) -> str:
    match error:
        case socket.gaierror():
            return f"the host {host} could not be found: check the address and the network"
        case ConnectionRefusedError():
            return f"{host} refuses the connection: check the address, and that a server runs there"
        case ssl.SSLCertVerificationError():
            reason = error.verify_message
            return f"the certificate of {host} is not trusted ({reason}): check the address, and this machine's clock"
        case ssl.SSLError():
            return f"{host} does not answer in TLS: check whether its address begins with http or https"
        case TimeoutError():
            return f"{host} does not answer in time: check the address and the network"
        case ConnectionError():
            return f"{host} broke off the connection: try again later"
        case OSError() if error.errno in NO_ROUTE:
            return f"{host} cannot be reached from here: check the network"
        case Exception() if type(error).__name__ == "LocalProtocolError":  # its own words hold the header, with the key
            return f"no request to {host} can be sent with these headers: check the key, which may hold a line break"
    return ""


MAX_RETRY_CHARS = 64
"""Characters of a retry header; a longer one is ignored."""


def retry_after(headers: Mapping[str, str], now: str = "") -> float | None:
    """Seconds to wait, from `retry-after-ms` or `retry-after` (RFC 9110: seconds or a date); None if there is none.

    Names in `headers` are lower case, or looked up that way. A date is relative to `now` (ISO 8601 with a zone), or to
    this machine's clock if it is empty. A past or negative time is 0; an invalid value counts as none.
    """
    milliseconds = _parse_seconds(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after", "")
    seconds = _parse_seconds(value)
    return _seconds_until_date(value, now) if seconds is None else seconds


def _parse_seconds(text: str) -> float | None:
    try:
        value = float(text[:MAX_RETRY_CHARS])
    except ValueError:
        return None
    return max(0.0, value) if math.isfinite(value) else None


def _seconds_until_date(text: str, now: str) -> float | None:
    try:
        date = parsedate_to_datetime(text[:MAX_RETRY_CHARS])
        moment = date if date.tzinfo else date.replace(tzinfo=UTC)  # "-0000": a time in UTC with an unknown zone
        since = datetime.fromisoformat(now) if now else datetime.now(UTC)
        return max(0.0, (moment - since).total_seconds())
    except (ValueError, TypeError, OverflowError, IndexError):
        return None


LOOKED_AT = 4_000
"""Characters of an error that are read."""
NO_BUCKET = "there is no such bucket, or none you may see"
_STATUS = regex(r"\b(?:status code|status): ?(\d{3})\b")


def error_summary(error: BaseException) -> str:
    """The beginning of an error's text. It may contain keys, and is shown to nobody."""
    return str(error)[:LOOKED_AT]


def http_status(error: BaseException) -> str:
    """The HTTP status of the store's answer; "" if the error has none."""
    match = _STATUS.search(error_summary(error))
    return match[1] if match else ""


def is_no_bucket(error: BaseException, operation: str) -> bool:
    """True if the bucket is missing, rather than an object in it, when `operation` ("read") failed."""
    return "NoSuchBucket" in error_summary(error) or operation in ("written", "listed")
