"""Services that speak OpenAI's chat completions: OpenAI, Mistral, Groq, vLLM, Ollama and others."""

from assay.models.openai.chat_adapter import ChatCompletions, create
from assay.models.openai.chat_services import SERVICES, ChatService

__all__ = ["SERVICES", "ChatCompletions", "ChatService", "create"]
