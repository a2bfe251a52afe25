"""A provider asked by its own client library, whose good answer is read past it.

The library knows how a request is written and what a refusal means. Its reading of a stream may cost many times what
the format needs; so where the answer is one, it never sees it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, aclosing

import httpx2

from assay.core.errors import ModelError, ModelFailed
from assay.core.messages import Delta, Reply, Request
from assay.models import failures
from assay.models.calls import decode
from assay.models.direct import conversation
from assay.models.direct.clients import ResponseIntercepted, watched
from assay.models.direct.conversation import Conversation, close_all
from assay.models.direct.gemini import GeminiChunk, GeminiReader
from assay.models.event_stream import events

LARGEST_EVENT = 4_000_000


class Tapping(Conversation):
    """One of Google's models on one event loop."""

    async def answer(self, request: Request) -> AsyncGenerator[Delta | Reply, None]:
        """See `Conversation.answer`."""
        reader = GeminiReader(self._service.name)
        async with aclosing(self._chunks(request)) as chunks:
            async for chunk in chunks:
                try:
                    deltas = tuple(reader.take(chunk))
                except (ModelError, ModelFailed) as error:
                    raise failures.hidden(error, self._key) from None
                for delta in deltas:
                    yield delta
        for delta in reader.end():
            yield delta
        yield reader.reply(request, self._profile.name)

    async def _chunks(self, request: Request) -> AsyncGenerator[GeminiChunk, None]:
        """All that can fail outside of us fails here; raised without its cause, which may hold the key."""
        clock = asyncio.get_running_loop().time
        failing: tuple[type[BaseException], ...] = (*conversation.RAISED, *self._client.raised)
        try:
            async with AsyncExitStack() as stack:
                stack.push_async_callback(close_all, watched())
                limit = clock() + request.first_token
                async with asyncio.timeout_at(limit):
                    response = await self._asked(request)
                stack.push_async_callback(response.aclose)
                sent = await stack.enter_async_context(aclosing(events(response, LARGEST_EVENT)))
                while True:
                    async with asyncio.timeout_at(limit):
                        data = await anext(sent, None)
                    if data is None:
                        return
                    yield decode(data, GeminiChunk)
                    limit = clock() + request.timeout
        except failing as error:
            raise conversation.told(self._service, self._key, error) from None

    async def _asked(self, request: Request) -> httpx2.Response:
        """The answer to a request which the library made."""
        try:
            async with self._open(request):
                raise ModelError(f"{self._service.name} was not asked")
        except ResponseIntercepted as answered:
            return answered.response
