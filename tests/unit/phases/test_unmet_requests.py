"""What the built-in model cannot do is said in the report's limits; what a writer can do is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay import Assay
from assay.core.report import Report

ENGLISH = "# Tides of Brest\n\nThe mean tidal range at Brest is 4.5 metres, and the spring tide reaches 7.3 metres.\n"
GERMAN = "# Gezeiten in Brest\n\nDer mittlere Tidenhub in Brest beträgt 4,5 Meter, und die Springtide ist höher.\n"
QUESTION = "What is the mean tidal range at Brest?"


async def report(folder: Path, text: str, question: str = QUESTION, **wanted: str) -> Report:
    (folder / "brest.md").write_text(text)
    async with Assay() as assay:
        return await assay.start(question, sources=[folder], depth="light", **wanted).report()  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "wanted", "messages"),
    [
        (ENGLISH, {}, []),
        (ENGLISH, {"language": "en"}, []),
        (ENGLISH, {"language": "de"}, ["sollte in dieser Sprache sein: Deutsch."]),
        (GERMAN, {"language": "de"}, ["die Frage ist in einer anderen Sprache (Englisch)"]),
        (ENGLISH, {"instructions": "Use bullet points."}, ["instructions were not followed"]),
        (
            ENGLISH,
            {"language": "fr", "instructions": "Be brief."},
            ["demandé en français", "Les consignes n’ont pas été suivies"],
        ),
    ],
)
async def test_what_was_not_heeded_is_said(
    text: str, wanted: dict[str, str], messages: list[str], tmp_path: Path
) -> None:
    limits = (await report(tmp_path, text, **wanted)).limits
    assert len(limits) == len(messages)
    assert all(words in limit for words, limit in zip(messages, limits, strict=True))


async def test_it_is_said_of_an_answer_at_once_too(tmp_path: Path) -> None:
    (limit,) = (await report(tmp_path, ENGLISH, mode="simple", instructions="Be brief.")).limits
    assert limit == "The instructions were not followed: the model that wrote this report, extractive, can only quote."
