"""`assay serve`."""

from __future__ import annotations

import asyncio
import signal
import socket
import webbrowser
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay import settings
from assay.cli import options
from assay.cli.exits import Exit
from assay.cli.interrupts import heeding
from assay.cli.library import opened
from assay.cli.terminal import TerminalOptions, say
from assay.core.errors import ConfigError

if TYPE_CHECKING:
    from assay.server.process import Server

MISSING = "the server's libraries are not installed: pip install 'assay[server]'"


@click.command("serve")
@click.option("--host", metavar="ADDRESS", help="Address to listen on [server.host: 127.0.0.1].")
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    metavar="N",
    help="Port to listen on [server.port: 8484]; 0 picks a free one.",
)
@click.option("--open", "opens", is_flag=True, help="Open the page in a browser.")
@click.option("--no-auth", is_flag=True, help="Serve everybody who can reach the address, as one user.")
@options.common
@click.pass_obj
def command(
    state: TerminalOptions, host: str | None, port: int | None, opens: bool, no_auth: bool, home: Path | None
) -> int:
    """Serve Assay over HTTP: runs, documents and live events, for programs and browsers.

    \b
        assay serve
        assay serve --open
        curl http://127.0.0.1:8484/api/v1/runs -H 'Content-Type: application/json' \\
             -d '{"question": "How does it work?"}'

    Runs go on whoever watches them. Ctrl-C or SIGTERM stops the server within 10 seconds; what was
    going on is taken up again when it is started again.
    """
    try:
        from assay.server import process  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise ConfigError(MISSING) from error
    configured = settings.load()
    sock = process.listening(host or configured.server.host, configured.server.port if port is None else port)
    return asyncio.run(_serve(state, sock, opens, no_auth, home, configured))


async def _serve(
    state: TerminalOptions,
    sock: socket.socket,
    opens: bool,
    no_auth: bool,
    home: Path | None,
    configured: settings.Settings,
) -> Exit:
    from assay.server import process  # noqa: PLC0415 - an extra

    ended: list[signal.Signals] = []

    def begun(server: Server) -> None:
        for number in (signal.SIGINT, signal.SIGTERM):
            heed(number, partial(stop, server, number))
        url = process.url_of(sock)
        if state.verbosity >= 0:
            say(f"Assay serves {url} (API: {url}/docs); Ctrl-C ends it")
        if opens:
            webbrowser.open(url)

    def stop(server: Server, number: signal.Signals) -> None:
        server.force_exit = bool(ended)  # the second time at once
        ended.append(number)
        server.stop()

    with heeding() as heed:
        async with opened(home, configured) as assay:
            await process.serve(assay, sock, begun, no_auth=no_auth)
    return Exit.TERMINATED if signal.SIGTERM in ended else Exit.DONE
