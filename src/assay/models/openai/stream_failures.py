"""The failures of chat completions which are told inside a stream."""

from __future__ import annotations

from assay.core.errors import ContextTooLong, ModelError, ModelFailed, Refused
from assay.models import failures
from assay.models.failures import ServiceFault


def of_fault(service: str, fault: ServiceFault | str) -> ModelError | ModelFailed:
    """The error which a fault told inside a stream stands for."""
    known = ServiceFault(message=fault) if isinstance(fault, str) else fault
    words = failures.shortened(known.words)
    if failures.too_long(known.text):
        return ContextTooLong(f"{service}: {words}")
    if failures.declined(known.text):
        return Refused(f"it refused to answer: {words}")
    status = known.code if isinstance(known.code, int) else known.status_code or 500
    return ModelError(f"{service} broke off: {words}", transient=known.miscalled or failures.passing(status))
