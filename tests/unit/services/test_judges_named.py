"""Who judges: whom the caller names, whom the settings name, else one of another family than the writer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay import settings
from assay.cli.main import main
from assay.cli.run_options import _models
from assay.core.brief import Role
from assay.services.briefs import make_brief


def written(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str) -> settings.Settings:
    (tmp_path / "config.toml").write_text(text)
    monkeypatch.setenv("ASSAY_CONFIG", str(tmp_path / "config.toml"))
    return settings.load()


def judge_of(loaded: settings.Settings, **models: tuple[str, ...]) -> tuple[str, ...]:
    named: dict[Role, tuple[str, ...]] = models  # type: ignore[assignment]
    return make_brief("What?", loaded, {"models": named}).models["judge"]


def test_from_the_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert settings.load().roles()["judge"] == ("extractive",)
    loaded = written(monkeypatch, tmp_path, 'model = ["openai:gpt-5", "anthropic:claude-opus-5"]\n')
    assert loaded.roles()["judge"] == ("anthropic:claude-opus-5", "openai:gpt-5")
    assert loaded.roles()["complex"] == ("openai:gpt-5", "anthropic:claude-opus-5")
    loaded = written(monkeypatch, tmp_path, '[models]\nanalytical = ["ollama:qwen3"]\ncomplex = ["openai:gpt-5"]\n')
    assert loaded.roles()["judge"] == ("ollama:qwen3", "openai:gpt-5")


def test_who_is_named_wins(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    loaded = written(
        monkeypatch, tmp_path, 'model = ["openai:gpt-5", "ollama:qwen3"]\n[models]\njudge = ["openai:o3"]\n'
    )
    assert judge_of(loaded) == ("openai:o3",)
    assert judge_of(loaded, complex=("ollama:qwen3",)) == ("openai:o3",)
    assert judge_of(loaded, judge=("groq:llama-4",)) == ("groq:llama-4",)


def test_models_of_a_call_count_before_the_choice() -> None:
    loaded = settings.load()
    assert judge_of(loaded, complex=("openai:gpt-5",), analytical=("google:gemini-3",)) == (
        "google:gemini-3",
        "openai:gpt-5",
    )


def test_on_the_command_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def named(*values: str) -> dict[Role, tuple[str, ...]]:
        return _models(None, None, values)  # type: ignore[arg-type]

    assert named("a:b") == dict.fromkeys(("simple", "analytical", "complex"), ("a:b",))
    assert named("a:b", "judge=c:d")["judge"] == ("c:d",)
    assert judge_of(settings.load(), **named("openai:gpt-5", "complex=anthropic:claude")) == (
        "openai:gpt-5",
        "anthropic:claude",
    )
    assert judge_of(settings.load(), **named("openai:gpt-5")) == ("openai:gpt-5",)


def test_the_prompts_of_verification_are_recorded() -> None:
    assert len(make_brief("What?", settings.load(), {}).prompts["verify.judge"]) == 64


def test_who_plays_which_role_is_shown(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    written(monkeypatch, tmp_path, 'model = ["openai:gpt-5", "anthropic:claude-opus-5"]\n')
    assert main(["models", "--roles"]) == 0
    judge = next(line for line in capsys.readouterr().out.splitlines() if "judge" in line)
    assert "anthropic:claude-opus-5, openai:gpt-5" in judge
    assert "another family" in judge
    assert main(["models", "--roles", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["judge"] == ["anthropic:claude-opus-5", "openai:gpt-5"]
