"""Checks of other packages over HTTP: a text and a run's report are held against them."""

from __future__ import annotations

from pathlib import Path

from serving import TIDES, begun, served, until

SOURCE = """
from assay.verify.evidence import ClaimSlot, SlotFinding

def find(claim, texts):
    for index, word in enumerate(claim.words):
        if word.text.lower() == "tide":
            slot = ClaimSlot(word.text, *claim.origin(index, index))
            yield SlotFinding(rule="tides_of", slot=slot, outcome="absent", veto=True)

def breaks(claim, texts):
    raise KeyError("tide table")
"""
FAULT = "the check 'broken' of the package tides_of failed on"


def installed(folder: Path) -> Path:
    """A package with a check which objects to tides, and one which fails."""
    about = folder / "tides_of-1.0.dist-info"
    about.mkdir(parents=True)
    (folder / "tides_of.py").write_text(SOURCE)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: tides_of\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[assay.checks]\ntides_of = tides_of:find\nbroken = tides_of:breaks\n")
    return folder


async def test_texts_and_runs_are_held_against_them(tmp_path: Path) -> None:
    documents = tmp_path / "documents"
    documents.mkdir()
    (documents / "tides.md").write_text(TIDES)
    site = installed(tmp_path / "site")
    scope = {"paths": [str(documents)]}
    with served(tmp_path / "home", ASSAY_SERVER_FOLDERS=str(documents), PYTHONPATH=str(site)) as server:
        async with server.client() as client:
            text = "At Brest a rise of seven metres is what the tide does ([t](tides.md))."
            checked = (await client.post("/api/v1/verify", json={"text": text, "scope": scope})).json()
            assert [(claim["rule"], claim["verdict"]) for claim in checked["claims"]] == [("tides_of", "unsupported")]
            assert [warning[: len(FAULT)] for warning in checked["warnings"]] == [FAULT]

            run = await begun(client, scope=scope)
            await until(client, run)
            again = (await client.post(f"/api/v1/runs/{run}/verify", json={})).json()
            assert again["lost"] == []
            asked = any(claim["now"] != "quoted" for claim in again["claims"])  # what stands word for word is not asked
            assert len(again["warnings"]) == asked
