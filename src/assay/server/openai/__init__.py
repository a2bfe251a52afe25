"""OpenAI's protocols over runs: `/v1/responses` and `/v1/chat/completions`, with depths as models.

A client that speaks to a model this way gets research instead, without any change of its code.
"""

from assay.server.backend import RouteGroup
from assay.server.openai import chat, responses
from assay.server.openai.calls import error_response

PART = RouteGroup(prefix="/v1", routes=lambda _: (*chat.ROUTES, *responses.ROUTES), problem_handler=error_response)

__all__ = ["PART"]
