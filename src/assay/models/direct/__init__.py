"""All other providers, each through its own client library: Anthropic, Google, Cohere, Bedrock."""

from assay.models.direct.adapter import Direct, create
from assay.models.direct.services import SERVICES, Service

__all__ = ["SERVICES", "Direct", "Service", "create"]
