"""Other providers, each with its own client library: Anthropic, Google, Cohere, Bedrock."""

from assay.models.direct.direct_adapter import Direct, create
from assay.models.direct.direct_services import SERVICES, DirectService

__all__ = ["SERVICES", "Direct", "DirectService", "create"]
