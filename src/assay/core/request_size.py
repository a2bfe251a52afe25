"""What a request counts before anybody has counted it."""

from __future__ import annotations

import msgspec

from assay.core.messages import Request
from assay.core.text import estimate_tokens


def input_tokens(request: Request) -> int:
    """An estimate, on the safe side, of what a request's input counts: texts, calls and tool definitions."""
    texts = [request.system, *(message.text for message in request.messages)]
    calls = [call.arguments for message in request.messages for call in message.calls]
    texts += [msgspec.json.encode([*calls, *request.tools]).decode()]
    return sum(estimate_tokens(text) for text in texts)
