"""As somebody new meets the page: an empty home, a folder of PDFs, a question, an answer which is checked."""

from __future__ import annotations

from pathlib import Path

import pytest
from pdfs import column, pdf
from screens import SKIPPED, Visit, unusable
from serving import served

pytestmark = pytest.mark.skipif(bool(SKIPPED), reason=SKIPPED or "there is one")

FILES = {
    "fairway.pdf": ("The fairway of Vendel is 12.4 metres deep.", "It was surveyed in April 2024."),
    "report.pdf": (
        "The harbour of Vendel handled 1.2 million containers in 2023.",
        "Dredging cost 4.8 million crowns.",
    ),
    "pilots.pdf": ("Ships with a draught of more than 11 metres wait for high water.", "The moles stand too close."),
}
QUESTION = "How deep is the fairway of Vendel?"


def test_from_an_empty_home_to_a_checked_answer_over_a_folder_of_pdfs(visit: Visit, tmp_path: Path) -> None:
    folder = tmp_path / "papers"
    folder.mkdir()
    for name, lines in FILES.items():
        (folder / name).write_bytes(pdf([column("Salt in the air."), column(*lines)]))
    with served(tmp_path / "home") as server:
        page = visit(server).page
        page.goto("/")
        assert "No model is set up yet" in page.locator("main").inner_text()
        page.get_by_label("What do you want to find out?").fill(QUESTION)
        page.locator(".chip.file input").set_input_files(sorted(folder.iterdir()))
        assert page.locator(".chip.file").inner_text().endswith("3 files")
        assert not page.get_by_label("The web").is_checked()  # nothing is set up for it; the files are asked
        page.get_by_role("button", name="Research", exact=True).click()
        page.wait_for_url("**/runs/*")
        page.locator("#report .cite").first.wait_for()
        assert "12.4 metres deep" in page.locator("#report").inner_text()
        assert page.locator(".glance").get_by_text("The web was not").count() == 0
        verdict = page.locator("#report .badge").first
        assert "quoted" in (verdict.get_attribute("class") or "")
        page.locator("#report .cite").first.click()
        page.locator("#source svg rect").first.wait_for()
        assert page.locator("#source h2").inner_text()
        assert page.locator("#source svg").get_attribute("aria-label") == "Page 2 as printed"
        assert unusable(page) == []
        page.keyboard.press("Escape")
        page.keyboard.press("Escape")
        page.get_by_role("button", name="Check again").click()
        page.locator("main h1").wait_for()
