"""Generated files are what their generators write."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from assay import agents, phases, verify
from assay.core.events import KINDS

SCRIPTS = Path(__file__).parents[3] / "scripts"


def _generator(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, SCRIPTS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ["generate_events", "generate_schema", "generate_prompts"])
def test_up_to_date(name: str) -> None:
    generator = _generator(name)
    written = generator.TARGET.read_text(encoding="utf-8")
    assert written == generator.text(), f"run `python scripts/{name}.py`"


def test_every_prompt_is_shown() -> None:
    generator = _generator("generate_prompts")
    assert set(generator.PROMPTS) == {*agents.prompts(), *phases.prompts(), *verify.prompts()}


def test_every_kind_is_documented() -> None:
    page = _generator("generate_events").text()
    assert all(f"### `{kind}`\n" in page for kind in KINDS)
    assert all((cls.__doc__ or "").strip().splitlines()[0] in page for cls in KINDS.values())
