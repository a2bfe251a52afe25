"""What a service's refusal means: try again, compact and try again, or give up."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import msgspec

from assay.core.errors import ContextTooLong, ModelError, ModelFailed
from assay.models.openai.wire import Fault

TRANSIENT = frozenset((408, 409, 425, 429))
LONGEST = 300
"""Code points of a service's own words in an error."""

_TOO_LONG = re.compile(
    r"context[ _-]?(?:length|window|size)|maximum (?:context|prompt)|prompt is too long|too many (?:input )?tokens"
    r"|exceeds? the (?:available )?context|input length .{0,40} exceed|reduce the length",
    re.IGNORECASE,
)
_SPENT = re.compile(r"insufficient[_ ]quota|billing|credit", re.IGNORECASE)


class _Failure(msgspec.Struct, frozen=True):
    error: Fault | str | None = None
    message: str | None = None
    detail: str | None = None


def of_response(service: str, status: int, headers: Mapping[str, str], data: bytes) -> ModelError | ModelFailed:
    """The error which an answer other than 200 stands for."""
    fault = _read(data)
    words = _words(fault)
    if status in (400, 413, 422) and _too_long(fault):
        return ContextTooLong(f"{service}: {words}")
    said = f"{service} answered {status}" + (f": {words}" if words else "")
    transient = (status in TRANSIENT or status >= 500) and not (status == 429 and _SPENT.search(_text(fault)))
    if status in (401, 403):
        said += f"; check the key of {service} (assay config list shows whether one is set)"
    return ModelError(said, transient=transient, retry_after=_retry_after(headers) if transient else None)


def of_fault(service: str, fault: Fault | str) -> ModelError | ModelFailed:
    """The error which a fault told inside a stream stands for."""
    known = Fault(message=fault) if isinstance(fault, str) else fault
    if _too_long(known):
        return ContextTooLong(f"{service}: {_words(known)}")
    status = known.code if isinstance(known.code, int) else 500
    return ModelError(f"{service} broke off: {_words(known)}", transient=status in TRANSIENT or status >= 500)


def _read(data: bytes) -> Fault:
    try:
        failure = msgspec.json.decode(data, type=_Failure)
    except (msgspec.DecodeError, RecursionError):
        return Fault(message=data.decode(errors="replace"))
    if isinstance(failure.error, Fault):
        return failure.error
    return Fault(message=failure.error or failure.message or failure.detail or "")


def _text(fault: Fault) -> str:
    return f"{fault.message or ''} {fault.code or ''} {fault.type or ''}"


def _words(fault: Fault) -> str:
    said = " ".join((fault.message or str(fault.code or "")).split())
    return said if len(said) <= LONGEST else said[:LONGEST] + "…"


def _too_long(fault: Fault) -> bool:
    return fault.code == "context_length_exceeded" or _TOO_LONG.search(_text(fault)) is not None


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait, from `retry-after-ms` or `retry-after` (RFC 9110: seconds or a date); None when not told."""
    try:
        if "retry-after-ms" in headers:
            return max(0.0, float(headers["retry-after-ms"]) / 1000)
        told = headers.get("retry-after", "")
        return max(0.0, float(told)) if told else None
    except ValueError:
        pass
    try:
        return max(0.0, (parsedate_to_datetime(headers["retry-after"]) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError, KeyError):
        return None
