"""Asking with a history: it is made to fit, and made shorter once more when the model says it does not."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from assay.agents.history import History
from assay.agents.windows import room, total
from assay.core.brief import Role
from assay.core.citations.reader import Reading
from assay.core.errors import ContextTooLong
from assay.core.events import Event
from assay.core.messages import Message, Reply, Request, ToolCall
from assay.run.run import Run


async def ask(
    run: Run,
    role: Role,
    history: History,
    request: Request,
    closing: Sequence[Message],
    *,
    deltas: Callable[[str], Event] | None = None,
    on_call: Callable[[int, ToolCall], None] | None = None,
    reading: Reading | None = None,
) -> Reply:
    """Ask `request` with the messages of `history` and then `closing`; the others see `Run.ask`.

    Raises:
        ModelFailed, LimitReached: as `Run.ask`; `ContextTooLong` when half of it is still too long.
    """
    tokens = room(run.profile(role), request.system, request.tools, request.max_tokens)
    fitting = msgspec.structs.replace(request, messages=history.messages(tokens, closing), passing=len(closing))
    try:
        return await run.ask(role, fitting, deltas=deltas, on_call=on_call, reading=reading)
    except ContextTooLong:
        # Its window may be far smaller than we were told: half of the window, or of what was sent and can be shortened.
        least = total(history.messages(0, closing))
        half = min(tokens, total(fitting.messages) + least) // 2
        shorter = msgspec.structs.replace(fitting, messages=history.messages(half, closing))
        return await run.ask(role, shorter, deltas=deltas, on_call=on_call, reading=reading)
