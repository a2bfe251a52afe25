"""Agents may call the tools which the settings allow; of any other nobody is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay import Assay
from assay.core.errors import ConfigError
from assay.core.messages import Request
from assay.models.extractive import Extractive
from assay.settings import load

QUESTION = "When was the harbor built, and by whom?"


class Noting(Extractive):
    """The built-in model, which notes what it is asked."""

    def __init__(self) -> None:
        super().__init__()
        self.requests: list[Request] = []

    def stream(self, request: Request):  # type: ignore[no-untyped-def]
        self.requests.append(request)
        return super().stream(request)


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    (tmp_path / "n.md").write_text("# Harbor\n\nThe harbor was built in 1843 by Ada Byron.\n\nIt has two moles.\n")
    return tmp_path / "n.md"


async def asked(notes: Path, *tools: str) -> list[Request]:
    model = Noting()
    async with Assay(load(agents={"tools": tools}, model="noting"), models={"noting": model}) as assay:
        view = await assay.start(QUESTION, sources=notes, depth="light").view()
    assert "1843" in view.report.text
    return model.requests


def offered(requests: list[Request]) -> set[str]:
    return {tool.name for request in requests if request.task == "research" for tool in request.tools}


async def test_what_is_not_allowed_is_neither_offered_nor_mentioned(notes: Path):
    requests = await asked(notes, "search")
    assert offered(requests) == {"search", "done", "think"}
    for request in requests:
        text = request.system + "".join(message.text for message in request.messages)
        assert "`recall`" not in text, request.task
        assert "Open the sources" not in text
        assert "`open`" not in text, request.task
        assert "- {" not in text


async def test_what_is_allowed_is_offered_and_explained(notes: Path):
    requests = await asked(notes, "search", "open", "recall")
    assert offered(requests) == {"search", "open", "recall", "done", "think"}
    (system,) = {request.system for request in requests if request.task == "research"}
    assert "`recall` shows" in system
    assert "- Open the sources" in system
    assert "- {" not in system


async def test_without_search_the_run_fails_and_names_the_setting(notes: Path):
    for strategy in ("orchestrated", "reflective"):
        async with Assay(load(agents={"tools": "open, recall"}, strategy=strategy)) as assay:
            view = await assay.start(QUESTION, sources=notes, depth="light").view()
        assert view.status == "failed"
        assert view.error.startswith("nothing was searched, since `agents.tools` does not name `search`; add it")
        assert not view.report.text


async def test_a_tool_which_is_not_there_is_said_when_the_settings_are_used():
    with pytest.raises(ConfigError, match=r"^setting agents\.tools: no tool named 'serach'; did you mean 'search'\?;"):
        Assay(load(agents={"tools": "search, serach"}))


def test_the_file_that_names_it_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    file = tmp_path / "config.toml"
    monkeypatch.setenv("ASSAY_CONFIG", str(file))
    file.write_text('[agents]\ntools = ["serach"]\n')
    with pytest.raises(ConfigError) as refused:
        Assay()
    assert str(refused.value) == (
        f"setting agents.tools: no tool named 'serach'; did you mean 'search'? (in {file}); "
        "name only tools that are installed"
    )
    monkeypatch.setenv("ASSAY_AGENTS_TOOLS", "opne")
    with pytest.raises(ConfigError, match=r"'open'\? \(in the environment\);"):
        Assay()
