from __future__ import annotations

import re
import subprocess
import sys

import pytest
from genai_prices import data_snapshot

from assay.core.messages import ModelFacts, Price
from assay.models.catalogue import HOSTED_WINDOW, LOCAL_WINDOW, PROVIDERS, create_profile


def test_a_known_model_has_its_window_and_price() -> None:
    known = create_profile("openai:gpt-4o-mini", "openai", "gpt-4o-mini", ModelFacts())
    assert known.window == 128_000
    assert known.price == Price(input=0.15, output=0.6, cached=0.075)
    assert not known.native_reasoning


def test_reading_and_writing_a_cache_have_prices_of_their_own() -> None:
    price = create_profile("anthropic:claude-sonnet-4-5", "anthropic", "claude-sonnet-4-5", ModelFacts()).price
    assert price is not None
    assert price.cached is not None
    assert price.cache_write is not None
    assert price.cached < price.input < price.cache_write


def test_an_unknown_model_works_and_costs_nobody_knows_what() -> None:
    unknown = create_profile("mine:m", "mine", "m", ModelFacts())
    assert (unknown.window, unknown.price) == (HOSTED_WINDOW, None)


def test_a_model_on_this_machine_is_free_and_its_window_small() -> None:
    local = create_profile("ollama:qwen3", "ollama", "qwen3", ModelFacts(), local=True)
    assert (local.window, local.price) == (LOCAL_WINDOW, Price(input=0.0, output=0.0))
    assert local.max_output <= local.window


def test_a_price_which_rises_with_length_is_taken_at_its_highest() -> None:
    tiered = create_profile("google:gemini-2.5-pro", "google", "gemini-2.5-pro", ModelFacts()).price
    assert tiered is not None
    assert tiered.input > 1.25


def test_the_users_word_comes_first() -> None:
    facts = ModelFacts(window=9_000, max_output=100, native_reasoning=True, price=Price(input=1, output=2))
    found = create_profile("openai:gpt-4o-mini", "openai", "gpt-4o-mini", facts)
    assert (found.window, found.max_output, found.native_reasoning) == (9_000, 100, True)
    assert found.price == Price(input=1, output=2)


@pytest.mark.parametrize(
    ("model", "reasons"),
    [
        ("o3-mini", True),
        ("gpt-5-nano", True),
        ("openai/gpt-oss-20b", True),
        ("deepseek-r1:14b", True),
        ("qwen3-235b-thinking", True),
        ("gpt-4o", False),
        ("gpt-4.1", False),
        ("qwen2.5-coder", False),
        ("photon-7b", False),
    ],
)
def test_models_which_reason_by_themselves_are_told_by_name(model: str, reasons: bool) -> None:
    assert create_profile("x", "openrouter", model, ModelFacts()).native_reasoning is reasons


def test_every_provider_of_the_table_is_known_by_its_name() -> None:
    providers = data_snapshot.get_snapshot().providers
    names = {each.id for each in providers}
    for match in (each.provider_match for each in providers if each.provider_match):
        names |= {
            name
            for name in re.findall(r"(?:contains|equals|starts_with)='([^']+)", repr(match))
            if match.is_match(name)
        }
    assert len(names) > 40
    assert [name for name in sorted(names) if not PROVIDERS.search(name)] == []


ASKED = [
    ("mine", "ModelFacts()", False),
    ("ollama", "ModelFacts()", False),
    ("openai", "ModelFacts(window=9_000, price=Price(input=1, output=2))", False),
    ("openai", "ModelFacts()", True),
]
"""Providers one after another, what is known of a model, and whether the table is there afterwards."""


def test_the_table_is_loaded_only_for_a_provider_it_may_know() -> None:
    code = "import sys; from assay.core.messages import ModelFacts, Price\n"
    code += "from assay.models.catalogue import create_profile\n"
    for provider, facts, _ in ASKED:
        code += f"create_profile('{provider}:m', '{provider}', 'm', {facts})\n"
        code += "print('genai_prices' in sys.modules, 'pydantic' in sys.modules)\n"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=True)
    assert done.stdout.splitlines() == [f"{loaded} {loaded}" for *_, loaded in ASKED]
