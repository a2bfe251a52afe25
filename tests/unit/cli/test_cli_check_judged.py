"""`assay check --model`: claims judged by a model behind HTTP."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from judging import judging_server, tagged, verdict

from assay.cli.main import main

DOC = "The northern plant employs about 400 people. The plan was rejected by the council in the end."
ROWS = [
    {"id": "verbatim", "doc": DOC, "claim": "The northern plant employs about 400 people."},
    {"id": "same", "doc": DOC, "claim": "It is the northern plant that employs about 400."},
    {"id": "other", "doc": DOC, "claim": "So the plant employs about 400 thousand."},
    {"id": "words", "doc": DOC, "claim": "The council was not in favour of it."},
]


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    return tmp_path / "home"


def configured(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, url: str) -> None:
    (tmp_path / "config.toml").write_text(f'[services.mine]\nurl = "{url}"\nkey = "k"\n')
    monkeypatch.setenv("ASSAY_CONFIG", str(tmp_path / "config.toml"))


def check(path: Path, home: Path, capsys: pytest.CaptureFixture[str], *options: str) -> tuple[list[Any], str]:
    assert main(["check", str(path), "--model", "mine:m", "--home", str(home), *options]) == 0
    out, err = capsys.readouterr()
    return [json.loads(line) for line in out.splitlines()], err


def test_the_model_judges_what_the_rules_leave_open(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "in.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in ROWS))
    with judging_server() as server:
        configured(monkeypatch, tmp_path, server.url)
        found, err = check(path, home, capsys)
        asked = len(server.requests)
        again, _ = check(path, home, capsys)
        assert len(server.requests) == asked  # remembered in the home
    assert [row["id"] for row in found] == ["verbatim", "same", "other", "words"]
    assert [row["rule"] for row in found][:2] == ["verbatim", "judge"]
    assert found[1]["verdict"] == "supported"
    assert {slot["outcome"] for slot in found[1]["slots"]} == {"same"}
    assert found[2]["verdict"] in ("contradicted", "unsupported")
    assert "slots" not in found[0]
    assert (found[3]["rule"], found[3]["verdict"]) == ("judge", "supported")
    assert again == found
    assert "of the model" in err


def test_the_question_over_the_wire_has_no_value(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = tmp_path / "plant.txt"
    text.write_text(DOC)
    with judging_server(lambda sentence, evidence: verdict("supported", A="about 400 people")) as server:
        configured(monkeypatch, tmp_path, server.url)
        claim = "400 people work there."
        assert main(["check", claim, "--in", str(text), "--model", "mine:m", "--home", str(home)]) == 0
        [request] = server.requests
    [row] = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert (row["rule"], row["verdict"]) == ("judge", "supported")
    assert row["slots"] == [{"text": "400", "kind": "number", "outcome": "same", "said": "about 400 people"}]
    sent = "\n".join(message["content"] for message in request["messages"])
    assert tagged(sent, "sentence") == "{A} people work there.\nHidden: {A} is a number."
    assert request["tool_choice"]["function"]["name"] == "verdict"


def test_a_model_which_is_not_there_leaves_claims_unchecked(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "in.jsonl"
    path.write_text(json.dumps(ROWS[3]))
    with judging_server() as server:
        configured(monkeypatch, tmp_path, server.url.replace("/v1", "/v2"))
        found, err = check(path, home, capsys)
    assert (found[0]["rule"], found[0]["verdict"]) == ("judge", "unchecked")
    assert "failed" in found[0]["reasons"][0]
    assert 0.2 < found[0]["score"] < 0.8
    assert "1 unchecked" in err


def test_one_claim_without_a_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = tmp_path / "plant.txt"
    text.write_text(DOC)
    assert main(["check", "The northern plant employs about 900 people.", "--in", str(text)]) == 0
    row = json.loads(capsys.readouterr().out)
    assert (row["verdict"], row["rule"]) == ("contradicted", "number")
