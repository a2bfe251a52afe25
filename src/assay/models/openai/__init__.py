"""Services which speak OpenAI's chat completions: OpenAI, OpenRouter, vLLM, llama.cpp, Ollama, LM Studio, any other."""

from assay.models.openai.adapter import ChatCompletions, create
from assay.models.openai.services import SERVICES, Service

__all__ = ["SERVICES", "ChatCompletions", "Service", "create"]
