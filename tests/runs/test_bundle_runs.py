"""Bundles of whole runs of the built-in model over this project's own pages: written, read back, and held to."""

from __future__ import annotations

from pathlib import Path

import pytest
from bundles import failing, forged, members_of

from assay import Assay
from assay.export.bundle import check_bundle

DOCS = Path(__file__).parents[2] / "docs"
PAGES = ("control", "how-a-run-works", "reliability", "verification")
QUESTIONS = ("How does a run survive kill -9?", "What does the final gate check?", "Who won the regatta of 1871?")


@pytest.mark.skipif(not DOCS.is_dir(), reason="the project's own pages are not here")
async def test_a_bundle_of_every_run_holds(tmp_path: Path) -> None:
    async with Assay(home=tmp_path / "home") as assay:
        await assay.add([DOCS / f"{page}.md" for page in PAGES])
        for question in QUESTIONS:
            run = assay.start(question)
            view = await run.view()
            data = await assay.export(run.run_id, ".zip")
            found = check_bundle(data)
            assert found.ok, (question, found.checks)
            assert (found.question, found.verified) == (question, view.verified)
            assert data == await assay.export(run.run_id, ".zip")
            if any(name.startswith("documents/") for name in members_of(data)):
                name = next(name for name in members_of(data) if name.startswith("documents/"))
                assert "documents" in failing(forged(data, {name: members_of(data)[name].replace(b"e", b"a", 1)}))
