"""The failures of chat completions, read from an answer's body or from the stream."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from assay.core.errors import ContextTooLong, ModelError, ModelFailed
from assay.models import failures
from assay.models.openai.wire import Fault


class _Failure(msgspec.Struct, frozen=True):
    error: Fault | str | None = None
    message: str | None = None
    detail: str | None = None


def of_response(service: str, status: int, headers: Mapping[str, str], data: bytes) -> ModelError | ModelFailed:
    """The error which an answer other than 200 stands for."""
    fault = _read(data)
    wait = failures.retry_after(headers)
    return failures.refusal(service, status, _words(fault), text=_text(fault), retry_after=wait)


def of_fault(service: str, fault: Fault | str) -> ModelError | ModelFailed:
    """The error which a fault told inside a stream stands for."""
    known = Fault(message=fault) if isinstance(fault, str) else fault
    words = failures.shortened(_words(known))
    if failures.too_long(_text(known)):
        return ContextTooLong(f"{service}: {words}")
    status = known.code if isinstance(known.code, int) else 500
    return ModelError(f"{service} broke off: {words}", transient=failures.passing(status))


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
    return fault.message or str(fault.code or "")
