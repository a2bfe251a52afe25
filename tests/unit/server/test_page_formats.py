"""The formats that the page of a report offers, and that the API lists."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from assay.server.api.system import list_formats
from assay.server.page.reportscreen import offered_formats


def test_only_formats_that_can_be_made_here_are_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = offered_formats()
    assert {"pdf", "docx"} <= usual.keys()
    monkeypatch.setitem(sys.modules, "typst", None)
    assert dict(offered_formats()) == {name: said for name, said in usual.items() if name != "pdf"}
    monkeypatch.setitem(sys.modules, "docx", None)
    assert list(offered_formats())[:3] == ["md", "html", "json"]


async def test_the_api_lists_what_can_be_made_now(monkeypatch: pytest.MonkeyPatch) -> None:
    call: Any = None
    usual = await list_formats(call)
    assert sorted(usual.available) == sorted(usual.reports)
    monkeypatch.setitem(sys.modules, "typst", None)
    now = await list_formats(call)
    assert now.reports == usual.reports
    assert set(usual.available) - set(now.available) == {"pdf"}
