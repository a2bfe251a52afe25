"""`assay check`: rows in, verdicts out in order, and what becomes of lines which are no rows."""

from __future__ import annotations

import io
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import assay
from assay.cli.main import main
from assay.core.errors import UsageError
from assay.services import claim_checks

DOC = "The plan was approved on 3 May 2021. It costs 40 million euros. Work on the harbour began in June."
GOOD = {"id": "a", "doc": DOC, "claim": "The plan was approved on 3 May 2021.", "label": 1}
WRONG = {"id": 7, "doc": DOC, "claim": "The plan was approved on 3 May 2022."}


def written(path: Path, *rows: object) -> Path:
    lines = (row if isinstance(row, str) else json.dumps(row) for row in rows)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def rows_of(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def test_rows_come_out_in_order(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(written(tmp_path / "in.jsonl", GOOD, WRONG))]) == 0
    out, err = capsys.readouterr()
    first, second = rows_of(out)
    assert (first["id"], first["verdict"], first["rule"]) == ("a", "quoted", "verbatim")
    assert second["id"] == 7
    assert second["verdict"] in ("unsupported", "contradicted")
    assert first["score"] > 0.5 > second["score"]
    assert any("2022" in reason for reason in second["reasons"])
    assert "checked 2 rows" in err


def test_a_bad_line_gives_an_error_and_the_rest_goes_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bad = (
        "no json",
        {"id": "b", "doc": DOC},
        {"id": 1.5, "doc": "x", "claim": "y"},
        {"id": "c", "doc": 5, "claim": "y"},
    )
    assert main(["check", str(written(tmp_path / "in.jsonl", GOOD, *bad, "", WRONG))]) == 1
    out, err = capsys.readouterr()
    found = rows_of(out)
    assert [row["id"] for row in found] == ["a", None, "b", None, "c", 7]
    assert [row["line"] for row in found if "error" in row] == [2, 3, 4, 5]
    assert "claim" in found[2]["error"]
    assert "checked 2 rows" in err
    assert "4 lines could not be read" in err


def test_from_stdin_into_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(json.dumps(GOOD).encode())))
    assert main(["check", "-", "-q", "-o", str(tmp_path / "out.jsonl")]) == 0
    assert capsys.readouterr() == ("", "")
    assert rows_of((tmp_path / "out.jsonl").read_text())[0]["verdict"] == "quoted"


def test_a_line_beyond_all_measure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("assay.cli.check.MAX_LINE_BYTES", 600)
    monkeypatch.setattr(claim_checks, "MAX_LINE_BYTES", 600)
    path = written(tmp_path / "in.jsonl", {**GOOD, "doc": DOC * 40}, GOOD)
    assert main(["check", str(path)]) == 1
    first, second = rows_of(capsys.readouterr().out)
    assert (first["line"], first["id"]) == (1, None)
    assert "longer than" in first["error"]
    assert second["verdict"] == "quoted"


def test_what_it_refuses(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(written(tmp_path / "in.jsonl", GOOD))
    assert main(["check", path, "--model", "openai:gpt-5"]) == 2
    assert "OPENAI_API_KEY" in capsys.readouterr().err
    assert main(["check", path, "--model", "extractive"]) == 2
    assert "leave out --model" in capsys.readouterr().err
    assert main(["check", "A claim without a text."]) == 2
    assert "--in FILE" in capsys.readouterr().err
    assert main(["check", str(tmp_path / "none.jsonl")]) == 2
    assert main(["check", path, "-o", str(tmp_path / "none" / "out.jsonl")]) == 2
    assert "does not exist" in capsys.readouterr().err


def test_from_python() -> None:
    found = assay.check([GOOD, assay.ClaimRow("b", DOC, "Work on the harbour began in June.")])
    assert [(row.id, row.verdict) for row in found] == [("a", "quoted"), ("b", "quoted")]
    with pytest.raises(UsageError, match="claim"):
        assay.check([{"id": 1, "doc": DOC}])


def test_another_format_is_refused_with_the_command_that_reads_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "plant.docx").write_bytes(b"PK\x03\x04\xff\xfe")
    assert main(["check", "It employs 400 people.", "--in", str(tmp_path / "plant.docx")]) == 2
    assert "assay extract FILE" in capsys.readouterr().err
