"""What the library raises, as our errors; the key is in none of them."""

from __future__ import annotations

import httpx2
from pydantic_ai.exceptions import (
    AgentRunError,
    ModelAPIError,
    ModelConnectionError,
    ModelContextWindowExceededError,
    ModelHTTPError,
    ModelQuotaExceededError,
    ModelTimeoutError,
    UserError,
)

from assay.core.errors import ContextTooLong, ModelError, ModelFailed, Refused
from assay.core.secrets import Secret
from assay.core.waits import retry_after
from assay.models import failures
from assay.models.direct.direct_services import DirectService

MISREAD = (AttributeError, TypeError, LookupError, ValueError, AssertionError, RecursionError)
"""What client libraries raise at an answer which is not of the form they expect: they check few of its fields."""
RAISED = (AgentRunError, UserError, httpx2.HTTPError, httpx2.InvalidURL, OSError, *MISREAD)
"""All that can come out of the library by what a provider does."""


def told(service: DirectService, key: Secret, error: BaseException) -> ModelError | ModelFailed:
    """The error of ours for one of `RAISED`."""
    return failures.hidden(_told(service, error), key)


def _told(service: DirectService, error: BaseException) -> ModelError | ModelFailed:
    name = service.name
    match error:
        case TimeoutError() | ModelTimeoutError() | httpx2.TimeoutException():
            return ModelError(f"{name} did not answer in time")
        case ModelAPIError():
            return _api(service, error)
        case UserError():
            return ModelError(f"{name} cannot be asked this: {failures.shortened(str(error))}", transient=False)
        case httpx2.HTTPError() | httpx2.InvalidURL() | OSError():
            return ModelError(_unreachable(service, error))
        case AgentRunError():
            return ModelError(f"{name} broke off: {failures.shortened(str(error))}")
        case _:
            said = failures.shortened(str(error))
            return ModelError(f"{name} sent what cannot be read: {type(error).__name__}: {said}")


def _api(service: DirectService, error: ModelAPIError) -> ModelError | ModelFailed:
    name, said = service.name, _words(error.body) or error.message
    if isinstance(error, ModelContextWindowExceededError):
        return ContextTooLong(f"{name}: {failures.shortened(said)}")
    if isinstance(error, ModelQuotaExceededError):
        status = f" {error.status_code}" if isinstance(error, ModelHTTPError) else ""
        return ModelError(f"{name} answered{status}: {failures.shortened(said)}", transient=False)
    if isinstance(error, ModelHTTPError):
        wait = None if error.retry_after is None else max(0.0, error.retry_after)
        if wait is None and error.headers:
            wait = retry_after(error.headers)
        return failures.refusal(name, error.status_code, said, text=f"{said} {error.body}", retry_after=wait)
    if isinstance(error, ModelConnectionError):
        return ModelError(_unreachable(service, error))
    if failures.too_long(said):
        return ContextTooLong(f"{name}: {failures.shortened(said)}")
    if failures.declined(said):
        return Refused(f"it refused to answer: {failures.shortened(said)}")
    return ModelError(f"{name} broke off: {failures.shortened(said)}", retry_after=error.retry_after)


def _unreachable(service: DirectService, error: BaseException) -> str:
    said = failures.shortened(str(error)) or type(error).__name__
    return f"{service.name} at {service.url} cannot be reached: {said}"


def _words(body: object) -> str:
    """A provider's own words in the body of its refusal: `error.message`, `message` or `detail`, else the text."""
    if isinstance(body, dict):
        inner = body.get("error", body)
        if isinstance(inner, str):
            return inner
        found = inner if isinstance(inner, dict) else body
        said = found.get("message") or found.get("detail") or body.get("message") or ""
        return said if isinstance(said, str) else str(said)
    return body if isinstance(body, str) else ""
