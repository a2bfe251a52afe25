"""Errors as RFC 9457 problems (`application/problem+json`): one table over the tree of errors."""

from __future__ import annotations

import logging
import math

import msgspec
from starlette.responses import Response

from assay.core import errors as known
from assay.core.errors import AssayError, NotLoggedIn, TooMany, UnknownName
from assay.core.translation import N_
from assay.core.ways import adapt_wording
from assay.services.schedules import FEED_PATH
from assay.services.stored_runs import SHARES_PATH

log = logging.getLogger(__name__)

MEDIA_TYPE = "application/problem+json"
TYPES = "urn:assay:problem:"
"""The beginning of every `type`. What follows identifies the problem, and its meaning never changes."""


class Fault(msgspec.Struct, frozen=True, kw_only=True):
    """One fault of a request: its place (a JSON pointer into the body, or a parameter's name), and what is wrong."""

    pointer: str
    detail: str


class Problem(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A problem (RFC 9457). `detail` is a sentence that tells a person what to do; `known` lists the existing names.

    `retry_after` is in seconds: the same request may succeed then.
    """

    type: str
    title: str
    status: int
    detail: str = ""
    instance: str = ""
    errors: tuple[Fault, ...] = ()
    known: tuple[str, ...] = ()
    retry_after: int | None = None


class Refusal(Exception):
    """Raised to answer a request with a problem, where the cause is no error of the library."""

    def __init__(self, problem: Problem, headers: dict[str, str] | None = None) -> None:
        super().__init__(problem.detail or problem.title)
        self.problem, self.headers = problem, headers or {}


_TITLES: dict[str, tuple[int, str]] = {
    "bad-request": (400, N_("The request cannot be read")),
    "login-needed": (401, N_("Log in first")),
    "login-failed": (401, N_("Nobody was logged in")),
    "forbidden": (403, N_("You may not do this")),
    "other-site": (403, N_("The request comes from another site")),
    "unknown-name": (404, N_("Nothing has this name")),
    "not-found": (404, N_("There is no such route")),
    "method-not-allowed": (405, N_("The route does not support this method")),
    "not-acceptable": (406, N_("None of the requested formats is available")),
    "too-slow": (408, N_("The request came too slowly")),
    "wrong-state": (409, N_("Not possible in its present state")),
    "in-progress": (409, N_("The same request is in progress")),
    "held-elsewhere": (409, N_("Another process works on it")),
    "overtaken": (409, N_("Other runs used up the limit")),
    "other-release": (409, N_("Stored by another release")),
    "changed-meanwhile": (412, N_("It was changed meanwhile")),
    "too-large": (413, N_("The request is too large")),
    "wrong-media-type": (415, N_("The body is of another media type")),
    "wrong-host": (421, N_("The server does not answer to this name")),
    "invalid": (422, N_("A value is wrong")),
    "nothing-read": (422, N_("No document could be read")),
    "key-reused": (422, N_("The key was used for another request")),
    "too-many": (429, N_("Too many at once")),
    "locked": (429, N_("Too many wrong passwords")),
    "rate-limited": (429, N_("Too many requests in a short time")),
    "bug": (500, N_("Server error")),
    "store": (500, N_("The store cannot be used")),
    "not-built": (501, N_("Not in this release")),
    "not-set-up": (501, N_("The server is not set up for this")),
    "service-failed": (502, N_("A service failed")),
    "away": (503, N_("Not available now")),
    "stopping": (503, N_("The server is stopping")),
    "disk-full": (507, N_("The disk is full")),
}

_ERRORS: tuple[tuple[type[AssayError], str], ...] = (
    (known.UnknownName, "unknown-name"),
    (known.InProgress, "in-progress"),
    (known.NotNow, "wrong-state"),
    (known.TooLarge, "too-large"),
    (known.TooMany, "too-many"),
    (known.RequestDiffers, "key-reused"),
    (known.NothingRead, "nothing-read"),
    (known.NotBuilt, "not-built"),
    (known.Overtaken, "overtaken"),
    (known.ConfigError, "not-set-up"),
    (known.UsageError, "invalid"),
    (known.NotLoggedIn, "login-failed"),
    (known.ProviderFailed, "service-failed"),
    (known.Failed, "service-failed"),
    (known.ModelError, "service-failed"),
    (known.ModelUnusable, "service-failed"),
    (known.PluginFailed, "service-failed"),
    (known.ExtractError, "nothing-read"),
    (known.NothingSearched, "nothing-read"),
    (known.StoreAway, "away"),
    (known.DiskFull, "disk-full"),
    (known.LeaseHeld, "held-elsewhere"),
    (known.OtherRelease, "other-release"),
    (known.StoreError, "store"),
    (known.IndexDamaged, "store"),
    (known.InputNeeded, "wrong-state"),
    (known.Paused, "wrong-state"),
    (known.Cancelled, "stopping"),
)
"""The first matching entry counts."""

RETRY = {"away": 5, "stopping": 2, "overtaken": 1}


DATABASE_AWAY = "the database does not answer"
DISK_FULL = "no space is left to store this: free some, then send it again; reading still works"
STORE_BROKEN = "the store cannot be read"
"""What is said to callers who may be anybody: the log has the names, addresses and folders."""


def problem(code: str, detail: str = "", **fields: object) -> Problem:
    """A problem of the table, by the end of its type."""
    status, title = _TITLES[code]
    result = Problem(type=f"{TYPES}{code}", title=title, status=status, detail=detail, retry_after=RETRY.get(code))
    return msgspec.structs.replace(result, **fields) if fields else result


DIGITS = 15


def whole_number(text: str) -> int | None:
    """A whole number as a client wrote it; None if the text is none, or has more digits than anything is counted in."""
    return int(text) if text.isdecimal() and len(text) <= DIGITS else None


def refusal(code: str, detail: str = "", **fields: object) -> Refusal:
    """The exception that makes an endpoint answer with a problem."""
    return Refusal(problem(code, detail, **fields))


def problem_of(error: AssayError, path: tuple[str, ...] | None = None) -> Problem:
    """The problem for an error of the library.

    Args:
        error: what was raised.
        path: the names in the route's path: only what is named there is "not found", other names are wrong values.
            None: every name is one of what there is not.
    """
    code = next((code for kind, code in _ERRORS if isinstance(error, kind)), "bug")
    if isinstance(error, UnknownName):
        in_path = path is None or error.name.removeprefix("@") in path
        return problem(code if in_path else "invalid", adapt_wording(str(error)), known=error.known)
    if isinstance(error, TooMany) and error.seconds is not None:
        return problem(code, adapt_wording(str(error)), retry_after=math.ceil(error.seconds))
    if isinstance(error, known.StoreAway | known.DiskFull):
        return problem(code, DISK_FULL if isinstance(error, known.DiskFull) else DATABASE_AWAY)
    if isinstance(error, NotLoggedIn) and error.retry_after:
        return problem("locked", adapt_wording(str(error)), retry_after=error.retry_after)
    return problem(code, adapt_wording(str(error)))


def failure_problem(method: str, path: str, error: AssayError, names: tuple[str, ...] | None = None) -> Problem:
    """The problem for an error that a request met, as `problem_of`; what is no fault of the client is logged."""
    fault = problem_of(error, names)
    if fault.status >= 500:
        log.warning("%s %s: %s", method, loggable_path(path), error)
    return fault


def loggable_path(path: str) -> str:
    """The path of a request for a log, without the secret of a shared report or a feed."""
    return next((f"{public}…" for public in (SHARES_PATH, FEED_PATH) if path.startswith(public)), path)


def problems() -> dict[str, tuple[int, str]]:
    """All problems: the end of the type → its status and title."""
    return dict(_TITLES)


def problem_response(problem: Problem, headers: dict[str, str] | None = None) -> Response:
    """A problem as a response."""
    response_headers = dict(headers or {})
    if problem.retry_after is not None:
        response_headers.setdefault("Retry-After", str(problem.retry_after))
    if problem.status == 401:
        response_headers.setdefault("WWW-Authenticate", 'Bearer realm="assay"')
    return Response(msgspec.json.encode(problem), problem.status, response_headers, MEDIA_TYPE)
