"""`Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header): a request which is sent again is not done again."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import msgspec

from assay.server.problems import refusal
from assay.server.wire import RouteCall

LONGEST = 255


async def once(call: RouteCall, body: msgspec.Struct, do: Callable[[], Awaitable[str]]) -> str:
    """What `do` gives; for a request with a key, what it gave the first time.

    Raises:
        Refusal: the header is no key.
        RequestDiffers: the key came with another request before.
        InProgress: the first request is still at it.
    """
    header = call.request.headers.get("idempotency-key", "").strip()
    if not header:
        return await do()
    key = header[1:-1] if len(header) > 1 and header[0] == header[-1] == '"' else header
    if not 0 < len(key) <= LONGEST or not key.isascii() or not key.isprintable():
        raise refusal("bad-request", f"an Idempotency-Key is 1 to {LONGEST} printable ASCII characters in quotes")
    route = f"{call.request.method} {call.request.scope['path']}"
    asked = msgspec.json.encode([route, body])
    return await call.assay.once(f"{call.owner}/{key}", asked, do)
