"""One provider's model on one event loop: asked through pydantic-ai's direct API, with our limits around it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, aclosing

from pydantic_ai.direct import model_request_stream
from pydantic_ai.messages import ModelResponseStreamEvent
from pydantic_ai.models import StreamedResponse

from assay.core.messages import Delta, Profile, Reply, Request
from assay.core.secrets import Secret
from assay.models.direct import faults, request_format
from assay.models.direct.clients import Closable, client, watched
from assay.models.direct.direct_services import DirectService
from assay.models.direct.event_reader import EventReader


class Conversation:
    """The model `model` at `service`, on the running loop."""

    def __init__(
        self, model: str, service: DirectService, profile: Profile, key: Secret, signing: tuple[Secret, ...] = ()
    ) -> None:
        """Makes the client; nothing is sent yet.

        Raises:
            ModelError: the client does not take the name or the address.
            ImportError: the extra is damaged.
        """
        self._service, self._profile, self._key = service, profile, key
        try:
            self._client = client(service, model, key.reveal(), tuple(each.reveal() for each in signing))
        except faults.RAISED as error:
            raise faults.told(service, key, error) from None

    async def answer(self, request: Request) -> AsyncGenerator[Delta | Reply, None]:
        """Deltas as they come, then the reply.

        Raises:
            ModelError: the provider could not be reached, refused, stalled or broke off.
            ContextTooLong: the request does not fit the model's window.
        """
        reader = EventReader(self._service)
        response: StreamedResponse | None = None
        async with aclosing(self._events(request)) as events:
            async for event in events:
                if isinstance(event, StreamedResponse):
                    response = event
                    continue
                for delta in reader.take(event):
                    yield delta
        for delta in reader.end():
            yield delta
        assert response is not None, "the stream ended without saying so"
        yield reader.reply(request, self._profile.name, response)

    async def close(self) -> None:
        """Let go of the connections."""
        await self._client.close()

    async def _events(self, request: Request) -> AsyncGenerator[ModelResponseStreamEvent | StreamedResponse, None]:
        """The library's events, then the response they were of: all that can fail outside of us fails here.

        Raised without its cause: that holds the request's headers and the provider's words, and may hold the key.
        """
        clock = asyncio.get_running_loop().time
        failing: tuple[type[BaseException], ...] = (*faults.RAISED, *self._client.raised)
        try:
            async with AsyncExitStack() as stack:
                stack.push_async_callback(close_all, watched())  # the last thing done, and in the task which asked
                limit = clock() + request.first_token
                async with asyncio.timeout_at(limit):
                    response = await stack.enter_async_context(self._open(request))
                events = aiter(response)
                while True:
                    async with asyncio.timeout_at(limit):
                        event = await anext(events, None)
                    if event is None:
                        break
                    yield event
                    limit = clock() + request.timeout
            yield response
        except failing as error:
            raise faults.told(self._service, self._key, error) from None

    def _open(self, request: Request) -> AbstractAsyncContextManager[StreamedResponse]:
        model = self._client.model
        return model_request_stream(
            model,
            request_format.messages(request, self._service),
            model_settings=request_format.settings(request, self._service, self._profile, model.profile),
            model_request_parameters=request_format.parameters(request, model.profile),
            instrument=False,
        )


async def close_all(opened: list[Closable]) -> None:
    """Close responses, the last first."""
    while opened:
        await opened.pop().aclose()
