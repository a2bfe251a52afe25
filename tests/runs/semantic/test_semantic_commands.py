"""Commands over a library with vectors: in the background, killed, two at once, explained."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from pathlib import Path

import pytest
import warm
from embedding_server import EmbeddingServer
from meaning import ASKED, ELSEWHERE, LOCAL

from assay.app.doctor import examine
from assay.cli.main import main


def test_a_command_names_the_embedder_of_its_run(
    folder: Path, server: EmbeddingServer, capsys: pytest.CaptureFixture[str]
):
    assert main(["docs", "add", "-q", str(folder)]) == 0
    assert main(["docs", "embed", "-q", "--embedder", LOCAL]) == 0
    for command in ("research", "agent"):
        before = len(server.requests)
        line = [command, ASKED, "--offline", "--json", "--embedder", LOCAL]
        capsys.readouterr()
        main([*line, "--depth", "light", "--yes"] if command == "research" else line)
        assert "vehicles.md" in capsys.readouterr().out
        assert len(server.requests) > before
    for left in ("--detach", "--queue"):
        assert main(["research", ASKED, "--embedder", LOCAL, left]) == 2
        assert "assay config set embedder.model" in capsys.readouterr().err


# commands


def test_the_background_makes_what_add_leaves(folder: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["docs", "add", str(folder), "--embedder", LOCAL]) == 0
    assert "vectors are made in the background" in capsys.readouterr().err
    end = time.monotonic() + 120
    while time.monotonic() < end:
        assert main(["docs", "embed", "--embedder", LOCAL, "--status", "--json"]) == 0
        if json.loads(capsys.readouterr().out)["missing"] == 0:
            break
        time.sleep(0.3)
    assert main(["docs", "embed", "--embedder", LOCAL, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["embedded"] == 0
    assert main(["docs", "search", ASKED, "--embedder", LOCAL, "--explain", "--json"]) == 0
    (first, *_) = json.loads(capsys.readouterr().out)["hits"]
    assert (first["found"]["title"], first["lexical"], first["cosine_rank"]) == ("Vehicles", None, 1)
    assert main(["docs", "search", ASKED, "--embedder", LOCAL, "--explain"]) == 0
    output = capsys.readouterr().out
    assert "by words: not found" in output
    assert "by meaning: cosine 0." in output


def test_explained_without_an_embedder(folder: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["docs", "add", "-q", str(folder)]) == 0
    assert main(["docs", "search", "salt and water", "--explain"]) == 0
    output = capsys.readouterr().out
    assert "rank 1" in output
    assert "salt in text: " in output
    assert "salt in passage: " in output
    assert "meaning" not in output
    assert main(["docs", "search", "--batch", "-", "--explain"]) == 2


def test_a_limit_ends_it_with_5(folder: Path, config: Path, capsys: pytest.CaptureFixture[str]):
    config.write_text(config.read_text() + f'[embedder]\nmodel = "{LOCAL}"\nmax_tokens = 1\n')
    assert main(["docs", "add", "-q", str(folder)]) == 0
    assert main(["docs", "embed"]) == 5
    assert "embedder.max_tokens" in capsys.readouterr().err


def test_what_was_done_before_a_kill_is_not_paid_again(tmp_path: Path, server: EmbeddingServer):
    (tmp_path / "in").mkdir()
    for number in range(8):  # each more than a lot
        text = "\n\n".join(f"Sentence {line} of text {number} stands here." for line in range(600))
        (tmp_path / "in" / f"{number}.md").write_text(text)
    assert main(["docs", "add", "-q", str(tmp_path / "in")]) == 0
    line = ["docs", "embed", "--embedder", LOCAL, "--json"]
    process = warm.start(*line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    end = time.monotonic() + 120
    while len(server.requests) < 35 and time.monotonic() < end:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    before = len(server.texts)
    assert 0 < before < 4_800
    done = warm.run(*line, timeout=300)
    assert done.returncode == 0, done.stderr
    built = json.loads(done.stdout)
    assert built["stopped"] == ""
    assert len(set(server.texts)) == 4_800
    assert len(server.texts) - 4_800 <= 700  # at most the lot in which it died


def test_of_two_at_once_one_does_the_work(folder: Path, server: EmbeddingServer):
    assert main(["docs", "add", "-q", str(folder)]) == 0
    both = [warm.start("docs", "embed", "--embedder", LOCAL, "-q") for _ in range(2)]
    assert [process.wait(120) for process in both] == [0, 0]
    assert sorted(server.texts) == sorted(set(server.texts))


async def test_doctor_names_it(server: EmbeddingServer, config: Path):
    plain = config.read_text()
    assert not [each for each in await examine() if each.name == "embedder"]
    for model, state, says in (
        (LOCAL, "ok", "is ready, on this machine"),
        (ELSEWHERE, "ok", "elsewhere: it receives no private documents"),
        ("openai:text-embedding-3-small", "broken", "needs a key"),
        ("nobody:m", "broken", "no embedder named 'nobody'"),
    ):
        config.write_text(plain + f'[embedder]\nmodel = "{model}"\n')
        (message,) = [each for each in await examine() if each.name == "embedder"]
        assert (message.state, says in message.said) == (state, True), message
    assert server.requests == []
