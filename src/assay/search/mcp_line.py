"""A connection that is opened for the first question, kept for later ones, and closed when it is idle.

The SDK requires that the task that opened a connection closes it, while questions come from many tasks, each of which
may end at any moment. So a connection lives in a thread with its own event loop, and questions are passed to it.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager, suppress
from typing import Generic, TypeVar

C = TypeVar("C")
T = TypeVar("T")

IDLE_SECONDS, CLOSE_SECONDS = 30.0, 10.0
"""Seconds without a question after which a connection is closed, and the longest its closing may take."""


class ConnectionClosed(Exception):
    """The connection has ended, or was never made, for an unknown reason."""


class SharedConnection(Generic[C]):
    """Sends questions to what `open` returns, over one connection; a new one after it has ended or failed.

    `faults` are the errors that mean that a connection cannot be made, or has failed.
    """

    def __init__(
        self,
        open: Callable[[], AbstractAsyncContextManager[C]],
        faults: Callable[[], tuple[type[Exception], ...]],
        idle: float = IDLE_SECONDS,
    ) -> None:
        self._open, self._faults, self._idle = open, faults, idle
        self._connection: _Connection[C] | None = None

    async def ask(self, question: Callable[[C], Awaitable[T]]) -> T:
        """Return the result of `question`. If a used connection fails, it is asked once more over a new one.

        Raises:
            Closed, or what `open` and `question` raise.
        """
        connection = self._connection
        if connection is not None and connection.take():
            faults: tuple[type[Exception], ...] = (ConnectionClosed, *self._faults())
            with suppress(*faults):
                return await self._ask_and_return(connection, question)
        connection = self._connection = _Connection(self._open, self._faults, self._idle)
        connection.take()
        return await self._ask_and_return(connection, question)

    async def close(self) -> None:
        """End the connection, and wait a moment for that."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.end()
            await asyncio.to_thread(connection.join, CLOSE_SECONDS)

    async def _ask_and_return(self, connection: _Connection[C], question: Callable[[C], Awaitable[T]]) -> T:
        is_complete = False
        try:
            answer = await connection.ask(question)
            is_complete = True
            return answer
        finally:
            connection.give_back()
            if (
                not is_complete
            ):  # also if the caller does not wait any more: a late answer must not reach the next question
                connection.end()
                if self._connection is connection:
                    self._connection = None


class _Connection(Generic[C]):
    """One connection, in its thread."""

    def __init__(
        self,
        open: Callable[[], AbstractAsyncContextManager[C]],
        faults: Callable[[], tuple[type[Exception], ...]],
        idle: float,
    ) -> None:
        self._open, self._faults, self._idle = open, faults, idle
        self._lock = threading.Lock()
        self._user_count, self._ended = 0, False
        self._ready: Future[tuple[asyncio.AbstractEventLoop, C]] = Future()
        self._ready.set_running_or_notify_cancel()  # a caller that stops waiting does not cancel it for others
        self._wake: tuple[asyncio.AbstractEventLoop, asyncio.Event] | None = None
        self._thread = threading.Thread(target=self._run, name="assay-line", daemon=True)
        self._thread.start()

    def take(self) -> bool:
        """Keep the connection open for a question; False if it has ended."""
        with self._lock:
            self._user_count += not self._ended
            return not self._ended

    def give_back(self) -> None:
        with self._lock:
            self._user_count -= 1

    def end(self) -> None:
        """Close it, without waiting."""
        with self._lock:
            self._ended = True
            if self._wake is not None:
                loop, event = self._wake
                loop.call_soon_threadsafe(event.set)

    def join(self, seconds: float) -> None:
        """Wait until it is closed, at most so long. Blocking."""
        self._thread.join(seconds)

    async def ask(self, question: Callable[[C], Awaitable[T]]) -> T:
        """The result of a question; call it between `take` and `give_back`.

        Raises:
            Closed, or what the connection and `question` raise.
        """
        loop, client = await asyncio.wrap_future(self._ready)

        async def ask_client() -> T:
            return await question(client)

        with self._lock:
            if self._ended:
                raise ConnectionClosed("the connection has ended")
            answer = asyncio.run_coroutine_threadsafe(ask_client(), loop)
        try:
            return await asyncio.wrap_future(answer)
        except asyncio.CancelledError:
            if _is_cancelled():
                raise
            raise ConnectionClosed(
                "the connection has ended"
            ) from None  # with another question's: this caller still waits

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        finally:
            if not self._ready.done():
                self._ready.set_exception(ConnectionClosed("the connection was not made"))

    async def _serve(self) -> None:
        loop, wake_event = asyncio.get_running_loop(), asyncio.Event()
        with self._lock:
            if self._ended:
                return
            self._wake = (loop, wake_event)
        faults: tuple[type[Exception], ...] = (ExceptionGroup, *self._faults())
        try:
            async with self._open() as client:
                self._ready.set_result((loop, client))
                await self._until_idle(wake_event)
        except faults as error:
            if not self._ready.done():
                self._ready.set_exception(error)
        finally:
            with self._lock:  # while there is a loop: a closed one must not be woken or given a question
                self._ended, self._wake = True, None
            await asyncio.sleep(0)  # what was just passed over begins, and is ended with the rest

    async def _until_idle(self, wake_event: asyncio.Event) -> None:
        while True:
            try:
                async with asyncio.timeout(self._idle):
                    await wake_event.wait()
                    return
            except TimeoutError:
                with self._lock:
                    self._ended = self._ended or not self._user_count
                    if self._ended:
                        return


def _is_cancelled() -> bool:
    """True if the running task itself is being cancelled."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
