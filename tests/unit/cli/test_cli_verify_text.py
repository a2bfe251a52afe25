"""`assay verify FILE.md --in PATH…`, and `assay verify RUN --again`."""

from __future__ import annotations

import io
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from assay.cli.main import main

TIDES = "# Tides at Brest\n\nThe tide at Brest rises seven metres. High water comes twice a day.\n"
REPORT = """\
The tide at Brest rises seven metres [1]. It rises nine metres at Brest [1].

Ships left on 3 May 2021. Paris has 20 districts [2].

## References

1. [Tides](docs/tides.md)
2. Paris: https://example.org/paris
"""


@pytest.fixture
def there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a report and what it cites; a home of its own, which checking a text must not make."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "tides.md").write_text(TIDES)
    (tmp_path / "report.md").write_text(REPORT)
    monkeypatch.setenv("ASSAY_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def found(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(capsys.readouterr().out)
    return data


def test_each_claim_with_its_verdict(there: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", "report.md", "--in", "docs"]) == 0
    out = capsys.readouterr().out
    assert "quoted        line 1: The tide at Brest rises seven metres." in out
    assert "contradicted  line 1: It rises nine metres at Brest." in out
    assert "the claim says 'nine metres', S1.1 says 'seven metres'" in out
    assert "not available:\n  [2] https://example.org/paris" in out
    assert out.splitlines()[-2:] == [
        "report.md: 4 claims: 1 quoted, 1 unsupported, 1 contradicted, 1 unchecked",
        "1 claim cites nothing and is neither quoted nor supported",
    ]
    assert not (there / "home").exists()


def test_the_text_shown_is_what_a_claim_was_compared_with(there: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stairs = ", ".join(f"a stair at pile {at}" for at in range(9))
    text = f"The mole, begun in 1690, has {stairs}. It keeps two tugs in winter."
    table = "| port | depth (m) |\n|---|---|\n| Goole | 7 |\n| Hull | 9 |\n"
    (there / "docs" / "harbour.md").write_text(f"# Harbour\n\n{text}\n\n{table}")
    (there / "new.md").write_text("It keeps three tugs in winter.\n\nThe depth of Hull is 12 m.\n")
    assert main(["verify", "new.md", "--in", "docs"]) == 0
    out = capsys.readouterr().out
    assert "“…It keeps two tugs in winter.”" in out
    assert "“port: Hull | depth (m): 9”" in out


def test_a_computed_figure_is_shown_with_what_it_was_computed_from(
    there: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (there / "docs" / "crew.csv").write_text("port,crew\nGoole,12\nHull,31\nAyr,9\n")
    (there / "new.md").write_text("The three ports have a crew of 52 together [1].\n\n[1]: docs/crew.csv\n")
    assert main(["verify", "new.md", "--in", "docs", "--json"]) == 0
    (claim,) = found(capsys)["claims"]
    assert claim["verdict"] == "unchecked"
    assert "52 = sum of 3 rows of crew" in claim["reason"]


def test_a_number_that_no_list_has_is_no_missing_document(there: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (there / "new.md").write_text("The tide at Brest rises seven metres [9].\n")
    assert main(["verify", "new.md", "--in", "docs"]) == 0
    out = capsys.readouterr().out
    assert "[9] is not in the list of references" in out
    assert "not available" not in out


def test_a_bundle_has_its_own_sources(there: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (there / "report.zip").write_bytes(b"PK")
    assert main(["verify", "report.zip", "--in", "docs"]) == 2
    assert "report.zip is a bundle, which has its sources: leave out --in" in capsys.readouterr().err


def test_against_a_collection(there: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", "report.md", "--in", "@tides"]) == 2
    assert "there is no library" in capsys.readouterr().err
    assert not (there / "home").exists()
    assert main(["docs", "add", "docs", "-c", "tides"]) == 0
    capsys.readouterr()
    assert main(["verify", "report.md", "--in", "@tides", "--find"]) == 0
    assert "quoted        line 1: The tide at Brest rises seven metres." in capsys.readouterr().out


def test_as_json_and_twice_the_same(there: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["verify", "report.md", "--in", "docs", "--json", "-q"]
    assert main(arguments) == 0
    first = found(capsys)
    assert main(arguments) == 0
    assert found(capsys) == first
    assert [claim["verdict"] for claim in first["claims"]] == ["quoted", "contradicted", "unsupported", "unchecked"]
    assert (first["share"], first["uncited"], first["summary"]["claims"]) == (0.25, 1, 4)
    assert [reference["label"] for reference in first["references"]] == ["1", "2"]
    claim = first["claims"][1]
    assert REPORT[claim["start"] : claim["end"]] == "It rises nine metres at Brest"
    assert set(claim["passages"]) <= {passage["id"] for passage in first["passages"]}


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (["--strict"], 3),
        (["--min-supported", "0.25"], 0),
        (["--min-supported", "0.3"], 3),
        (["--strict", "--min-supported", "0"], 3),
    ],
)
def test_what_a_build_may_ask_for(there: Path, options: list[str], code: int) -> None:
    assert main(["verify", "report.md", "--in", "docs", *options]) == code


def test_a_text_which_is_right_passes_all(there: Path) -> None:
    (there / "good.md").write_text("The tide at Brest rises seven metres ([Tides](docs/tides.md)).\n")
    assert main(["verify", "good.md", "--in", "docs", "--strict", "--min-supported", "1"]) == 0


def test_only_problems_and_a_text_on_stdin(
    there: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(REPORT.encode())))
    assert main(["verify", "-", "--in", "docs", "--problems"]) == 0
    out = capsys.readouterr().out
    assert "seven metres." not in out.splitlines()[0]
    assert out.count("line ") == 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["report.md"], "--in PATH"),
        (["missing.md", "--in", "docs"], "cannot be read"),
        (["report.md", "--in", "nowhere"], "nowhere"),
        (["docs", "--in", "docs"], "not a file"),
        (["report.md", "--in", "docs", "--min-supported", "1.5"], "range"),
        (["last", "--again", "--strict"], "--again"),
    ],
)
def test_wrong_use_says_what_to_do(
    there: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert main(["verify", *arguments]) == 2
    assert message in capsys.readouterr().err


def test_a_file_which_is_no_text(there: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (there / "odd.md").write_bytes(b"\xff\xfe\x00")
    assert main(["verify", "odd.md", "--in", "docs"]) == 2
    assert "not text in UTF-8" in capsys.readouterr().err


def test_an_export_of_a_run_checks_as_a_text(there: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["How far does the tide rise at Brest?", "--in", "docs", "-o", "made.md", "-q"]) == 0
    assert main(["verify", "made.md", "--in", "docs", "--strict"]) == 0
    assert "claim" in capsys.readouterr().out


def test_a_run_once_more(there: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["How far does the tide rise at Brest?", "--in", "docs", "-q"]) == 0
    capsys.readouterr()
    assert main(["verify", "last", "--again"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "0 verdicts changed, 0 claims lost"
    assert main(["verify", "last", "--again", "--json"]) == 0
    again = found(capsys)
    assert again["lost"] == again["problems"] == []
    assert [claim["now"] for claim in again["claims"]] == [claim["before"] for claim in again["claims"]]


def test_a_run_whose_documents_were_damaged_does_not_hold(there: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["How far does the tide rise at Brest?", "--in", "docs", "-q"]) == 0
    blobs = [file for file in (there / "home" / "blobs").rglob("*") if file.is_file()]
    assert blobs
    for blob in blobs:
        blob.chmod(0o644)
        blob.write_bytes(b"Something else.")
    capsys.readouterr()
    assert main(["verify", "last", "--again"]) == 3
    assert "WRONG" in capsys.readouterr().out


def test_a_text_without_claims_satisfies_no_demand(there: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (there / "empty.md").write_text("# To be written\n")
    assert main(["verify", "empty.md", "--in", "docs"]) == 0
    assert main(["verify", "empty.md", "--in", "docs", "--strict"]) == 3
    assert main(["verify", "empty.md", "--in", "docs", "--min-supported", "0.5"]) == 3
    assert "states nothing that could be checked" in capsys.readouterr().err


def test_a_draft_without_citations_is_held_against_all_documents(
    there: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("draft.md").write_text("The tide at Brest rises seven metres. The tide at Brest rises nine metres.\n")
    assert main(["verify", "draft.md", "--in", "docs"]) == 0
    out = capsys.readouterr().out
    assert "quoted        line 1: The tide at Brest rises seven metres." in out
    assert "contradicted  line 1: The tide at Brest rises nine metres." in out
    assert "found in docs/tides.md" in out
    assert "which lacks: nine" in out
    assert main(["verify", "draft.md", "--in", "docs", "--no-find"]) == 0
    assert "draft.md: 2 claims: 2 unsupported" in capsys.readouterr().out


def test_the_nearest_document_is_not_called_the_place_where_it_was_found(
    there: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (there / "draft.md").write_text("The tide at Brest rises nine metres. High water at Brest came on 3 May 1921.\n")
    assert main(["verify", "draft.md", "--in", "docs"]) == 0
    contradicted, unsupported = capsys.readouterr().out.split("\n\n")[:2]
    assert contradicted.startswith("contradicted")
    assert "  found in docs/tides.md" in contradicted
    assert unsupported.startswith("unsupported")
    assert "  nearest in docs/tides.md" in unsupported
    assert "found in" not in unsupported


def test_evidence_is_looked_for_beside_citations_where_one_asks(
    there: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("draft.md").write_text(
        "The tide at Brest rises seven metres ([t](docs/tides.md)).\n\nThe tide at Brest rises seven metres.\n"
    )
    assert main(["verify", "draft.md", "--in", "docs", "--json"]) == 0
    assert [claim["verdict"] for claim in found(capsys)["claims"]] == ["quoted", "unsupported"]
    assert main(["verify", "draft.md", "--in", "docs", "--find", "--json"]) == 0
    claims = found(capsys)["claims"]
    assert [claim["verdict"] for claim in claims] == ["quoted", "quoted"]
    assert [len(claim["found"]) for claim in claims] == [0, 1]
