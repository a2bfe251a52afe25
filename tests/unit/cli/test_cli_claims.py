"""`assay claims RUN`: what is listed, also as JSON."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import msgspec
import pytest
from shells import prepared

from assay import Assay, CitedPassage
from assay.cli.claims import ListedClaim, NearestPassage, row_of, write_cited
from assay.cli.main import main

TIDES = "# Tides at Brest\n\nThe tide at Brest rises seven metres. High water comes twice a day.\n"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with one run, which no test changes."""
    folder = tmp_path_factory.mktemp("claims")
    (folder / "tides.md").write_text(TIDES)
    prepared(folder, ["How far does the tide rise at Brest?", "--in", folder / "tides.md", "-q"])
    return folder / "home"


@pytest.fixture
def home(made: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ASSAY_HOME", str(made))
    return made


def test_claims_with_verdict_rule_reason_and_sources(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["claims", "last"]) == 0
    out, err = capsys.readouterr()
    first = out.splitlines()[0].split("\t")
    assert first[:4] == ["c1", "quoted", "answers the question", "verbatim"]
    assert first[5].startswith("verbatim in S")
    assert first[6] == "[1]"
    assert err.splitlines()[-2].startswith(f"{len(out.splitlines())} claim")
    assert err.splitlines()[-1].startswith("verified: every sentence is true to its source")


def test_as_lines_of_json(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["claims", "last", "--json"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert rows[0]["sources"][0]["number"] == 1
    assert rows[0]["sources"][0]["passages"][0].startswith("S")
    assert {"id", "text", "verdict", "rule", "reason", "against", "versions", "removed", "relevance"} <= rows[0].keys()


def test_without_problems_there_is_nothing_to_list(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["claims", "last", "--problems"]) == 0
    assert capsys.readouterr().out == ""


def test_a_claim_which_does_not_hold_shows_what_is_nearest() -> None:
    near = NearestPassage(passage="S1001.1", text="The tide rises.", missing=("nine", "spring"))
    found = ListedClaim(
        id="c1",
        text="The tide rises nine metres in spring.",
        verdict="unchecked",
        rule="lexical",
        reason="compared by words, unlikely (0.41)",
        sources=(),
        against=(),
        versions=(),
        nearest=near,
    )
    assert row_of(found)[5] == (
        "compared by words, unlikely (0.41); nearest: S1001.1 “The tide rises.”, which lacks: nine, spring"
    )


def test_no_such_run(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["claims", "nothing"]) == 2
    assert "nothing" in capsys.readouterr().err


def test_a_word_in_place_of_a_citation_is_told_in_plain_words(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cite", "last", "x"]) == 2
    assert "'x' is not a whole number" in capsys.readouterr().err
    assert main(["cite", "lst", "1"]) == 2
    assert "no run named 'lst'; did you mean 'last'?" in capsys.readouterr().err


def test_passages_of_one_place_are_shown_in_one_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "huts.md").write_text(
        "# Huts\n\n| Hut | Height |\n|---|---|\n| Bergli | 2100 m |\n| Karli | 1900 m |\n\n## Access\n\nOn foot.\n"
    )
    prepared(tmp_path, ["What are the heights of the huts?", "--in", tmp_path / "huts.md", "-q"])
    capsys.readouterr()
    assert main(["cite", "last", "1", "--home", str(tmp_path / "home")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if line.startswith("[")] == [lines[0]]
    places = [line for line in lines if "bytes" in line]
    assert len(places) == 1
    assert places[0].count("(S1001.") == 2
    assert [line for line in lines if "»" in line] == ["»| Bergli | 2100 m |«", "»| Karli | 1900 m |«"]
    assert "Access" in lines
    assert sum(line.startswith("    supported") for line in lines) == 2


def test_a_passage_that_two_agents_met_is_shown_once(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    async def read() -> list[CitedPassage]:
        async with Assay(home=home) as assay:
            return await assay.passage("last", 1)

    (cited, *_) = asyncio.run(read())
    again = msgspec.structs.replace(cited.claims[0], id="c9", text="Said again.")
    other = msgspec.structs.replace(
        cited, passage=msgspec.structs.replace(cited.passage, id="S2001.1"), claims=(again,)
    )
    write_cited([cited, other], "")
    shown = capsys.readouterr().out
    assert shown.count("»") == 1
    assert shown.count("bytes") == 1
    assert "Said again." in shown
