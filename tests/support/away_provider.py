"""A provider of OpenID Connect within the test: it never answers, or the same to every request."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from assay.server.oidc import OidcProvider
from assay.settings.server import OidcSettings


class Away:
    """A provider that accepts connections and never answers, unless `answer` is set, or a `status` other than 200."""

    def __init__(self) -> None:
        self.connections, self.answer, self.status, self.port = 0, b"", 200, 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        asked = await reader.read(4_000)
        if asked and (self.answer or self.status != 200):
            head = f"HTTP/1.1 {self.status} -\r\nContent-Length: {len(self.answer)}\r\nConnection: close\r\n\r\n"
            writer.write(head.encode() + self.answer)
        else:
            await reader.read()  # until the client gives up
        writer.close()


@asynccontextmanager
async def away() -> AsyncIterator[tuple[Away, OidcProvider]]:
    there = Away()
    server = await asyncio.start_server(there.serve, "127.0.0.1", 0)
    there.port = server.sockets[0].getsockname()[1]
    settings = OidcSettings(issuer=f"http://127.0.0.1:{there.port}", client_id="c", audience="https://a.example")
    async with server:
        yield there, OidcProvider(settings, None)


def metadata_of(provider: OidcProvider) -> bytes:
    """The metadata that the provider would publish."""
    issuer = provider.settings.issuer
    endpoints = {
        "authorization_endpoint": f"{issuer}/authorize",
        "token_endpoint": f"{issuer}/token",
        "jwks_uri": f"{issuer}/jwks",
    }
    return json.dumps({"issuer": issuer, **endpoints}).encode()
