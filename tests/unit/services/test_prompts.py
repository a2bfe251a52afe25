"""Texts of other packages in place of our prompts: which may, and what a brief records of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from assay import agents, phases, settings, verify
from assay.core.errors import ConfigError, UnknownName
from assay.core.sources import sha256
from assay.services import briefs
from assay.services.briefs import make_brief

ITEMS = "".join(f"- {{{place}}} Heed it.\n" for place in ("search", "open", "web", "documents", "recall", "think"))
Install = Callable[[str, str], None]


@pytest.fixture
def replace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    monkeypatch.syspath_prepend(str(tmp_path))

    def replaced(name: str, text: str) -> None:
        module = f"acme_{sha256(str(tmp_path).encode())[:12]}"
        (tmp_path / f"{module}.py").write_text(f"PROMPT = {text}\n")
        info = tmp_path / "acme_assay-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-assay\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[assay.prompts]\n{name} = {module}:PROMPT\n")

    return replaced


def test_a_brief_records_the_hash_of_the_text_which_replaces_ours(replace: Install) -> None:
    replace("phases.plan", repr("Plan as sailors do. "))
    assert briefs.replaced_texts() == {"phases.plan": "Plan as sailors do."}
    ours = agents.prompts() | phases.prompts() | verify.prompts()
    recorded = make_brief("What?", settings.load(), {}).prompts
    assert recorded == ours | {"phases.plan": sha256(b"Plan as sailors do.")}


def test_a_text_with_the_items_of_ours_is_taken(replace: Install) -> None:
    replace("agents.research", repr(ITEMS))
    assert briefs.replaced_texts() == {"agents.research": ITEMS.strip()}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (repr(ITEMS.replace("{open}", "open")), r"of the package acme-assay lacks \{open\}"),
        (repr(ITEMS + "- {memory} Look there.\n"), r"has \{memory\}, which Assay's own text lacks"),
        ("42", "is not text"),
        ("''", "is not text"),
    ],
)
def test_a_text_which_is_not_like_ours_is_refused(replace: Install, text: str, message: str) -> None:
    replace("agents.research", text)
    with pytest.raises(ConfigError, match=message):
        briefs.replaced_texts()


def test_an_unknown_prompt_is_told_the_nearest(replace: Install) -> None:
    replace("phases.writer", "'x'")
    with pytest.raises(UnknownName, match=r"no prompt named 'phases.writer'; did you mean 'phases.write'"):
        briefs.replaced_texts()
