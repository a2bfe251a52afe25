"""Which models are of one family, and who judges where nobody says so."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from assay.core.brief import Role
from assay.core.ports.models import default_judges, model_family


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("openai:gpt-5", "openai"),
        ("openai:o3-mini", "openai"),
        ("openrouter:anthropic/claude-sonnet-4.6", "anthropic"),
        ("bedrock:eu.anthropic.claude-opus-5", "anthropic"),
        ("google:gemini-3-pro", "google"),
        ("ollama:gemma3:12b", "google"),
        ("ollama:qwen3", "alibaba"),
        ("groq:llama-3.3-70b", "meta"),
        ("mistral:mixtral-8x7b", "mistral"),
        ("vllm:deepseek-ai/DeepSeek-V3", "deepseek"),
        ("mine:large", "mine"),
        ("mine:proto3-x", "mine"),  # "o3" inside a word is none
        ("extractive", "extractive"),
    ],
)
def test_the_maker_is_told_by_the_name(name: str, wanted: str) -> None:
    assert model_family(name) == wanted


GPT, MINI, CLAUDE, QWEN = "openai:gpt-5", "openai:gpt-5-mini", "anthropic:claude-opus-5", "ollama:qwen3"


@pytest.mark.parametrize(
    ("complex_", "others", "wanted"),
    [
        ([GPT], [CLAUDE], (CLAUDE, GPT)),
        ([CLAUDE], [GPT, QWEN], (GPT, QWEN, CLAUDE)),
        ([GPT], [MINI], (MINI, GPT)),  # none of another family: any is better than none
        ([GPT], [GPT], (GPT,)),
        (["openrouter:openai/gpt-5"], [MINI, CLAUDE], (CLAUDE, MINI, "openrouter:openai/gpt-5")),
        (["extractive"], ["extractive"], ("extractive",)),
        ([GPT, "extractive"], ["extractive"], (GPT,)),  # the built-in model judges nothing
    ],
)
def test_another_family_than_the_writers_judges(
    complex_: Sequence[str], others: Sequence[str], wanted: tuple[str, ...]
) -> None:
    models: dict[Role, Sequence[str]] = {"complex": complex_, "analytical": others, "simple": others}
    assert default_judges(models) == wanted
