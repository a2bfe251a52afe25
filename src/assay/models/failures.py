"""The meaning of a service's refusal, in any format: try again, compact and try again, or give up."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from assay.core.errors import ContextTooLong, ModelError, ModelFailed, Refused
from assay.core.json_decoders import DECODE_ERRORS
from assay.core.lazy import regex
from assay.core.ports.models import Secret
from assay.core.remote_services import retry_after

TRANSIENT_STATUSES = frozenset((408, 409, 425, 429))
UNUSABLE_STATUSES = frozenset((401, 402, 403, 404, 429))
"""Statuses that every request will get until a person changes something, unless the trouble is temporary."""
MAX_MESSAGE_CHARS = 300
"""Code points of a service's own words in an error."""
MIN_WINDOW_TOKENS = 512
"""The smallest window in tokens that is believed."""
CUT_MARK = "…"
"""Ends what was shortened."""
MIN_KEY_LETTERS = 4
"""Fewer letters of a key than these tell nothing of it."""
REJECTED_CALL_CODE = "tool_use_failed"
"""Groq's code for a call by the model that does not match the tool: a second attempt may succeed."""

_TOO_LONG = regex(
    r"context[ _-]?(?:length|window|size)|maximum (?:context|prompt)|prompt is too long|too many (?:input )?tokens"
    r"|exceeds? the (?:available )?context|input length .{0,40} exceed|reduce the length"
    r"|input (?:token count|is too long)|exceeds the maximum number of tokens|token[ _]limit (?:was )?exceed"
    r"|exceed\w* (?:the )?(?:\w+ )?token[ _]limit|(?:prompt|input) exceeds? (?:the )?max(?:imum)? length"
    r"|range of input length|max_tokens must be at least 1, got (?:0|-\d)|`inputs` (?:tokens \+|must have less than)",
    re.IGNORECASE,
)
_TOO_LARGE = regex(r"request too large for", re.IGNORECASE)
"""Says that one request has more tokens than the service accepts in a minute: no pause helps, a shorter one does."""
_DECLINED = regex(
    r"content[ _-]?filter|content[ _-](?:management )?policy|responsible[ _]?ai[ _]?policy|usage[ _]polic(?:y|ies)"
    r"|safety (?:system|filters?|reasons)|prohibited[ _]content|flagged (?:as|for)",
    re.IGNORECASE,
)
_NO_MODEL = regex(
    r"model_not_found|(?:no such|unknown|invalid) model\b"
    r"|\bmodel\b.{0,120}\b(?:not found|does ?n[o't]{1,2} exist|not (?:exist|available|loaded))",
    re.IGNORECASE | re.DOTALL,
)
_LOADING = regex(r"loading (?:the )?model|model is (?:still |currently )?loading", re.IGNORECASE)
"""Words of llama.cpp, which listens before its model can answer."""
_NO_MEMORY = regex(
    r"requires? more (?:system )?memory|insufficient (?:system )?(?:resources|memory)|out of memory"
    r"|failed to load model|error loading model|unable to (?:allocate \w+ buffer|load model)",
    re.IGNORECASE,
)
"""Words of Ollama and LM Studio for a model that does not fit into the machine."""
_CRASHED = regex(
    r"runner process (?:has terminated|no longer running)|model runner has unexpectedly stopped|model has crashed",
    re.IGNORECASE,
)
_WINDOW = regex(
    r"context[ _-]?(?:length|window|size)\D{0,12}?(\d[\d,]{2,})|(\d[\d,]{2,})[ _-]maximum context", re.IGNORECASE
)
_UNPARSED = regex(r"Failed to parse input at pos \d+: (.+)", re.DOTALL)
"""llama.cpp's words for a call by the model that its parser does not know, with that text."""
_REPEATS = regex(r"\s*(?:[\[{]|Failed to parse input at pos )")
NOT_RUNNING = "free memory or choose a smaller model; the log of {service} says more"
_SPENT = regex(r"insufficient[_ ]quota|billing|credit", re.IGNORECASE)


class ServiceFault(msgspec.Struct, frozen=True):
    """An error in a service's form; `code` is a word or an HTTP status.

    `failed_generation` is Groq's: the text of its model that it did not accept as a call. `metadata` is OpenRouter's:
    its `raw` has what the service behind it answered.
    """

    message: str | None = None
    type: str | None = None
    code: str | int | None = None
    param: Any = None
    failed_generation: str | None = None
    status_code: int | None = None
    metadata: Any = None

    @property
    def text(self) -> str:
        """All text by which the error is classified."""
        return f"{self.message or ''} {self.code or ''} {self.type or ''} {self._raw.decode(errors='replace')}".rstrip()

    @property
    def is_rejected_call(self) -> bool:
        """True if the model answered, but the service did not accept its call as one of the tools."""
        return self.code == REJECTED_CALL_CODE or bool(self._raw_text)

    @property
    def rejected_call_text(self) -> str:
        """The model's text that the service did not accept as a call; "" if it is not given."""
        return self.failed_generation or self._raw_text

    @property
    def message_text(self) -> str:
        """The part that is shown."""
        text = self.message or str(self.code or "")
        return f"{text}: {read_fault(self._raw).message_text}" if self._raw else text

    @property
    def _raw_text(self) -> str:
        match = _UNPARSED.match(self.message or "")
        return match[1] if match else ""

    @property
    def _raw(self) -> bytes:
        raw = self.metadata.get("raw") if isinstance(self.metadata, dict) else None
        return raw.encode(errors="replace") if isinstance(raw, str) else msgspec.json.encode(raw) if raw else b""


class _Detail(msgspec.Struct, frozen=True):
    """A part of a request that FastAPI finds invalid; it repeats that part beside its message."""

    msg: str


class _Failure(msgspec.Struct, frozen=True):
    error: ServiceFault | str | None = None
    message: str | None = None
    detail: str | list[_Detail] | None = None


def response_error(service: str, status: int, headers: Mapping[str, str], data: bytes) -> ModelError | ModelFailed:
    """The error for a response with a status other than 200."""
    return fault_error(service, status, headers, read_fault(data))


def fault_error(service: str, status: int, headers: Mapping[str, str], fault: ServiceFault) -> ModelError | ModelFailed:
    """The error for a response with a status other than 200 and this fault."""
    if is_loading(status, fault):
        return ModelError(f"{service} is still loading its model ({status}): try again in a moment")
    own_message = fault.message or ""
    return status_error(
        service, status, fault.message_text, text=fault.text, own_message=own_message, retry_after=retry_after(headers)
    )


def read_fault(data: bytes) -> ServiceFault:
    """The fault in the body of a response; its text if the form is unknown."""
    try:
        failure = msgspec.json.decode(data, type=_Failure)
    except DECODE_ERRORS:
        return ServiceFault(message=data.decode(errors="replace"))
    if isinstance(failure.error, ServiceFault):
        return failure.error
    detail = failure.detail
    detail_text = detail if isinstance(detail, str) or detail is None else "; ".join(entry.msg for entry in detail)
    return ServiceFault(message=failure.error or failure.message or detail_text or "")


def status_error(
    service: str,
    status: int,
    message: str,
    *,
    text: str = "",
    own_message: str | None = None,
    retry_after: float | None = None,
) -> ModelError | ModelFailed:
    """The error for a response with `status`.

    `message` is shown, cut to `MAX_MESSAGE_CHARS` code points; `text` is classified, by default the shown text;
    `own_message` is the service's message without what others answered, by default the shown text too.
    """
    classified_text = text or message
    words = shorten_message(message)
    if (status in (400, 413, 422, 500) and is_context_too_long(classified_text)) or (
        status in (413, 429) and _TOO_LARGE.search(classified_text)
    ):
        return ContextTooLong(f"{service}: {words}")
    if status in (400, 403, 422) and is_content_refusal(classified_text):
        return Refused(f"it refused to answer: {words}")
    reason = f"{service} answered {status}" + (f": {words}" if words else "")
    transient = (
        is_temporary(status) and not (status == 429 and _SPENT.search(classified_text))
    ) or REJECTED_CALL_CODE in classified_text
    if status in (401, 403):
        reason += f"; check the key of {service} (assay config list shows whether one is set)"
    if not_running := not_running_error(service, reason, message if own_message is None else own_message):
        return not_running
    return ModelError(
        reason,
        transient=transient,
        retry_after=retry_after if transient else None,
        usable=transient or status not in UNUSABLE_STATUSES,
    )


def not_running_error(service: str, reason: str, message: str) -> ModelError | None:
    """The error if a server's message says that its model does not run: too large for the machine, or crashed.

    A message in JSON, or about the model's text, repeats what others wrote, and says nothing of it. A server starts a
    crashed model again, so that another attempt may help; nothing makes one fit.
    """
    fits = not _NO_MEMORY.search(message)
    if (fits and not _CRASHED.search(message)) or _REPEATS.match(message):
        return None
    return ModelError(f"{reason}: {NOT_RUNNING.format(service=service)}", transient=fits, usable=False)


def is_loading(status: int, fault: ServiceFault) -> bool:
    """True if a server says that it has not finished loading its model."""
    return status == 503 and _LOADING.search(fault.text) is not None


E = TypeVar("E", bound=ModelError | ModelFailed)


def hide_key(error: E, key: Secret | None) -> E:
    """`error` without the key that the service's words may repeat, whole or cut off where they were shortened."""
    if key is not None and (redacted := _redact(error.reason, key.reveal())) != error.reason:
        error.reason = redacted
        error.args = (redacted,)
    return error


def _redact(text: str, key: str) -> str:
    text = text.replace(key, "***")
    for size in range(len(key) - 1, MIN_KEY_LETTERS - 1, -1):
        text = text.replace(f"{key[:size]}{CUT_MARK}", f"***{CUT_MARK}")
    return text


def is_unknown_model(status: int, fault: ServiceFault) -> bool:
    """True if a service says that it has no model with the requested name."""
    return status in (400, 404) and _NO_MODEL.search(fault.text) is not None


def is_temporary(status: int) -> bool:
    """True if a failure with this status may be temporary."""
    return status in TRANSIENT_STATUSES or status >= 500


def is_context_too_long(text: str) -> bool:
    """True if a service's words say that a request does not fit the model's window."""
    return _TOO_LONG.search(text) is not None


def stated_window(text: str) -> int:
    """The window in tokens that a service names as it refuses too long a request; 0 for none, or an incredible one."""
    match = _WINDOW.search(text) if is_context_too_long(text) else None
    window = int(next(group for group in match.groups() if group).replace(",", "")) if match else 0
    return window if window >= MIN_WINDOW_TOKENS else 0


def is_content_refusal(text: str) -> bool:
    """True if a service's words say that it refuses to answer because of the content."""
    return _DECLINED.search(text) is not None


def shorten_message(text: str) -> str:
    """`text` in one line, cut to `MAX_MESSAGE_CHARS` code points."""
    line = " ".join(text.split())
    return line if len(line) <= MAX_MESSAGE_CHARS else line[:MAX_MESSAGE_CHARS] + CUT_MARK
