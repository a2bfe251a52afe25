"""A server of the Model Context Protocol as a source: its search tool finds, its fetch tool reads.

The tools are those that many servers offer for research (`search` and `fetch`): a search returns `{"results": [{"id",
"title", "url", "text"}]}`, a fetch by id `{"id", "title", "text", "url"}`; plain text is accepted. All content is
untrusted, like any page. A connection, or a process, is started for the first question and kept for later ones.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote

import httpx2
import msgspec

from assay.core.errors import ConfigError, FetchFailed, SearchError
from assay.core.json_decoders import DECODE_ERRORS
from assay.core.ports import Clock, Query
from assay.core.ports.models import Secret
from assay.core.remote_services import connection_problem, tls_context
from assay.core.sources import Fetched
from assay.core.web_addresses import MCP_PREFIX, is_address
from assay.search.mcp_line import ConnectionClosed, SharedConnection
from assay.search.web.http import WebHit, convert_rows

if TYPE_CHECKING:
    from mcp import Client
    from mcp.types import CallToolResult

SCHEME = MCP_PREFIX
MAX_SNIPPET_CHARS = 2_000
"""Characters of a search's snippet of a document."""


class McpAccess(msgspec.Struct, frozen=True, kw_only=True):
    """How to reach a server: by `url`, or as a process (`command` with its arguments, without the environment).

    `search` and `fetch` name its tools; an empty name means none. `seconds` and `bytes` limit one answer.
    """

    url: str = ""
    command: tuple[str, ...] = ()
    key: Secret | None = None
    search: str = "search"
    fetch: str = "fetch"
    seconds: float = 30.0
    bytes: int = 5_000_000


class _Row(msgspec.Struct):
    id: str | int | None = ""
    title: str | None = ""
    url: str | None = ""
    text: str | None = ""
    snippet: str | None = ""


class _Found(msgspec.Struct):
    results: list[msgspec.Raw]


class _UnusableAnswer(Exception):
    """The server's answer cannot be used; the message says why."""


class McpServer:
    """Implements `search.web.http.WebSearchProvider`, and reads what it found (`read`)."""

    def __init__(self, name: str, access: McpAccess, clock: Clock) -> None:
        self._name, self._access, self._clock = name, access, clock
        _check_sdk()
        self._line: SharedConnection[Client] = SharedConnection(self._client, _library_errors)

    @property
    def name(self) -> str:
        """Its name in the settings, after `mcp:`, which also begins the addresses of its documents."""
        return f"{SCHEME}{self._name}"

    async def find(self, query: Query) -> list[WebHit]:
        if not self._access.search:
            return []
        try:
            text = await self._call(self._access.search, query.text)
            return list(self._hits(text))[: query.limit]
        except _UnusableAnswer as error:
            raise SearchError(f"{self.name} {error}") from error
        except DECODE_ERRORS as error:
            raise SearchError(f"{self.name} sent results that cannot be read: {error}") from error

    async def read(self, url: str) -> Fetched:
        """Return what the fetch tool gives for a document that this server found.

        Raises:
            FetchFailed: it cannot be fetched; the reason begins with its kind.
        """
        id = unquote(url.removeprefix(f"{self.name}/"))
        if not self._access.fetch:
            raise FetchFailed(f"refused: {self.name} has no tool that reads")
        try:
            text = await self._call(self._access.fetch, id)
        except _UnusableAnswer as error:
            raise FetchFailed(f"unreachable: {self.name} {error}") from error
        row = _decode_or_none(text, _Row) or _Row(text=text)
        content = row.text or ""
        if not content.strip():
            raise FetchFailed(f"not found: {self.name} gave no text")
        address = row.url if row.url and is_address(row.url) else url
        title = " ".join((row.title or "").split())
        body = f"# {title}\n\n{content}" if title and not content.lstrip().startswith("#") else content
        return Fetched(
            url=address,
            final_url=address,
            status=0,
            media_type="text/markdown",
            body=body.encode(),
            fetched_at=self._clock.now(),
        )

    async def close(self) -> None:
        """End the connection, or the process."""
        await self._line.close()

    def _hits(self, text: str) -> Iterator[WebHit]:
        answer = _decode_or_none(text, _Found) or _Found(_decode_or_none(text, list[msgspec.Raw]) or [])
        for row in convert_rows(answer.results, _Row):
            id = "" if row.id is None else str(row.id)
            if id and self._access.fetch:
                url = f"{self.name}/{quote(id, safe='')}"
            elif row.url and is_address(row.url):
                url = row.url
            else:
                continue
            yield WebHit(url=url, title=row.title or id, snippet=(row.text or row.snippet or "")[:MAX_SNIPPET_CHARS])

    async def _call(self, tool: str, value: str) -> str:
        """The text that a tool returns.

        Raises:
            _Wrong: there is none, in time and within the limits.
        """
        try:
            async with asyncio.timeout(self._access.seconds):
                result = await self._line.ask(partial(_call_tool, tool=tool, value=value))
        except TimeoutError as error:
            raise _UnusableAnswer(f"did not answer within {self._access.seconds:g} s") from error
        except ExceptionGroup as group:
            raise _UnusableAnswer(_reason_of(group, self._access.url)) from group
        except _library_errors() as error:
            raise _UnusableAnswer(_reason_of(error, self._access.url)) from error
        if isinstance(result, _UnusableAnswer):
            raise result
        text = "\n".join(part.text for part in result.content if part.type == "text")
        if len(text) > self._access.bytes:
            raise _UnusableAnswer(f"gave more than {self._access.bytes:,} bytes")
        if result.is_error:
            raise _UnusableAnswer(f"answered: {self._hide_key(' '.join(text.split()))[:200]}")
        return text

    def _hide_key(self, text: str) -> str:
        key = self._access.key
        return text if key is None else text.replace(key.reveal(), "***")

    @asynccontextmanager
    async def _client(self) -> AsyncIterator[Client]:
        from mcp import Client, StdioServerParameters, stdio_client  # noqa: PLC0415 - an optional extra, slow to load
        from mcp.client.streamable_http import streamable_http_client  # noqa: PLC0415 - as above

        seconds = self._access.seconds
        if self._access.command:
            command, *arguments = self._access.command
            with open(os.devnull, "w") as nowhere:  # noqa: ASYNC230 - nothing there to wait for
                process = stdio_client(StdioServerParameters(command=command, args=arguments), errlog=nowhere)
                async with Client(process, read_timeout_seconds=seconds) as client:
                    yield client
            return
        key = self._access.key
        headers = {} if key is None else {"Authorization": f"Bearer {key.reveal()}"}
        transport = _LimitedTransport(self._access.bytes)
        async with httpx2.AsyncClient(transport=transport, headers=headers, timeout=seconds, trust_env=False) as http:
            connection = streamable_http_client(self._access.url, http_client=http)
            async with Client(connection, read_timeout_seconds=seconds) as client:
                yield client


class _LimitedTransport(httpx2.AsyncBaseTransport):
    """A transport that cuts answers at a number of bytes."""

    def __init__(self, max_bytes: int) -> None:
        self._inner, self._max_bytes = httpx2.AsyncHTTPTransport(verify=tls_context(from_environment=True)), max_bytes

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        response = await self._inner.handle_async_request(request)
        response.stream = _CountedStream(response.stream, self._max_bytes)
        return response

    async def aclose(self) -> None:
        await self._inner.aclose()


class _CountedStream(httpx2.AsyncByteStream):
    def __init__(self, inner: Any, max_bytes: int) -> None:
        self._inner, self._max_bytes = inner, max_bytes

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for part in self._inner:
            size += len(part)
            if size > self._max_bytes:
                raise httpx2.ReadError(f"more than {self._max_bytes:,} bytes")
            yield part

    async def aclose(self) -> None:
        await self._inner.aclose()


async def _call_tool(client: Client, tool: str, value: str) -> CallToolResult | _UnusableAnswer:
    """Call a tool; a missing tool is an answer too, not an error of the connection."""
    try:
        return await client.call_tool(tool, {await _argument(client, tool): value})
    except _UnusableAnswer as wrong:
        return wrong


async def _argument(client: Client, tool: str) -> str:
    """The name of a tool's one argument: `query` or `id` if it has that, else its first required one.

    Raises:
        _Wrong: there is no such tool.
    """
    tools = {listed_tool.name: listed_tool for listed_tool in (await client.list_tools()).tools}
    if tool not in tools:
        raise _UnusableAnswer(f"has no tool named {tool!r}; it has: {', '.join(sorted(tools)[:20]) or 'none'}")
    schema = tools[tool].input_schema
    properties = schema.get("properties") or {}
    preferred = [name for name in ("query", "id") if name in properties]
    return str((preferred or schema.get("required") or list(properties) or ["query"])[0])


def _check_sdk() -> None:
    """Make sure that the SDK is installed.

    Raises:
        ConfigError: it is not.
    """
    try:
        import mcp  # noqa: F401, PLC0415 - an optional extra
    except ImportError as error:
        raise ConfigError("MCP servers need an extra: pip install 'assay[mcp]'") from error


def _library_errors() -> tuple[type[Exception], ...]:
    from mcp import MCPError  # noqa: PLC0415 - an optional extra

    return (MCPError, httpx2.HTTPError, OSError, ConnectionClosed)


def _reason_of(error: Exception, url: str) -> str:
    """The reason in an error, or in the first of a group.

    Raises:
        ExceptionGroup: it contains more than a server's failure.
    """
    if isinstance(error, ExceptionGroup):
        _, unexpected = error.split((*_library_errors(), TimeoutError))
        if unexpected is not None:
            raise error
        return _reason_of(error.exceptions[0], url)
    return f"failed: {connection_problem(error, url)[:300]}"


def _decode_or_none(text: str, type: Any) -> Any:
    try:
        return msgspec.json.decode(text, type=type)
    except DECODE_ERRORS:
        return None
