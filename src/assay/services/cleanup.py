"""Letting go of several things, whichever of them fails."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence


async def close_all(closers: Sequence[Callable[[], Awaitable[object]]]) -> None:
    """Call each in its order; an error is raised when all were called, with those before it as its context."""
    if not closers:
        return
    try:
        await closers[0]()
    finally:
        await close_all(closers[1:])
