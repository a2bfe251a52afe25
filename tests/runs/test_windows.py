"""No run dies of length: every request fits the window it is for, from 8,192 tokens up, and below."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path

import msgspec
import pytest

from assay import Assay
from assay.core.brief import ROLES
from assay.core.errors import ContextTooLong
from assay.core.messages import Delta, Reply, Request, input_tokens
from assay.core.phrases import BUILT_IN_NOTE, TABLES_NOTE
from assay.models.extractive import Extractive

DOCS = Path(__file__).parents[2] / "docs"
PAGES = ("architecture", "budgets", "control", "events", "how-a-run-works", "models", "reliability", "verification")
"""Together they are about as long as the widest window here."""
SOURCES = [DOCS / f"{page}.md" for page in PAGES]
SMALLEST = 4_096
"""Below it a run ends well too, but may not find anything."""
QUESTION = "How does Assay keep a run after a crash, how are citations verified, and what does a budget hold?"


class Narrow(Extractive):
    """The built-in model behind a window which it enforces as a service would."""

    def __init__(self, window: int) -> None:
        super().__init__("narrow")
        self._profile = msgspec.structs.replace(self._profile, window=window, max_output=4_000)
        self.asked = 0
        self.too_long: list[str] = []

    async def stream(self, request: Request) -> AsyncGenerator[Delta | Reply, None]:
        self.asked += 1
        if input_tokens(request) + request.max_tokens > self.profile.window:
            self.too_long.append(request.task)
            raise ContextTooLong(f"{request.task} does not fit")
        async for item in super().stream(request):
            yield item


@pytest.mark.parametrize("window", [4_096, 8_192, 32_000])
async def test_every_request_fits(window: int) -> None:
    model = Narrow(window)
    async with Assay(models={"narrow": model}) as assay:
        run = assay.start(
            QUESTION,
            sources=SOURCES,
            depth="extended",
            models=dict.fromkeys(ROLES, ("narrow",)),
        )
        view = await run.view()
    assert view.status == "completed"
    assert model.too_long == []
    assert model.asked > 8
    if window >= SMALLEST:
        assert view.stop_reason == "done"
        assert any(claim.verdict == "quoted" for claim in view.claims)
        assert sum(map(view.report.text.count, (BUILT_IN_NOTE, TABLES_NOTE))) == 1
        assert view.report.text.count("*As of ") == 1
