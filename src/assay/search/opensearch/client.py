"""A client for OpenSearch's REST interface: requests, errors, and bulk writing within its limits.

After https://docs.opensearch.org/latest/api-reference/.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar
from urllib.parse import unquote, urlsplit, urlunsplit

import httpx2
import msgspec

from assay.core.errors import ConfigError, SearchAway, SearchError
from assay.core.json_decoders import DECODE_ERRORS
from assay.core.remote_services import connection_problem, retry_after, tls_context

TIMEOUT_SECONDS = 60.0
BULK_BYTES, BULK_ACTIONS = 5_000_000, 2_000
"""The most bytes or actions of a bulk request."""
ATTEMPTS = 8
FIRST_PAUSE, MAX_PAUSE_SECONDS = 0.25, 30.0
"""Seconds before the second attempt, doubling each time; and the longest pause."""
RETRY_STATUSES = frozenset((429, 502, 503, 504))
"""Statuses that say that the same request may succeed later."""
T = TypeVar("T")
Sleep = Callable[[float], None]
Action = tuple[Mapping[str, Any], Mapping[str, Any]]
"""An action of a bulk request, and its document."""


class NoIndex(SearchError):
    """There is no index with that name."""


class _Reason(msgspec.Struct, frozen=True):
    type: str = ""
    reason: str = ""


class _ErrorAnswer(msgspec.Struct, frozen=True):
    error: _Reason | str = ""


class _ItemResult(msgspec.Struct, frozen=True):
    status: int
    error: _Reason = _Reason()


class _Bulk(msgspec.Struct, frozen=True):
    errors: bool
    items: list[dict[str, _ItemResult]]


class _Failure(msgspec.Struct, frozen=True):
    cause: _Reason = _Reason()


class _DeleteAnswer(msgspec.Struct, frozen=True):
    """The result of deleting by a query."""

    timed_out: bool = False
    version_conflicts: int = 0
    failures: tuple[_Failure, ...] = ()


class OpenSearchClient:
    """Requests to one OpenSearch; it waits and retries if the answer asks for that. Thread-safe.

    `address` may contain the login: https://USER:PASSWORD@HOST:9200. A request has so many `attempts`.
    """

    def __init__(self, address: str, sleep: Sleep = time.sleep, attempts: int = ATTEMPTS) -> None:
        parts = urlsplit(address)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ConfigError("search.opensearch is not an address: set it to https://USER:PASSWORD@HOST:9200")
        login = (unquote(parts.username), unquote(parts.password or "")) if parts.username else None
        self.host = parts.netloc.rpartition("@")[2]
        base = urlunsplit((parts.scheme, self.host, parts.path.rstrip("/"), "", ""))
        verify = tls_context() if parts.scheme == "https" else True
        self._client = httpx2.Client(base_url=base, auth=login, timeout=TIMEOUT_SECONDS, trust_env=False, verify=verify)
        self._sleep = sleep
        self._pauses = [min(FIRST_PAUSE * 2**attempt, MAX_PAUSE_SECONDS) for attempt in range(attempts - 1)]

    def close(self) -> None:
        self._client.close()

    def call(self, method: str, path: str, body: object = None) -> dict[str, Any]:
        """Return the answer to a request with this JSON.

        Raises:
            NoIndex: the index does not exist.
            SearchAway: it cannot be reached, or stays too busy.
            SearchError: it refuses.
        """
        content = b"" if body is None else msgspec.json.encode(body)
        return _decode(self._answer(method, path, content, "application/json"), dict[str, Any])

    def bulk(self, actions: Iterable[Action]) -> None:
        """Write documents; those rejected for now are written again, after a pause.

        Raises:
            SearchError: a document is refused, or OpenSearch stays too busy.
        """
        for lines in _bulk_requests(actions):
            self._write(lines)

    def _write(self, lines: Sequence[bytes]) -> None:
        for pause in (*self._pauses, None):
            answer = self._answer("POST", "/_bulk", b"".join(lines), "application/x-ndjson")
            results = [next(iter(item.values())) for item in _decode(answer, _Bulk).items]
            refused = next(
                (result for result in results if result.status >= 400 and result.status not in RETRY_STATUSES), None
            )
            if refused is not None:
                raise SearchError(f"OpenSearch at {self.host} refuses a document: {refused.error.reason}")
            lines = [line for line, result in zip(lines, results, strict=True) if result.status in RETRY_STATUSES]
            if not lines:
                return
            if pause is not None:
                self._sleep(pause)
        raise SearchAway(f"OpenSearch at {self.host} is too busy to take documents: try again later")

    def delete(self, index: str, query: Mapping[str, Any]) -> None:
        """Delete what matches. What others changed meanwhile, and what failed, is retried after a pause.

        Raises:
            NoIndex: the index does not exist.
            SearchError: something is still there in the end.
        """
        outcome = _DeleteAnswer()
        for pause in (*self._pauses, None):
            path = f"/{index}/_delete_by_query?conflicts=proceed&refresh=true"
            answer = self._answer("POST", path, msgspec.json.encode({"query": query}), "application/json")
            outcome = _decode(answer, _DeleteAnswer)
            if not (outcome.version_conflicts or outcome.failures or outcome.timed_out):
                return
            if pause is not None:
                self._sleep(pause)
        why = (
            outcome.failures[0].cause.reason
            if outcome.failures
            else f"{outcome.version_conflicts} were changed meanwhile"
        )
        raise SearchAway(f"OpenSearch at {self.host} does not delete documents of {index} ({why}): try again later")

    def _answer(self, method: str, path: str, content: bytes, kind: str) -> bytes:
        problem = ""
        for pause in (*self._pauses, None):
            try:
                answer = self._client.request(method, path, content=content, headers={"content-type": kind})
            except httpx2.HTTPError as error:
                problem = connection_problem(error, f"//{self.host}")
                raise SearchAway(f"OpenSearch at {self.host} cannot be reached: {problem}") from error
            if answer.status_code < 400:
                return answer.content
            problem = self._error_reason(answer)
            if answer.status_code not in RETRY_STATUSES:
                raise SearchError(problem)
            if pause is not None:
                self._sleep(max(pause, min(retry_after(answer.headers) or 0.0, MAX_PAUSE_SECONDS)))
        raise SearchAway(problem)

    def _error_reason(self, answer: httpx2.Response) -> str:
        """The fault, for a reader; raises errors that the caller distinguishes."""
        try:
            problem = msgspec.json.decode(answer.content, type=_ErrorAnswer).error
        except DECODE_ERRORS:
            problem = answer.text.strip()[:200]
        kind, reason = ("", problem) if isinstance(problem, str) else (problem.type, problem.reason)
        if answer.status_code == 404 and kind == "index_not_found_exception":
            raise NoIndex(f"OpenSearch at {self.host}: {reason}")
        if answer.status_code in (401, 403):
            text = "refuses the login" if answer.status_code == 401 else f"does not allow it ({reason})"
            return f"OpenSearch at {self.host} {text}: check the user and password in search.opensearch"
        return f"OpenSearch at {self.host} answered {answer.status_code}: {f'{kind}: {reason}'.strip(': ')}"


def _decode(answer: bytes, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(answer or b"{}", type=kind)
    except DECODE_ERRORS as error:
        raise SearchError(f"OpenSearch gave an answer that cannot be read ({error})") from error


def _bulk_requests(actions: Iterable[Action]) -> Iterator[list[bytes]]:
    lines: list[bytes] = []
    size = 0
    for action, document in actions:
        line = msgspec.json.encode(action) + b"\n" + msgspec.json.encode(document) + b"\n"
        if lines and (size + len(line) > BULK_BYTES or len(lines) >= BULK_ACTIONS):
            yield lines
            lines, size = [], 0
        lines.append(line)
        size += len(line)
    if lines:
        yield lines
