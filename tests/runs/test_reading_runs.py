"""Documents as they are written: the built-in model answers from what says something, and knows what that is about."""

from __future__ import annotations

import json
from pathlib import Path

import assay
from assay.core.report import Report

MANUAL = """# The pump

## Contents

- [How often the filter must be changed](#filter)
- [How often the oil must be changed](#oil)
- [How often the valves must be cleaned](#valves)

## Filter

Change it every 300 hours of work, and after each flood.

## Oil

The pump holds two litres. Fresh oil is due every 900 hours.

## Valves

Clean them each spring with warm water.
"""
OPTIONS = """# tidal

The program reads tables of tides.

--harbour
    Names the harbour whose tides are read. It is asked for where it is not given. A list of them comes with the
    program. Unknown ones end it. The default is Brest, whose gauge is the oldest.

--days
    Says how many days are printed. They begin today. More than a year of them is refused by it. Nothing is rounded.
    The default is seven.
"""
PORTS = """# Ports

| Port | Least depth at low water | Berths |
|---|---|---|
| Goole | 5.2 m | 14 |
| Whitby | 1.8 m | 9 |
"""
PROFILES = {
    "Ruritania": "Geography - Area (total): 1,234 sq km\nGeography - Coastline: 56 km\nPeople - Median age: 41.2 years",
    "Syldavia": "Geography - Area (total): 9,876 sq km\nGeography - Coastline: 0 km\nPeople - Median age: 29.8 years",
}
SHIPPED = """# Releasing

Run the tests first. They take a minute.

To publish a release to the mirror, run:

```
upload_target = "mirror.example"
```
"""


async def answered(question: str, path: Path) -> tuple[str, Report]:
    """The opening of the report, and the report."""
    report = await assay.research(question, sources=[str(path)], depth="light")
    return report.markdown.replace("\\", "").partition("\n#")[0], report


async def test_a_contents_list_is_no_answer(tmp_path: Path) -> None:
    (tmp_path / "pump.md").write_text(MANUAL)
    opening, report = await answered("How often must the filter of the pump be changed?", tmp_path)
    assert "every 300 hours" in opening
    assert "How often the filter" not in opening
    assert not any("](#" in passage.text for passage in report.passages)


async def test_what_is_said_further_down_of_a_term_is_known_to_be_about_it(tmp_path: Path) -> None:
    (tmp_path / "tidal.md").write_text(OPTIONS)
    opening, _ = await answered("What is the default of --harbour?", tmp_path)
    assert "Brest" in opening
    opening, _ = await answered("What is the default of --days?", tmp_path)
    assert "seven" in opening.partition(".")[0]


async def test_a_row_is_found_by_the_heads_of_its_table(tmp_path: Path) -> None:
    (tmp_path / "ports.md").write_text(PORTS)
    opening, _ = await answered("What is the least depth of Whitby at low water?", tmp_path)
    assert opening.startswith("Least depth at low water of Whitby: 1.8 m")


async def test_a_record_of_a_row_of_json_answers_alone(tmp_path: Path) -> None:
    rows = [{"id": name, "title": f"The Factbook: {name}", "text": text} for name, text in PROFILES.items()]
    (tmp_path / "facts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    opening, report = await answered("How long is the coastline of Ruritania?", tmp_path / "facts.jsonl")
    assert opening.startswith("Geography - Coastline: 56 km")
    assert "Geography - Coastline: 56 km" in [passage.text for passage in report.passages]


async def test_code_is_found_by_the_sentence_before_it(tmp_path: Path) -> None:
    (tmp_path / "release.md").write_text(SHIPPED)
    _, report = await answered("How do I publish a release to the mirror?", tmp_path)
    assert any("upload_target" in passage.text or "publish a release" in passage.text for passage in report.passages)


async def test_a_page_and_its_source_are_one_source(tmp_path: Path) -> None:
    text = "The lighthouse of Brest was built of granite in 1848 by two brothers."
    (tmp_path / "a.html").write_text(f"<html><title>Brest</title><body><h1>Brest</h1><p>{text}</p></body></html>")
    (tmp_path / "a.rst").write_text(f"Brest\n=====\n\n{text}\n")
    opening, report = await answered("When was the lighthouse of Brest built?", tmp_path)
    assert "1848" in opening
    assert [source.title for source in report.sources] == ["Brest"]


async def test_a_reader_of_a_cited_row_sees_the_heads_of_its_table(tmp_path: Path) -> None:
    (tmp_path / "ports.md").write_text(PORTS)
    report = await assay.research("How many berths has Goole?", sources=[str(tmp_path)], depth="light")
    rows = [passage for passage in report.passages if "Goole" in passage.text]
    assert rows
    assert all(passage.above[-1] == "| Port | Least depth at low water | Berths |" for passage in rows)
