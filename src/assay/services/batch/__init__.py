"""Many questions, one after another or several at once, within one total budget.

Here is the loop that starts runs and stores their results. `rows` has the lines of a file as orders, and what is left
of the total; `folder` records progress; `answer_table` has documents by questions, and such a table as CSV, Excel,
Markdown, JSON.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Literal, cast

import msgspec

from assay.core.claims import VERDICTS
from assay.core.errors import (
    AssayError,
    FenceLost,
    LeaseHeld,
    OtherRelease,
    StoreError,
    TooLittle,
    UnknownName,
    UsageError,
)
from assay.core.markers import CitationMode
from assay.core.report import build_report
from assay.core.run_options import RunOptions
from assay.core.usage import Budget, Usage
from assay.core.view import RunView
from assay.services.batch.folder import DONE_STATUSES, BatchFolder, BatchResult, Status, file_name
from assay.services.batch.rows import BadLine, BatchBudget, BatchRow, read_orders
from assay.services.daily import budget_of, narrower_budget
from assay.services.ports import Researcher
from assay.services.results import RunHandle

__all__ = ["BadLine", "Batch", "BatchBudget", "BatchFolder", "BatchResult", "BatchRow", "Terms", "read_orders"]


BatchEnd = Literal["all", "spent", "stopped"]
"""How a batch ended: all orders were tried; the total does not pay for another report; its owner ended it."""
ResultCallback = Callable[[BatchRow, BatchResult], None]


class Terms(msgspec.Struct, frozen=True, kw_only=True):
    """The options for every run of a batch.

    `total` limits the money and tokens of all together, including earlier calls with the same folder. `sources` and
    `options` are for orders without their own. Reports are files with `suffix`.
    """

    total: Budget = Budget()
    at_once: int = 2
    sources: tuple[str, ...] | None = None
    options: RunOptions = RunOptions()
    suffix: str = ".md"
    citations: CitationMode = "numbers"


class ActiveRun(msgspec.Struct, frozen=True):
    """A run of this process."""

    order: BatchRow
    handle: RunHandle


class Batch:
    """Processes orders with one `Assay`; the caller locks `folder`.

    The engine executes the runs; this loop only wakes when one has ended.
    """

    def __init__(
        self, assay: Researcher, orders: Sequence[BatchRow], folder: BatchFolder, terms: Terms, notify: ResultCallback
    ) -> None:
        self._assay, self._folder, self._terms, self._notify = assay, folder, terms, notify
        done_keys = {row.key for row in folder.results.values() if row.status in DONE_STATUSES}
        self.skipped = sum(order.key in done_keys for order in orders)
        self._waiting_orders = deque(order for order in orders if order.key not in done_keys)
        self._going: dict[str, ActiveRun] = {}
        self._news = asyncio.Event()
        self._batch_budget = BatchBudget(terms.total)
        waiting_keys = {order.key for order in self._waiting_orders}
        for row in folder.results.values():
            if row.status in DONE_STATUSES or row.key not in waiting_keys:
                self._batch_budget.add_spent(row.usd, row.tokens)
        self._is_stopped = self._left = self._is_spent = False

    @property
    def pending_count(self) -> int:
        """The number of orders for which nothing was done."""
        return len(self._waiting_orders)

    @property
    def active_count(self) -> int:
        """The number of active runs."""
        return len(self._going)

    @property
    def spending(self) -> tuple[float, int]:
        """US dollars and tokens spent so far, including earlier calls."""
        return self._batch_budget.usd, self._batch_budget.tokens

    def stop(self) -> None:
        """Start no further run; active ones finish."""
        self._is_stopped = True
        self._news.set()

    def detach(self) -> None:
        """Stop waiting; active runs can be resumed."""
        self._is_stopped = self._left = True
        self._news.set()

    async def cancel(self) -> None:
        """Cancel the runs of this process; their findings are kept."""
        for going in self._going.values():
            with contextlib.suppress(UnknownName, UsageError):  # not stored yet, or just ended
                await self._assay.control(going.handle.run_id, "cancel")

    async def work(self) -> BatchEnd:
        """Work until all orders are tried, the total is spent, or the owner stops it.

        Raises:
            StoreError: the folder or the store cannot be written; the same call continues from there.
        """
        await self._reserve_limits()
        while True:
            await self._start_orders()
            if self._left or not self._going:
                break
            await self._news.wait()
            self._news.clear()  # before looking: what ends meanwhile is news again
            for going in [active_run for active_run in self._going.values() if active_run.handle.ended]:
                del self._going[going.order.key]
                await self._finish_order(going.order, going.handle)
        if self._is_stopped and (self._waiting_orders or self._going):
            return "stopped"
        return "spent" if self._is_spent else "all"

    async def _reserve_limits(self) -> None:
        """Set aside the limits of runs that an earlier call began and that have not ended."""
        for order in self._waiting_orders:
            if run_id := self._folder.runs.get(order.key):
                with contextlib.suppress(UnknownName):
                    view = await self._assay.view(run_id)
                    self._batch_budget.hold(order.key, view.brief.budget if view.brief else Budget())

    async def _start_orders(self) -> None:
        while (
            self._waiting_orders
            and len(self._going) < self._terms.at_once
            and not self._is_stopped
            and not self._is_spent
        ):
            order = self._waiting_orders.popleft()
            try:
                handle = await self._start_or_resume(order)
            except TooLittle as error:
                if self._is_total_spent(order):
                    self._waiting_orders.appendleft(order)
                    self._is_spent = not self._going  # else what they leave of their parts may pay for it
                    return
                await self._add_failure(order, error=str(error))
            except LeaseHeld as error:
                await self._add_failure(order, error=str(error), status="running")
            except (FenceLost, OtherRelease) as error:
                await self._add_failure(order, error=str(error))
            except StoreError:
                raise
            except AssayError as error:
                await self._add_failure(order, error=str(error))
            else:
                if handle is not None:
                    self._going[order.key] = ActiveRun(order, handle)
                    handle.on_end(self._news.set)

    async def _start_or_resume(self, order: BatchRow) -> RunHandle | None:
        """Start a run for this order, or resume an earlier one; None if there is nothing to execute."""
        run_id = self._folder.runs.get(order.key, "")
        if run_id:
            try:
                return await self._resume_run(order, run_id)
            except UnknownName:  # it was never stored, or was deleted
                pass
        free = min(self._terms.at_once - len(self._going), len(self._waiting_orders) + 1)
        for slots in range(free, 0, -1):
            limit = narrower_budget(self._order_budget(order), self._batch_budget.share(slots))
            try:
                handle = self._start(order, limit)
            except TooLittle:
                if slots == 1:  # not even alone is it affordable
                    raise
                continue
            self._batch_budget.hold(order.key, limit)
            self._folder.begin(order.key, handle.run_id)  # here: after an await, part of it could be stored
            return handle
        raise AssertionError("there is always one place")

    async def _resume_run(self, order: BatchRow, run_id: str) -> RunHandle | None:
        row = await self._assay.find(run_id)
        view = await self._assay.view(row.run_id)
        waits = row.status == "waiting" and not await self._assay.is_answered(row.run_id)
        if waits or row.status in DONE_STATUSES:
            await self._save_result(order, view)
            return None
        return await self._assay.resume(row.run_id)

    def _start(self, order: BatchRow, limit: Budget) -> RunHandle:
        options: dict[str, Any] = {**self._terms.options, **order.options}
        options |= {"max_usd": limit.usd, "max_tokens": limit.tokens}
        options.setdefault("ask", "never")
        sources = self._terms.sources if order.sources is None else order.sources
        return self._assay.start(order.question, sources=sources, **cast("RunOptions", options))

    def _order_budget(self, order: BatchRow) -> Budget:
        """The limits of an order itself, or else of the settings."""
        options = order.options
        return budget_of(self._assay.settings.limits, options.get("max_usd"), options.get("max_tokens"))

    def _is_total_spent(self, order: BatchRow) -> bool:
        """True if the total leaves too little, and not the order's own limit."""
        return narrower_budget(self._order_budget(order), self._batch_budget.share(1)) != self._order_budget(order)

    async def _finish_order(self, order: BatchRow, handle: RunHandle) -> None:
        try:
            view = await handle.view()
        except (FenceLost, LeaseHeld, OtherRelease) as error:
            self._batch_budget.settle(order.key, Usage())
            await self._add_failure(order, run=handle.run_id, error=str(error), status="running")
        except StoreError:
            raise
        except AssayError as error:
            self._batch_budget.settle(order.key, Usage())
            await self._add_failure(order, run=handle.run_id, error=str(error))
        else:
            await self._save_result(order, view)

    async def _save_result(self, order: BatchRow, view: RunView) -> None:
        """Write the report to its file, and the row to the results."""
        self._batch_budget.settle(order.key, view.usage.total)
        name = ""
        if view.report.text.strip() and view.status not in ("cancelled", "paused"):
            name = file_name(order, self._terms.suffix)
            data = await self._assay.export(view.run_id, self._terms.suffix, self._terms.citations)
            await asyncio.to_thread(self._folder.save, name, data)
        report = build_report(view)
        await self._add(
            order,
            BatchResult(
                **_order_fields(order),
                run=view.run_id,
                status="running" if view.status == "created" else view.status,
                stop_reason=view.stop_reason,
                verified=view.verified,
                passed=view.passed,
                file=name,
                claims={v: count for v in VERDICTS if (count := getattr(view.summary, v))},
                sources=sum(source.number is not None for source in report.sources),
                usd=round(view.usage.total.usd, 6),
                tokens=view.usage.total.tokens,
                error=_failure_reason(view),
            ),
        )

    async def _add_failure(self, order: BatchRow, *, error: str, run: str = "", status: Status = "failed") -> None:
        """Record a row for an order without a readable run."""
        run_id = run or self._folder.runs.get(order.key, "")
        await self._add(order, BatchResult(**_order_fields(order), run=run_id, status=status, error=error))

    async def _add(self, order: BatchRow, row: BatchResult) -> None:
        await asyncio.to_thread(self._folder.add, row)
        self._notify(order, row)


def _order_fields(order: BatchRow) -> dict[str, Any]:
    return {"line": order.line, "key": order.key, "id": order.id, "question": order.question}


def _failure_reason(view: RunView) -> str:
    if view.status == "waiting":
        command = "approve" if view.waiting_for == "plan" else "answer"
        return f"it waits for {view.waiting_for}: assay runs {command} {view.run_id}, then this command again"
    return view.error
