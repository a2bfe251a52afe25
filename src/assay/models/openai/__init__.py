"""Services which speak OpenAI's chat completions: OpenAI, Mistral, Groq, vLLM, Ollama and others."""

from assay.models.openai.adapter import ChatCompletions, create
from assay.models.openai.services import SERVICES, Service

__all__ = ["SERVICES", "ChatCompletions", "Service", "create"]
