"""What is refused, in OpenAI's form of an error."""

from __future__ import annotations

import msgspec
from starlette.responses import Response

from assay.server.problems import Problem

_TYPES = {404: "not_found", 429: "too_many_requests", 401: "authentication_error", 403: "permission_error"}


class ErrorBody(msgspec.Struct, frozen=True, kw_only=True):
    """What went wrong: `code` is ours, `type` one of those clients know."""

    message: str
    type: str
    param: str | None = None
    code: str | None = None


class ErrorAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The body of a refusal."""

    error: ErrorBody


def refused(problem: Problem) -> Response:
    """A problem as a client of this protocol reads it."""
    status = 400 if problem.status == 422 else problem.status  # clients know the one
    headers = {} if problem.retry_after is None else {"Retry-After": str(problem.retry_after)}
    return Response(msgspec.json.encode(fault(problem)), status, headers, "application/json")


def fault(problem: Problem) -> ErrorAnswer:
    """A problem as an error; where a field of the request is wrong, `param` names it."""
    kind = _TYPES.get(problem.status, "server_error" if problem.status >= 500 else "invalid_request")
    param = problem.errors[0].pointer.strip("/").replace("/", ".") if problem.errors else None
    code = problem.type.rpartition(":")[2].replace("-", "_")
    return ErrorAnswer(
        error=ErrorBody(message=problem.detail or problem.title, type=kind, param=param or None, code=code)
    )
