"""Times of a run: what they are worth, and how they are written."""

from __future__ import annotations

from datetime import datetime, timedelta

from assay.core.view import RunView


def moment(at: str) -> datetime:
    """The time of an event, which is ISO 8601 UTC."""
    return datetime.fromisoformat(at)


def elapsed(view: RunView, began: str, ended: str, now: datetime) -> float:
    """Seconds from `began` to `ended` (empty: to `now`) in which somebody worked on the run; 0 before it began."""
    if not began:
        return 0.0
    start, end = moment(began), moment(ended) if ended else now
    idle = sum((_overlap(start, end, moment(p.began_at), moment(p.ended_at)) for p in view.pauses), timedelta())
    return max(0.0, (end - start - idle).total_seconds())


def _overlap(start: datetime, end: datetime, began: datetime, ended: datetime) -> timedelta:
    return max(timedelta(), min(end, ended) - max(start, began))


def clock(seconds: float) -> str:
    """`0:07`, `12:30`, `1:02:03`."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
