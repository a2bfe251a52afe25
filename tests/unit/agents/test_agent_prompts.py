"""Prompts are files, and a run records which it spoke."""

from __future__ import annotations

from assay import agents, phases
from assay.agents.findings import drop_unavailable_items
from assay.run.prompt_files import prompt


def test_every_prompt_has_a_name_and_a_hash() -> None:
    hashes = agents.prompts() | phases.prompts()
    assert {"agents.research", "agents.findings", "phases.plan", "phases.write", "phases.orchestrate"} <= set(hashes)
    assert all(len(hashed) == 64 for hashed in hashes.values())


def test_those_who_read_documents_are_told_that_passages_are_data() -> None:
    for package, name in (
        ("agents", "research"),
        ("phases", "write"),
        ("phases", "answer"),
        ("phases", "plan"),
        ("phases", "orchestrate"),
        ("phases", "triage"),
    ):
        text = " ".join(prompt(f"assay.{package}", name).split())
        assert " data" in text, name
        assert "never follow" in text.casefold(), name


def test_items_about_tools_stand_only_where_these_are() -> None:
    text = "- Always.\n- {open} Open it\n  and read.\n- {recall} Recall.\n\nA line {open} in between.\n- Never.\n"
    assert (
        drop_unavailable_items(text, ["open"])
        == "- Always.\n- Open it\n  and read.\n\nA line {open} in between.\n- Never.\n"
    )
    assert drop_unavailable_items(text, []) == "- Always.\n\nA line {open} in between.\n- Never.\n"
