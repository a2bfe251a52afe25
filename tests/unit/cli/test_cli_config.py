import json
import stat
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from assay import settings
from assay.app.doctor import program
from assay.cli.main import cli, main
from assay.core.errors import ConfigError
from assay.services import configuration


@pytest.fixture(autouse=True)
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "settings" / "config.toml"
    monkeypatch.setenv("ASSAY_CONFIG", str(path))
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    return path


def config(*args: str) -> Result:
    return CliRunner().invoke(cli, ["config", *args], catch_exceptions=False)


def test_path_says_where_the_file_would_be(file: Path):
    assert config("path").stdout.strip() == str(file)


def test_set_then_get(file: Path):
    assert config("set", "limits.tokens", "9000").exit_code == 0
    assert config("get", "limits.tokens").stdout == "9000\n"
    assert file.read_text() == "[limits]\ntokens = 9000\n"


def test_set_keeps_the_rest_of_the_file_and_its_comments(file: Path):
    file.parent.mkdir()
    file.write_text('# mine\ndepth = "light"  # for now\n\n[limits]\ntime = 60\n')
    config("set", "limits.tokens", "9000")
    config("set", "depth", "medium")
    assert file.read_text() == '# mine\ndepth = "medium"  # for now\n\n[limits]\ntime = 60\ntokens = 9000\n'


def test_unset_keeps_the_rest_of_the_file_and_its_comments(file: Path):
    file.parent.mkdir()
    before = '# mine\ndepth = "light"  # for now\n\n# how far\n[limits]\n# enough\ntokens = 9\n\n'
    file.write_text(f"{before}[depths.light]\nwords = 100\n")
    done = config("unset", "depths.light.words")
    assert done.stderr == f"depths.light.words is no longer set in {file}\n"
    assert file.read_text() == before
    config("unset", "limits.tokens")
    config("unset", "depth")
    assert file.read_text() == "# mine\n\n# how far\n[limits]\n# enough\n\n"
    assert config("unset", "limits.tokens").stderr == f"limits.tokens is not set in {file}\n"
    assert config("unset", "web.allow").exit_code == 0
    assert file.read_text() == "# mine\n\n# how far\n[limits]\n# enough\n\n"


def test_unset_leaves_no_empty_table(file: Path):
    config("set", "limits.tokens", "9000")
    config("set", "depths.light.words", "90")
    config("unset", "limits.tokens")
    config("unset", "depths.light.words")
    assert tomllib.loads(file.read_text()) == {}


def test_unset_mends_a_file_with_a_name_that_is_no_setting(file: Path):
    file.parent.mkdir()
    file.write_text('depht = "light"\nask = "never"\n')
    assert config("unset", "depht").exit_code == 0
    assert config("get", "ask").stdout == "never\n"


def test_unset_removes_no_table_with_all_that_is_in_it(file: Path, capsys: pytest.CaptureFixture[str]):
    config("set", "limits.tokens", "9000")
    assert main(["config", "unset", "limits"]) == 2
    assert "name a setting in it" in capsys.readouterr().err
    assert config("get", "limits.tokens").stdout == "9000\n"


def test_tools_of_agents_are_those_installed(file: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["config", "set", "agents.tools", "search, opne"]) == 2
    assert "no tool named 'opne'; did you mean 'open'?" in capsys.readouterr().err
    assert config("set", "agents.tools", "search, open").exit_code == 0
    assert config("get", "agents.tools").stdout == "search, open\n"


def test_a_tool_that_was_uninstalled_is_reported(file: Path):
    file.parent.mkdir()
    file.write_text('agents.tools = ["search", "opne"]\n')
    found = program.check_configuration(settings.load())
    assert (found.state, found.said) == ("broken", "agents.tools: no tool named 'opne'; did you mean 'open'?")


def test_a_setting_without_a_value_leaves_no_table(file: Path):
    configuration.change_settings({"limits.tokens": None, "depth": "light"})
    assert file.read_text() == 'depth = "light"\n'


def test_a_number_of_a_depth_is_written_into_its_table(file: Path):
    file.parent.mkdir()
    file.write_text("[depths.light]\nwords = 100  # short\n")
    for name, value in (("depths.light.cycles", "3"), ("depths.medium.max_steps", "4"), ("limits.tokens", "9000")):
        assert config("set", name, value).exit_code == 0
    assert tomllib.loads(file.read_text()) == {
        "depths": {"light": {"words": 100, "cycles": 3}, "medium": {"max_steps": 4}},
        "limits": {"tokens": 9000},
    }
    assert "words = 100  # short" in file.read_text()
    assert '"depths' not in file.read_text()


def test_a_list_is_written_as_a_list(file: Path):
    config("set", "models.complex", "scripted:replies.json, extractive")
    assert file.read_text() == '[models]\ncomplex = ["scripted:replies.json", "extractive"]\n'


def test_a_table_is_not_set_but_its_place_is_told(file: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["config", "set", "limits.calls_at_once", "{sim = 1}"]) == 2
    assert f"write [limits.calls_at_once] and its entries below it into {file}" in capsys.readouterr().err
    assert not file.exists()


@pytest.mark.skipif(sys.platform == "win32", reason="no such permissions there")
def test_the_file_is_for_its_owner_alone(file: Path):
    config("set", "keys.openai", "sk-very-secret")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [path for path in file.parent.iterdir() if path.suffix != ".lock"] == [file]


def test_keys_are_never_shown(file: Path):
    outputs = [config("set", "keys.openai", "sk-very-secret"), config("get", "keys.openai"), config("list", "--json")]
    assert outputs[1].stdout == "***\n"
    assert not any("very-secret" in done.stdout + done.stderr for done in outputs)


def test_list_says_value_origin_default_and_meaning(monkeypatch: pytest.MonkeyPatch):
    config("set", "depth", "light")
    monkeypatch.setenv("ASSAY_DOCUMENTS_MAX_FILE_MB", "3")
    rows = {row["name"]: row for row in json.loads(config("list", "--json").stdout)}
    assert (rows["depth"]["value"], rows["depth"]["origin"], rows["depth"]["default"]) == ("light", "file", "auto")
    assert rows["documents.max_file_mb"]["origin"] == "environment"
    assert rows["limits.tokens"]["description"]


def test_list_is_tab_separated_for_programs():
    rows = [line.split("\t") for line in config("list").stdout.splitlines()]
    assert ["depth", "auto", "default", "auto"] in [row[:4] for row in rows]
    assert {len(row) for row in rows} == {5}


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["get", "limit.tokens"], "no setting named 'limit.tokens'; did you mean 'limits.tokens'?"),
        (["set", "dept", "light"], "no setting named 'dept'; did you mean 'depth'?"),
        (["unset", "dept"], "no setting named 'dept'; did you mean 'depth'?"),
        (["set", "strategy", "orchestrate"], "no strategy named 'orchestrate'; did you mean 'orchestrated'?"),
        (["set", "models.judge", "extractive, acme:large"], "no model adapter named 'acme'; use one of: anthropic"),
        (["set", "model", "local:m"], "add [services.NAME] with its url: assay config edit"),
        (["set", "services.local.url", "http://127.0.0.1:1/v1"], "write [services.local] and its entries below it"),
        (["set", "depth", "bottomless"], "setting depth: expected auto, light, medium or extended"),
    ],
)
def test_errors_help(args: list[str], message: str, file: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["config", *args]) == 2
    assert message in capsys.readouterr().err
    assert not file.exists()


def test_a_file_which_cannot_be_written_is_said(file: Path, capsys: pytest.CaptureFixture[str]):
    file.mkdir(parents=True)
    assert main(["config", "set", "depth", "light"]) == 2
    assert "is a folder" in capsys.readouterr().err


@pytest.fixture
def editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Makes an editor which writes a text in the place of what it is given."""

    def writes(text: str) -> None:
        program = tmp_path / "editor"
        (tmp_path / "text").write_text(text)
        program.write_text(f'#!/bin/sh\ncp {tmp_path}/text "$1"\n')
        program.chmod(0o755)
        monkeypatch.setenv("VISUAL", str(program))

    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return writes


def drafts(folder: Path) -> list[Path]:
    return list(folder.glob("assay-config-*.toml"))


def test_edit_saves_what_is_right(file: Path, tmp_path: Path, editor: Callable[[str], None]):
    editor('# mine\ndepth = "light"\n')
    assert config("edit").stderr == f"saved in {file}\n"
    assert file.read_text() == '# mine\ndepth = "light"\n'
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert config("edit").stderr == "nothing was changed\n"
    assert drafts(tmp_path) == []


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("depht = 1\n", "depth"),
        ("depth = \n", "not valid TOML"),
        (f"limits.usd = {'9' * 5_000}", "not valid TOML"),
        ('depth = "deep"\n', "depth"),
        ('agents.tools = ["opne"]\n', "did you mean 'open'"),
    ],
)
def test_edit_saves_nothing_that_is_wrong_and_keeps_the_draft(
    file: Path, tmp_path: Path, editor: Callable[[str], None], text: str, why: str
):
    file.parent.mkdir()
    file.write_text('depth = "light"\n')
    editor(text)
    done = CliRunner().invoke(cli, ["config", "edit"])
    assert isinstance(done.exception, ConfigError)
    assert why in str(done.exception)
    (draft,) = drafts(tmp_path)
    assert str(draft) in str(done.exception)
    assert draft.read_text() == text
    assert file.read_text() == 'depth = "light"\n'


def test_edit_mends_a_file_which_cannot_be_loaded(file: Path, editor: Callable[[str], None]):
    file.parent.mkdir()
    file.write_text("depth = \n")
    editor('depth = "light"\n')
    assert config("edit").exit_code == 0
    assert config("get", "depth").stdout == "light\n"


def test_what_was_changed_meanwhile_is_not_overwritten(file: Path, tmp_path: Path, editor: Callable[[str], None]):
    editor('depth = "light"\n')
    (tmp_path / "editor").write_text(
        f'#!/bin/sh\nmkdir -p {file.parent}; echo "ask = \\"never\\"" > {file}; cp {tmp_path}/text "$1"\n'
    )
    done = CliRunner().invoke(cli, ["config", "edit"])
    assert "was changed while you edited it" in str(done.exception)
    assert file.read_text() == 'ask = "never"\n'
