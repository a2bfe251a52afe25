"""Answers as a file holds them, and when a person is asked."""

from __future__ import annotations

import json

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.cli.main import main
from assay.cli.questions import AskMode, resolve_ask
from assay.cli.run_options import MAX_ANSWERS_BYTES, read_answers

LINES = st.text(st.characters(blacklist_categories=["Cs", "Cc", "Zl", "Zp"]), max_size=20)


@given(st.lists(LINES, max_size=5))
def test_a_list_is_read_as_written(answers: list[str]) -> None:
    assert read_answers(json.dumps(answers)) == answers


@given(st.dictionaries(LINES, LINES, max_size=5))
def test_an_object_is_read_as_written(answers: dict[str, str]) -> None:
    assert read_answers(" \n" + json.dumps(answers)) == answers


def test_lines_are_answers_and_an_empty_one_leaves_its_question_open() -> None:
    assert read_answers("Brittany\n\nspring\n") == ["Brittany", "", "spring"]
    assert read_answers("") == []


@pytest.mark.parametrize("text", ["[1]", '{"a": null}', "[", '{"a": ["b"]}'])
def test_other_json_is_refused(text: str) -> None:
    with pytest.raises(click.UsageError, match="JSON list of texts"):
        read_answers(text)


@pytest.mark.parametrize(
    ("wanted", "configured", "somebody", "asked"),
    [
        (None, "optional", True, "required"),
        (None, "optional", False, "never"),
        (None, "never", True, "never"),
        (None, "required", False, "required"),
        ("never", "required", True, "never"),
        ("optional", "never", True, "required"),
        ("optional", "required", False, "never"),
        ("required", "never", False, "required"),
    ],
)
def test_when_a_run_waits_for_answers(
    wanted: AskMode | None, configured: AskMode, somebody: bool, asked: AskMode
) -> None:
    assert resolve_ask(wanted, configured, somebody=somebody) == asked


def test_a_file_of_answers_which_cannot_be_read_is_named(
    tmp_path_factory: pytest.TempPathFactory, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path_factory.mktemp("answers")
    (folder / "binary").write_bytes(b"\xff\xfe\x00")
    (folder / "large").write_bytes(b"x" * (MAX_ANSWERS_BYTES + 1))
    for name, why in (
        ("gone", "No such file"),
        ("binary", "not text in UTF-8"),
        ("large", "more than 1,000,000 bytes"),
    ):
        assert main(["research", "Why?", "--answers", str(folder / name)]) == 2
        assert why in capsys.readouterr().err
