"""The first run of a home tells what on this machine could have answered, where no model is set."""

from __future__ import annotations

import os
import pty
import socket
import subprocess
from pathlib import Path

import pytest
import warm
from chat_server import Answer, chat_server

from assay import settings
from assay.core.ports import Model
from assay.services import providers
from assay.services.providers import describe_local_models, load_model, local_models, set_model_command
from assay.settings import Settings

SHORT, LONG = providers.PROBE_SECONDS, 60.0
PATIENT = f"""
from assay.services import providers
providers.WAIT = {LONG}
from assay.cli.main import main
raise SystemExit(main())
"""
"""The command, which waits longer for a server: a busy machine may take a second where an idle one answers at once."""
NOBODY = "".join(f'[services.{name}]\nurl = "http://127.0.0.1:9/v1"\n' for name in ("llamacpp", "lmstudio"))
"""Those which are asked before ollama; nobody may be at their usual ports."""
QUESTION = "How far does the tide rise at Brest?"


@pytest.fixture(autouse=True)
def file(file: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Of somebody with patience."""
    monkeypatch.setattr(providers, "PROBE_SECONDS", LONG)
    (file.parent / "tides.md").write_text("# Tides\n\nThe tide at Brest rises seven metres. It turns twice a day.\n")
    return file


def on_a_terminal(folder: Path, *more: str) -> str:
    """What `assay` writes to a terminal behind its stderr."""
    ours, theirs = pty.openpty()
    words = [QUESTION, "--in", "tides.md", "--home", "home", "--yes", *more]
    process = warm.start(*words, stdout=subprocess.DEVNULL, stderr=theirs, cwd=folder, program=PATIENT)
    os.close(theirs)
    output = b""
    try:
        while more_said := os.read(ours, 65536):
            output += more_said
    except OSError:  # the other end is closed
        pass
    os.close(ours)
    assert process.wait() == 0
    return output.decode()


def test_the_first_run_alone_tells_of_a_server_on_this_machine(tmp_path: Path, file: Path) -> None:
    with chat_server(Answer()) as server:
        file.write_text(f'{NOBODY}[services.ollama]\nurl = "{server.url}"\n')
        first, second = on_a_terminal(tmp_path), on_a_terminal(tmp_path)
    assert "ollama runs on this machine with m; to have it answer: assay config set model ollama:m" in first
    assert "runs on this machine" not in second


def test_who_names_a_model_or_wants_quiet_is_told_nothing(tmp_path: Path, file: Path) -> None:
    with chat_server(Answer()) as server:
        file.write_text(f'{NOBODY}[services.ollama]\nurl = "{server.url}"\n')
        assert "runs on this machine" not in on_a_terminal(tmp_path, "-q")
        assert "runs on this machine" not in on_a_terminal(tmp_path, "--home", "other", "--model", "extractive")


def test_doctor_notes_it_and_nothing_is_broken(tmp_path: Path, file: Path) -> None:
    with chat_server(Answer()) as server:
        file.write_text(f'{NOBODY}[services.ollama]\nurl = "{server.url}"\n')
        done = warm.run("doctor", "--home", tmp_path / "home", program=PATIENT)
    (line,) = (line for line in done.stdout.splitlines() if "ollama" in line)
    assert line.split(None, 2)[:2] == ["note", "local"]
    assert line.endswith("-> assay config set model ollama:m")
    assert done.returncode == 0


async def test_a_model_of_the_settings_stays_alone(file: Path) -> None:
    with chat_server(Answer()) as server:
        file.write_text(f'{NOBODY}[services.ollama]\nurl = "{server.url}"\n')
        assert await local_models(settings.load()) == ("ollama:m",)
        assert await local_models(settings.load(model=("extractive",))) == ()
        assert await local_models(settings.load(models={"judge": ("extractive",)})) == ()


async def test_a_server_which_hangs_holds_nobody_up(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def loaded(configured: Settings, name: str) -> Model:
        monkeypatch.setattr(providers, "PROBE_SECONDS", SHORT if name == "a:?" else LONG)
        return load_model(configured, name)

    monkeypatch.setattr(providers, "load_model", loaded)
    with socket.create_server(("127.0.0.1", 0)) as silent, chat_server(Answer()) as server:
        here = f"http://127.0.0.1:{silent.getsockname()[1]}/v1"
        file.write_text(f'[services.a]\nurl = "{here}"\n[services.b]\nurl = "{server.url}"\n')
        assert await local_models(settings.load()) == ("b:m",)


def test_many_names_are_counted_and_odd_ones_are_one_word() -> None:
    assert describe_local_models(["vllm:a", "vllm:b", "vllm:c", "vllm:d", "vllm:e"]).endswith("with a, b, c and 2 more")
    assert set_model_command(["mine:a b\x1b[2J'"]) == "assay config set model 'mine:a b'\"'\"''"
