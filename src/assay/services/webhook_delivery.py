"""Telling webhooks: what is new is found in the store, kept there as deliveries, and sent until it is heard.

Nothing is lost when a process dies: what it had not noted is found again, with the same id; what it was sending is due
again after a while. So a message may come twice, and its id says so. Several processes may tell side by side.
"""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import Sequence
from contextlib import suppress

from assay.core.errors import FetchFailed, StoreError
from assay.core.ports import Journal
from assay.core.ports.webhooks import Delivery, Poster, Webhook, WebhookStore
from assay.run.process import Tasks, together
from assay.services.webhooks import TYPES, deliveries_of, signed_headers

log = logging.getLogger(__name__)

PAUSES = (5.0, 30.0, 120.0, 600.0, 3_600.0, 10_800.0, 28_800.0, 86_400.0)
"""Seconds before a message is sent again, after the first failure, the second and so on; then it has failed."""
JITTER = 0.1
LONGEST_WAIT = 86_400.0
"""The longest a receiver may ask us to wait."""
CLAIM_SECONDS = 30.0
"""So long nobody else sends a message which we have; more than one attempt takes."""
AT_ONCE = 8
LOOK_SECONDS = 2.0
"""Between two looks into the store, where nothing is heard of news."""
REST_SECONDS = 0.25
"""Between two looks where there is news all the time."""
RUNS_AT_ONCE = 100
GONE = 410
"""The receiver wants nothing any more."""


class Teller:
    """Tells the webhooks of a home what is new, until it is cancelled."""

    def __init__(self, store: WebhookStore, journal: Journal, poster: Poster) -> None:
        """`journal` knows the runs of all."""
        self._store, self._journal, self._poster = store, journal, poster
        self._news = asyncio.Event()
        self._sending: set[asyncio.Task[None]] = set()

    async def work(self) -> None:
        """Look for what is new, and send what is due."""
        loop, tasks = asyncio.get_running_loop(), Tasks()

        def told(_run_id: str) -> None:  # from another thread
            with suppress(RuntimeError):  # the loop has ended in this moment
                loop.call_soon_threadsafe(self._news.set)

        stop = self._journal.listen(told)
        try:
            while True:
                self._news.clear()
                try:
                    webhooks = await self._store.all()
                    if webhooks:
                        await self._note(webhooks)
                        await self._send(tasks)
                except StoreError as error:
                    log.warning("webhooks: %s; trying again", error)
                    webhooks = []
                await self._pause(heed=bool(webhooks))
        finally:
            stop()
            await tasks.close()

    async def once(self) -> int:
        """Find what is new, and send all that is due now; how many messages that were.

        Raises:
            StoreError: the store cannot be read or written.
        """
        webhooks, sent = await self._store.all(), 0
        if webhooks:
            await self._note(webhooks)
            while due := await self._store.claim(AT_ONCE, CLAIM_SECONDS):
                await together(*(self._tell(delivery, webhook) for delivery, webhook in due))
                sent += len(due)
        return sent

    async def _pause(self, *, heed: bool) -> None:
        await asyncio.sleep(REST_SECONDS)
        if not heed:  # with nobody to tell, runs which go on are no news
            await asyncio.sleep(LOOK_SECONDS)
            return
        try:
            async with asyncio.timeout(LOOK_SECONDS):
                await self._news.wait()
        except TimeoutError:
            pass

    async def _note(self, webhooks: Sequence[Webhook]) -> None:
        while found := await self._store.news(TYPES, RUNS_AT_ONCE):
            made = [each for news in found for each in deliveries_of(news, webhooks)]
            await self._store.note({news.number: news.last_seq for news in found}, made)
            if len(found) < RUNS_AT_ONCE:
                return

    async def _send(self, tasks: Tasks) -> None:
        free = AT_ONCE - len(self._sending)
        if free <= 0:
            return
        for delivery, webhook in await self._store.claim(free, CLAIM_SECONDS):
            task = tasks.start(self._tell(delivery, webhook), f"webhook {webhook.id}")
            self._sending.add(task)
            task.add_done_callback(self._sent)

    def _sent(self, task: asyncio.Task[None]) -> None:
        self._sending.discard(task)
        self._news.set()  # there may be more which is due

    async def _tell(self, delivery: Delivery, webhook: Webhook) -> None:
        """One attempt, and what becomes of the message by it."""
        headers = signed_headers(delivery, webhook.secret, time.time())
        try:
            answer = await self._poster.post(webhook.url, headers, delivery.body)
        except FetchFailed as error:
            kind = str(error).partition(":")[0]
            await self._failed(delivery, 0, kind, None, for_good=kind == "blocked")
            return
        if 200 <= answer.status < 300:
            await self._store.settle(delivery.id, "sent", status=answer.status)
        elif answer.status == GONE:
            await self._store.disable(webhook.id, "gone")
        else:
            await self._failed(delivery, answer.status, "refused", answer.retry_after)

    async def _failed(
        self, delivery: Delivery, status: int, error: str, asked: float | None, *, for_good: bool = False
    ) -> None:
        if for_good or delivery.attempts > len(PAUSES):
            log.warning("webhook %s: %s was not delivered: %s", delivery.webhook, delivery.id, error)
            await self._store.settle(delivery.id, "failed", status=status, error=error)
            return
        wait = PAUSES[delivery.attempts - 1] * random.uniform(1.0, 1.0 + JITTER)
        if asked is not None:
            wait = max(wait, min(asked, LONGEST_WAIT))
        await self._store.settle(delivery.id, "waiting", status=status, error=error, wait=wait)
