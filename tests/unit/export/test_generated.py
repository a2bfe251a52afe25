"""Generated files are what their generators write."""

from importlib import import_module

import generate_events
import generate_prompts
import pytest

from assay import agents, phases, verify
from assay.core.events import KINDS


@pytest.mark.parametrize("name", ["generate_events", "generate_schema", "generate_prompts"])
def test_up_to_date(name: str) -> None:
    generator = import_module(name)
    written = generator.TARGET.read_text(encoding="utf-8")
    assert written == generator.text(), f"run `python scripts/{name}.py`"


def test_every_prompt_is_shown() -> None:
    assert set(generate_prompts.PROMPTS) == {*agents.prompts(), *phases.prompts(), *verify.prompts()}


def test_every_kind_is_documented() -> None:
    page = generate_events.text()
    assert all(f"### `{kind}`\n" in page for kind in KINDS)
    assert all((cls.__doc__ or "").strip().splitlines()[0] in page for cls in KINDS.values())
