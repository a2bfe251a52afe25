"""`assay doctor`: each thing that can be wrong is seen, and looking changes nothing."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import msgspec
import pytest
from chat_server import chat_server, says
from shells import apart

from assay import Assay
from assay.app.doctor import Diagnosis, examine, program, worst_of_each
from assay.app.doctor.program import broken_diagnosis, note_diagnosis, ok_diagnosis
from assay.cli.main import main
from assay.store.sql import open_store


@pytest.fixture(autouse=True)
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    apart(tmp_path, monkeypatch)
    return tmp_path / "config.toml"


@pytest.fixture
async def home(tmp_path: Path) -> Path:
    """A home with two documents."""
    folder = tmp_path / "docs"
    folder.mkdir()
    for name in ("one", "two"):
        (folder / f"{name}.md").write_text(f"# {name}\n\nThe {name} harbor was built in 1843.\n")
    async with Assay(home=tmp_path / "home") as assay:
        await assay.add(folder)
    return tmp_path / "home"


async def look(home: Path | None = None) -> dict[str, Diagnosis]:
    return {each.name: each for each in await examine(home)}


def everything(folder: Path) -> dict[str, tuple[int, int]]:
    """Every file and folder, with size and time of the last change."""
    found = (folder, *folder.rglob("*"))
    return {str(path): (path.stat().st_size, path.stat().st_mtime_ns) for path in found if path.exists()}


async def test_a_good_home(home: Path) -> None:
    found = await look()
    assert {each.state for each in found.values() if each.name not in ("terminal", "space")} == {"ok"}
    assert "2 documents, 0 runs" in found["database"].said
    assert "in step with the library: 2 documents" in found["index"].said


async def test_looking_changes_nothing(home: Path, tmp_path: Path) -> None:
    before = everything(tmp_path)
    await look()
    assert everything(tmp_path) == before


async def test_looking_at_a_database_in_use_changes_nothing(home: Path, tmp_path: Path) -> None:
    store = open_store(home)
    await store.journal.create("r1", "why?", b"{}", [])
    before = everything(home)
    found = await look()
    assert "2 documents, 1 run" in found["database"].said
    after = everything(home)
    await store.close()
    assert {name: size for name, (size, _) in after.items()} == {name: size for name, (size, _) in before.items()}


async def test_a_home_which_is_not_there_is_not_made(tmp_path: Path) -> None:
    found = await look(tmp_path / "deep" / "home")
    assert found["home"].state == "ok"
    assert "does not exist yet" in found["home"].said
    assert not (tmp_path / "deep").exists()


def statement(text: str) -> Callable[[Path], None]:
    def change(home: Path) -> None:
        with closing(sqlite3.connect(home / "assay.db")) as connection:
            connection.execute(text)
            connection.commit()

    return change


def no_texts(home: Path) -> None:
    shutil.rmtree(home / "blobs")


def no_index(home: Path) -> None:
    shutil.rmtree(home / "index")


def damaged_index(home: Path) -> None:
    next(home.glob("index/*/*/documents/meta.json")).write_text("{")


def no_file(home: Path) -> None:
    (home.parent / "docs" / "one.md").unlink()


def rubbish(home: Path) -> None:
    (home / "assay.db").write_bytes(os.urandom(5000))


def holes(home: Path) -> None:
    data = (home / "assay.db").read_bytes()
    (home / "assay.db").write_bytes(data[: len(data) // 2] + b"\xff" * (len(data) - len(data) // 2))


def foreign(home: Path) -> None:
    (home / "assay.db").unlink()
    statement("CREATE TABLE theirs (x)")(home)


@pytest.mark.parametrize(
    ("change", "name", "state", "message", "fix"),
    [
        (
            statement("UPDATE assay_schema SET version_num = '9'"),
            "database",
            "broken",
            "a later release",
            "update Assay",
        ),
        (
            statement("UPDATE assay_schema SET version_num = '0001'"),
            "database",
            "note",
            "an earlier release",
            "keep a copy",
        ),
        (rubbish, "database", "broken", "damaged", "restore a copy"),
        (holes, "database", "broken", "damaged", "restore a copy"),
        (foreign, "database", "broken", "not Assay's", "move it away"),
        (no_texts, "documents", "broken", "of all documents, 2 have no stored text", "add their files again"),
        (no_index, "index", "note", "it has 0 of 2 documents", "brings it up to date"),
        (damaged_index, "index", "note", "cannot be read", "rebuilds it"),
        (no_file, "files", "note", "1 can no longer be read", "what was read is kept"),
    ],
)
async def test_what_is_wrong_with_a_home(
    home: Path, change: Callable[[Path], None], name: str, state: str, message: str, fix: str
) -> None:
    change(home)
    said = await examine()
    assert len(said) == len({each.name for each in said})  # nothing is said twice
    found = next(each for each in said if each.name == name)
    assert found.state == state
    assert message in found.said
    assert fix in found.fix


async def test_a_home_which_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("")
    found = await look()
    assert (found["home"].state, found["home"].said) == ("broken", f"{tmp_path / 'home'} is not a folder")
    assert "database" not in found


async def test_settings_which_are_wrong(config: Path, tmp_path: Path) -> None:
    config.write_text("nosuch = 1")
    found = await look(tmp_path)
    assert found["settings"].state == "broken"
    assert "no setting named 'nosuch'" in found["settings"].said
    assert found["home"].state == "ok"


async def test_a_model_which_cannot_be_used(config: Path) -> None:
    config.write_text('[models]\ncomplex = ["nosuch:large", "extractive"]')
    found = await look()
    assert found["model"].name == "model"
    states = {each.said.partition(" ")[0].rstrip(":"): each.state for each in await examine() if each.name == "model"}
    assert states == {"extractive": "ok", "nosuch:large": "broken"}


async def test_a_limit_of_a_provider_which_is_none(config: Path) -> None:
    config.write_text(
        '[services.mine]\nurl = "http://127.0.0.1:1/v1"\n[limits]\ncalls_at_once = {mine = 2, groq = 3}\n'
    )
    assert "limits" not in await look()
    config.write_text("[limits]\ncalls_at_once = {opnai = 2, groq = 3}\n")
    found = (await look())["limits"]
    assert (found.state, found.said) == ("note", "limits.calls_at_once names no provider: opnai")


def test_a_broken_package_is_named(tmp_path: Path) -> None:
    """An adapter of somebody else's, which ends the process when it is loaded."""
    about = tmp_path / "site" / "acme-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[assay.exporters]\n.acme = acme_assay:EXPORTER\n")
    (tmp_path / "site" / "acme_assay.py").write_text("raise SystemExit('acme is not for this machine')\n")
    environment = os.environ | {"PYTHONPATH": str(tmp_path / "site")}
    command = [sys.executable, "-m", "assay", "doctor", "--json"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 1, done.stderr
    adapters = next(each for each in json.loads(done.stdout) if each["name"] == "adapters")
    assert adapters["state"] == "broken"
    assert (
        "export format '.acme' (acme_assay:EXPORTER) cannot be loaded: acme is not for this machine" in adapters["said"]
    )


async def test_the_model_which_is_used_is_the_one_looked_at(config: Path) -> None:
    config.write_text('model = "openai:gpt-5"')
    found = (await look())["model"]
    assert (found.state, "openai:gpt-5: openai needs a key" in found.said) == ("broken", True)


async def test_a_small_window_of_a_local_model_is_a_note(config: Path) -> None:
    with chat_server(says("x")) as server:
        text = f'model = "mine:m"\n[services.mine]\nurl = "{server.url}"\n[catalogue."mine:m"]\nwindow = '
        config.write_text(f"{text}4096\n")
        small = (await look())["model"]
        config.write_text(f"{text}8192\n")
        assert (await look())["model"].state == "ok"
    assert (small.state, small.said) == ("note", "mine:m is ready, but its window has only 4,096 tokens")
    assert "OLLAMA_CONTEXT_LENGTH" in small.fix


async def test_a_server_on_this_machine_is_asked(config: Path) -> None:
    config.write_text('model = "mine:m"\n[services.mine]\nurl = "http://127.0.0.1:9/v1"\n')
    found = (await look())["model"]
    assert found.state == "broken"
    assert "does not answer at http://127.0.0.1:9/v1 (connection refused): start it" in found.said
    with chat_server(says("x")) as server:
        config.write_text(f'model = ["mine:m", "mine:other"]\n[services.mine]\nurl = "{server.url}"\n')
        states = {each.said: each.state for each in await examine() if each.name == "model"}
    assert states == {
        "mine:m is ready": "ok",
        "mine:other: its server has no model of that name; it has mine:m": "broken",
    }


@pytest.mark.parametrize(
    ("text", "state", "message"),
    [
        ('[web]\nchromium = "/nowhere/chromium"', "broken", "/nowhere/chromium (web.chromium) is not there"),
        ('[web]\nbrowser = "always"\nchromium = "/bin/sh"', "ok", "are read with /bin/sh"),
    ],
)
async def test_the_browser_is_looked_for(config: Path, text: str, state: str, message: str) -> None:
    config.write_text(text)
    found = (await look())["browser"]
    assert (found.state, message in found.said) == (state, True)
    config.write_text('[web]\nbrowser = "off"')
    assert "browser" not in await look()


async def test_a_home_is_the_environments_where_the_settings_cannot_be_read(config: Path, home: Path) -> None:
    config.write_text("bad = = toml")
    found = await look()
    assert found["settings"].state == "broken"
    assert "2 documents" in found["database"].said


async def test_a_database_elsewhere_is_the_only_one_spoken_of(config: Path, home: Path) -> None:
    pytest.importorskip("psycopg")
    config.write_text('database = "postgresql://me:hidden@127.0.0.1:1/a"')
    states = [each.state for each in await examine() if each.name in ("database", "index")]
    assert states == ["broken"]


def test_of_two_words_on_one_thing_the_worst_is_kept() -> None:
    found = [
        ok_diagnosis("home", "a"),
        broken_diagnosis("space", "b", "c"),
        note_diagnosis("home", "d"),
        broken_diagnosis("home", "e", "f"),
        ok_diagnosis("home", "g"),
    ]
    assert [(each.name, each.state, each.said) for each in worst_of_each(found)] == [
        ("home", "broken", "e"),
        ("space", "broken", "b"),
    ]
    models = [ok_diagnosis("model", "a:b is ready"), broken_diagnosis("model", "a:c: no key", "set it")]
    assert worst_of_each(models) == models


def test_the_command(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert all(line.split()[0] in ("ok", "note") for line in lines)
    config.write_text("[")
    assert main(["doctor", "--json"]) == 1
    found = msgspec.json.decode(capsys.readouterr().out, type=list[Diagnosis])
    assert [each.name for each in found if each.state == "broken"] == ["settings"]


def test_each_extra_is_told_of_with_what_it_is_for() -> None:
    said = {each.name: each.said for each in program.check_extras()}
    assert said.keys() == {"office", "docx", "pdf"}
    assert said["office"] == "Word, PowerPoint and spreadsheet files can be read"
