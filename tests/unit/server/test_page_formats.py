"""The formats that the page of a report offers."""

from __future__ import annotations

import sys

import pytest

from assay.server.page.reportscreen import offered_formats


def test_only_formats_that_can_be_made_here_are_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = offered_formats()
    assert {"pdf", "docx"} <= usual.keys()
    monkeypatch.setitem(sys.modules, "typst", None)
    assert dict(offered_formats()) == {name: said for name, said in usual.items() if name != "pdf"}
    monkeypatch.setitem(sys.modules, "docx", None)
    assert list(offered_formats())[:3] == ["md", "html", "json"]
