"""Which providers can be used: keys, servers on this machine, services of the user's."""

from __future__ import annotations

from pathlib import Path

import pytest
from chat_server import Answer, chat_server

from assay import settings
from assay.core.errors import ConfigError, UnknownName
from assay.services.providers import Provider, load_model, provider_access, providers

pytestmark = pytest.mark.usefixtures("file")


async def found(*names: str) -> dict[str, Provider]:
    return {each.name: each for each in await providers(settings.load(), names)}


async def test_the_built_in_model_is_always_there_and_tests_models_are_not_listed() -> None:
    everything = await found()
    assert everything["extractive"].usable
    assert "scripted" not in everything
    assert "OPENAI_API_KEY" in everything["openai"].why
    assert not everything["openai"].usable


async def test_a_server_on_this_machine_is_found(file: Path) -> None:
    with chat_server(Answer()) as server:
        file.write_text(f'[services.ollama]\nurl = "{server.url}"\n[services.mine]\nurl = "{server.url}"\n')
        everything = await found()
    assert everything["ollama"] == Provider(name="ollama", usable=True, models=("ollama:m",))
    assert everything["mine"].models == ("mine:m",)


async def test_elsewhere_only_who_is_named_is_asked(monkeypatch: pytest.MonkeyPatch, file: Path) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-planted")
    ready = (await found())["openai"]
    assert (ready.usable, ready.models) == (True, ())
    file.write_text('[services.openai]\nurl = "http://127.0.0.1:9/v1"\n')
    asked = (await found("openai"))["openai"]
    assert (asked.usable, asked.models) == (False, ())
    assert "sk-planted" not in asked.why


@pytest.mark.parametrize("name", ["extractive", "scripted"])
def test_a_service_named_like_a_built_in_model_is_refused(name: str) -> None:
    found = settings.load(services={name: {"url": "http://127.0.0.1:9/v1"}})
    with pytest.raises(ConfigError, match=f"services.{name} .* choose another name for your service"):
        load_model(found, f"{name}:large")


async def test_a_listing_which_is_none(file: Path) -> None:
    with chat_server(Answer()) as server:
        file.write_text(f'[services.mine]\nurl = "{server.url}/nowhere"\n')
        assert "404" in (await found("mine"))["mine"].why


async def test_an_unknown_name_is_said() -> None:
    with pytest.raises(UnknownName, match="did you mean 'openai'"):
        await found("opnai")


def test_an_adapter_of_its_own_stays_when_its_service_is_moved(monkeypatch: pytest.MonkeyPatch, file: Path) -> None:
    file.write_text(
        '[services.openai]\nurl = "http://127.0.0.1:9/v1"\n[services.mine]\nurl = "http://127.0.0.1:9/v1"\n'
    )
    made = {name: load_model(settings.load(), name) for name in ("openai:m", "mine:m")}
    assert [model.profile.name for model in made.values()] == ["openai:m", "mine:m"]


def test_googles_key_is_called_geminis(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", "planted")
    monkeypatch.setenv("GROQ_API_KEY", "planted-too")
    found = [provider_access(settings.load(), f"{name}:m").key for name in ("google", "groq", "mistral")]
    assert [key and key.reveal() for key in found] == ["planted", "planted-too", None]


def test_amazons_own_variables_are_honoured(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "AWS_REGION" in str(_refused("bedrock:m"))
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")
    assert "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY" in str(_refused("bedrock:m"))
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAPLANTED")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "planted-secret")
    reached = provider_access(settings.load(), "bedrock:m")
    assert (reached.region, [each.reveal() for each in reached.signing]) == (
        "eu-west-1",
        ["AKIAPLANTED", "planted-secret"],
    )
    assert "planted" not in f"{reached!r}{settings.load()!r}"
    assert load_model(settings.load(), "bedrock:m").profile.name == "bedrock:m"
    monkeypatch.setenv("AWS_BEARER_TOKEN_BEDROCK", "planted-key")
    key = provider_access(settings.load(), "bedrock:m").key
    assert key is not None
    assert key.reveal() == "planted-key"


def test_a_model_without_its_provider_is_told_how_it_is_named() -> None:
    with pytest.raises(UnknownName, match=r"no model provider named 'gpt-5'; .* \(a model is named PROVIDER:NAME\)"):
        load_model(settings.load(), "gpt-5")
    with pytest.raises(UnknownName, match=r"did you mean 'openai'\?$"):
        load_model(settings.load(), "openia:gpt-5")
    with pytest.raises(UnknownName, match=r"add \[services.NAME\] with its url: assay config edit\)$"):
        load_model(settings.load(), "mine:m")


def _refused(name: str) -> ConfigError:
    with pytest.raises(ConfigError) as raised:
        load_model(settings.load(), name)
    return raised.value
