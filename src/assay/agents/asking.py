"""Asking with a history: it is made to fit, and made shorter once more when the model says it does not."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from assay.agents.history import History
from assay.agents.sizing import room
from assay.core.brief import Role
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
) -> Reply:
    """Ask `request` with the messages of `history` and then `closing`.

    Raises:
        ModelFailed, LimitReached: as `Run.ask`; `ContextTooLong` when half the history is still too long.
    """
    tokens = room(run.profile(role), request.system, request.tools, request.max_tokens)
    fitting = msgspec.structs.replace(request, messages=history.messages(tokens, closing), passing=len(closing))
    try:
        return await run.ask(role, fitting, deltas=deltas, on_call=on_call)
    except ContextTooLong:
        shorter = msgspec.structs.replace(fitting, messages=history.messages(tokens // 2, closing))
        return await run.ask(role, shorter, deltas=deltas, on_call=on_call)
