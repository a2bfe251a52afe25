import io
from pathlib import Path

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.cli.main import main
from assay.cli.options import Count, Duration
from assay.cli.run_options import expand_paths, paths_from, question_from

WORDS = st.text(alphabet="abc/.*é问", min_size=1, max_size=6)


@given(st.lists(WORDS, min_size=1, max_size=5), st.lists(WORDS, min_size=1, max_size=5))
def test_in_takes_every_word_up_to_the_next_option(first: list[str], second: list[str]):
    args = ["What is it?", "--in", *first, "--depth", "light", "--in", *second, "-v"]
    expected = ["What is it?"]
    expected += [part for path in first for part in ("--in", path)]
    expected += ["--depth", "light"]
    expected += [part for path in second for part in ("--in", path)]
    assert expand_paths(args) == [*expected, "-v"]


@given(st.lists(WORDS, max_size=6))
def test_without_in_nothing_changes(words: list[str]):
    assert expand_paths(words) == words


@pytest.mark.parametrize("question", ["What is new?", "what is new", "助手如何工作？"])
def test_a_question_may_come_after_the_paths(question: str):
    assert expand_paths(["--in", "a", "b", question]) == ["--in", "a", "--in", "b", question]


def test_a_file_with_spaces_is_a_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    Path("my notes.md").touch()
    assert expand_paths(["Q", "--in", "a", "my notes.md"]) == ["Q", "--in", "a", "--in", "my notes.md"]


def test_two_dashes_end_the_paths():
    assert expand_paths(["--in", "a", "b c", "--", "why"]) == ["--in", "a", "--in", "b c", "--", "why"]


def test_in_without_a_path_is_an_error():
    for args in (["Q", "--in"], ["Q", "--in", "--depth", "light"], ["--in", "--", "Q"]):
        with pytest.raises(click.UsageError, match="--in needs a path"):
            expand_paths(args)


def test_paths_are_read_from_stdin_where_a_dash_stands(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("b\n\nc d\n"))
    assert paths_from(["a", "-", "e"]) == ["a", "b", "c d", "e"]


def test_the_question_is_read_from_stdin_for_a_dash(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("Why?\n"))
    assert question_from(["-"], []) == "Why?"


@pytest.mark.parametrize(
    ("words", "paths", "message"),
    [
        ([], [], "no question"),
        (["why", "docs/"], [], "put the question in quotes, and paths after --in"),
        (["-"], ["-"], "stdin cannot hold both"),
        (["  "], [], "the question is empty"),
    ],
)
def test_what_is_no_question(words: list[str], paths: list[str], message: str):
    with pytest.raises(click.UsageError, match=message):
        question_from(words, paths)


@pytest.mark.parametrize(
    "line", [["runs", "prune", "--max-gb"], ["runs", "watch", "last", "--speed"], ["verify", "a", "--min-supported"]]
)
@pytest.mark.parametrize("value", ["nan", "inf", "-1", "x"])
def test_what_is_no_finite_number(line: list[str], value: str, capsys: pytest.CaptureFixture[str]):
    assert main([*line, value]) == 2
    assert f"Invalid value for '{line[-1]}'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (["add"], "add needs paths=VALUE"),
        (["prune", "keep=3"], "prune has no option 'keep': it takes none, and goes by the settings"),
        (["sync", "name=a"], "sync has no option 'name': use collection"),
    ],
)
def test_what_a_job_does_not_take(line: list[str], message: str, capsys: pytest.CaptureFixture[str]):
    assert main(["jobs", "begin", *line]) == 2
    assert message in capsys.readouterr().err


def test_one_value_of_several_needs_no_list(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setenv("ASSAY_CONFIG", str(tmp_path / "config.toml"))
    monkeypatch.setenv("ASSAY_HOME", str(tmp_path / "home"))
    assert main(["jobs", "begin", "add", f"paths={tmp_path}"]) == 0
    assert f"add {tmp_path} to default" in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(("text", "seconds"), [("90", 90), ("90s", 90), ("1.5m", 90), ("2h", 7200), (" 3 M ", 180)])
def test_durations(text: str, seconds: float):
    assert Duration().convert(text, None, None) == seconds


@pytest.mark.parametrize(("text", "count"), [("7", 7), ("200k", 200_000), ("1.5m", 1_500_000), ("1_000", 1000)])
def test_counts(text: str, count: int):
    assert Count().convert(text, None, None) == count


@given(st.text(max_size=8))
def test_what_is_neither_is_a_usage_error_and_never_a_crash(text: str):
    for kind in (Duration(), Count()):
        try:
            given_as = kind.convert(text, None, None)
        except click.UsageError:
            continue
        assert given_as > 0


@pytest.mark.parametrize("words", [("docs", "list", "--home"), ("research", "x", "-o"), ("docs", "watch")])
def test_an_empty_path_is_not_the_current_folder(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*words, ""]) == 2
    assert "a path is empty: name a file or a folder (. is the current one)" in capsys.readouterr().err


def test_an_empty_reference_continues_no_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["research", "How high?", "--continue", ""]) == 2
    assert "it is empty: name a run by its id, the start of its id, or `last`" in capsys.readouterr().err
