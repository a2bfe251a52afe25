"""A server process: runs uvicorn over the application, and stops it without losing anything."""

from __future__ import annotations

import asyncio
import gc
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import cast

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from assay.app.assay import Assay
from assay.core.errors import UsageError
from assay.server.app import create_app
from assay.server.backend import Backend
from assay.server.guards import is_loopback
from assay.server.streams import OUTLET, Outlet

if sys.platform != "win32":
    import resource

GRACE = 8
"""Seconds that requests get to finish when the server stops; streams end at once, and their clients reconnect."""
HEADER_BYTES = 65_536
HEAD_SECONDS = 20.0
"""Seconds within which the head of a request must arrive."""
KEPT_ALIVE = 15
"""Seconds for which an idle connection is kept open."""

OTHER_FILES = 256
"""Files that a process needs besides streams: database connections, requests, the index, blobs."""
MOST_FILES = 1_048_576
"""The number of files to request where the system sets no limit."""

Told = Callable[[str], None]


class PromptProtocol(H11Protocol):
    """HTTP/1.1 with a time limit for the head of a request; a slower connection is closed."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the time limit for the first request."""
        super().connection_made(transport)
        self._outlet = Outlet(transport, self.flow)
        self.app_state = {**self.app_state, OUTLET: self._outlet}
        self._await_head()

    def data_received(self, data: bytes) -> None:
        """Receive data; if it is part of a head, the rest must arrive in time."""
        super().data_received(data)
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the time limit."""
        super().connection_lost(exc)
        self._stop_waiting()
        self._outlet.lose()

    _late: asyncio.TimerHandle | None = None

    def _await_head(self) -> None:
        if self._is_answering():
            self._stop_waiting()
        elif self._late is None:
            self._late = self.loop.call_later(HEAD_SECONDS, self._too_late)

    def _stop_waiting(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def _too_late(self) -> None:
        self._late = None
        if not self._is_answering():
            self.transport.close()

    def _is_answering(self) -> bool:
        cycle = cast("RequestResponseCycle | None", self.cycle)  # None before the first request
        return cycle is not None and not cycle.response_complete


class Server(uvicorn.Server):
    """Serves one backend. The caller handles signals, and calls `stop`."""

    def __init__(self, config: uvicorn.Config, backend: Backend) -> None:
        super().__init__(config)
        self._backend = backend

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signal handling to the caller."""
        yield

    def stop(self) -> None:
        """Accept no more requests, finish the current ones, and end."""
        self.should_exit = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End the streams before waiting for connections: some streams would never end by themselves."""
        await self._backend.end_streams()
        await super().shutdown(sockets)


def listening(host: str, port: int) -> socket.socket:
    """A socket bound to an address.

    Raises:
        UsageError: it cannot be had; the message says why.
    """
    try:
        family, kind, proto, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        made = socket.socket(family, kind, proto)
    except OSError as error:
        raise UsageError(
            f"{host} is not an address of this machine ({error.strerror or error}): use 127.0.0.1 or 0.0.0.0"
        ) from error
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(address)
    except (OSError, OverflowError) as error:
        made.close()
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise UsageError(
            f"cannot listen on {host}:{port}: {why} (--port chooses another port, 0 a free one)"
        ) from error
    made.set_inheritable(True)
    return made


def room_for_streams() -> int | None:
    """How many connections the process may have besides its other files, with its limit raised as far as possible.

    None if the system has no such limit.
    """
    if sys.platform == "win32":
        return None
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if most == resource.RLIM_INFINITY:
        most = MOST_FILES
    with suppress(OSError, ValueError):  # a limit that cannot be raised stays as it is
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    return max(resource.getrlimit(resource.RLIMIT_NOFILE)[0] - OTHER_FILES, 1)


def url_of(sock: socket.socket) -> str:
    """The address under which a browser reaches the server."""
    host, port = sock.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


async def demands_login(assay: Assay, host: str, *, no_auth: bool) -> bool:
    """Whether a server on this address requires a login: by default, if there are users.

    Raises:
        UsageError: others than this machine reach it, and there are no users.
    """
    if no_auth:
        return False
    if assay.settings.server.oidc.issuer or await assay.users.all():
        return True
    if is_loopback(host):
        return False
    raise UsageError(
        f"{host} is reached from other machines, and there are no users: make one (assay users add NAME), "
        "or let everyone in (--no-auth)"
    )


async def serve(assay: Assay, sock: socket.socket, begun: Callable[[Server], None], *, no_auth: bool = False) -> None:
    """Serve on a socket until `Server.stop`. `begun` is called with the server before its first request.

    Raises:
        UsageError: it would serve everybody, and nobody said so.
    """
    host = sock.getsockname()[0]
    login = await demands_login(assay, host, no_auth=no_auth)
    await assay.ready()
    gc.freeze()  # what is loaded now stays: else each full collection looks at it again and holds up every reader
    backend = Backend(assay)
    backend.streams.within(room_for_streams())
    config = uvicorn.Config(
        create_app(backend, host=host, login=login),
        http=PromptProtocol,
        log_config=None,
        access_log=False,
        server_header=False,
        ws="none",
        lifespan="on",
        timeout_graceful_shutdown=GRACE,
        timeout_keep_alive=KEPT_ALIVE,
        h11_max_incomplete_event_size=HEADER_BYTES,
    )
    server = Server(config, backend)
    begun(server)
    await server.serve(sockets=[sock])
