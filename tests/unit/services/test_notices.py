"""Notices: what is told, to commands and addresses, and that what fails is a warning without secrets."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from assay.core.errors import ConfigError
from assay.core.view import RunView
from assay.services import notices
from assay.services.notices import RunNotice, notice_of, read_target, send

NOTICE = RunNotice(event="ended", run="k3", question="`rm -rf /`; $(reboot) 'x", status="completed")


async def no_sleep(seconds: float) -> None:
    return


@asynccontextmanager
async def hook(*answers: str) -> AsyncIterator[tuple[str, list[bytes]]]:
    """An address which gives these answers, one a request, and what it was told."""
    got: list[bytes] = []
    left = list(answers)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
        except asyncio.IncompleteReadError:  # who came has left
            return
        length = next(int(line[15:]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:"))
        got.append(head + await reader.readexactly(length))
        answer = left.pop(0)
        if answer == "hang":
            await asyncio.sleep(30)
        writer.write(answer.encode())
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/hook?token=SECRET", got
    finally:
        server.close()


def answer(status: str, *more: str) -> str:
    return "\r\n".join([f"HTTP/1.1 {status}", "Content-Length: 0", "Connection: close", *more, "", ""])


async def test_a_command_gets_the_notice_on_its_stdin_and_no_shell_sees_it(tmp_path: Path):
    script = tmp_path / "told.py"
    script.write_text("import sys; open(sys.argv[1], 'wb').write(sys.stdin.buffer.read())")
    target = read_target(f"'{sys.executable}' {script} '{tmp_path}/a b; touch x'")
    assert await send(NOTICE, [target]) == []
    data = json.loads((tmp_path / "a b; touch x").read_bytes())
    assert (data["schema"], data["event"], data["question"]) == ("assay.notice/1", "ended", NOTICE.question)


async def test_a_command_which_fails_or_hangs_is_a_warning(monkeypatch: pytest.MonkeyPatch):
    bad = read_target(f"{sys.executable} -c 'import sys; sys.exit(3)'")
    assert [line.endswith("ended with code 3") for line in await send(NOTICE, [bad])] == [True]
    monkeypatch.setattr(notices, "COMMAND_SECONDS", 0.3)
    child = "import subprocess,sys; subprocess.run([sys.executable, '-c', 'import time; time.sleep(600)'])"
    hangs, began = read_target(f'{sys.executable} -c "{child}"'), time.monotonic()
    (warning,) = await send(NOTICE, [hangs])
    assert "did not end within" in warning
    assert time.monotonic() - began < 60


async def test_what_a_failing_command_says_last_is_told_and_a_flood_is_not(tmp_path: Path):
    script = tmp_path / "mail.py"
    script.write_text("import sys; sys.stderr.write('x' * 1_000_000 + '\\nno recipient\\n\\n'); sys.exit(2)")
    (warning,) = await send(NOTICE, [read_target(f"'{sys.executable}' {script}")])
    assert warning.endswith("ended with code 2 (no recipient)")
    script.write_text("import sys; sys.stderr.buffer.write(b'\\xff' * 9_999); sys.exit(2)")
    (warning,) = await send(NOTICE, [read_target(f"'{sys.executable}' {script}")])
    assert len(warning) < 500


async def test_an_address_gets_it_by_post():
    async with hook(answer("204 No Content")) as (url, got):
        assert await send(NOTICE, [read_target(url)]) == []
    head, _, body = got[0].partition(b"\r\n\r\n")
    assert head.startswith(b"POST /hook?token=SECRET HTTP/1.1")
    assert json.loads(body)["run"] == "k3"


async def test_what_may_pass_is_tried_again_and_no_more_than_three_times():
    async with hook(answer("503 Busy"), answer("200 OK")) as (url, got):
        assert await send(NOTICE, [read_target(url)], no_sleep) == []
        assert len(got) == 2
    async with hook(*[answer("500 Oh")] * 5) as (url, got):
        (warning,) = await send(NOTICE, [read_target(url)], no_sleep)
        assert len(got) == 3
    assert "answered 500" in warning
    assert "SECRET" not in warning


@pytest.mark.parametrize("status", ["404 Not Found", "302 Found"])
async def test_what_will_not_pass_is_not_tried_again_and_redirects_are_not_followed(status: str):
    async with hook(*[answer(status, "Location: http://127.0.0.1:1/other")] * 3) as (url, got):
        (warning,) = await send(NOTICE, [read_target(url)], no_sleep)
        assert len(got) == 1
    assert status[:3] in warning


async def test_an_address_which_does_not_answer_is_given_up(monkeypatch: pytest.MonkeyPatch):
    with monkeypatch.context() as quick:
        quick.setattr(notices, "ATTEMPT_SECONDS", 0.3)
        async with hook("hang", "hang", "hang") as (url, _):
            (warning,) = await send(NOTICE, [read_target(url)], no_sleep)
    assert "no answer" in warning
    (warning,) = await send(NOTICE, [read_target("http://127.0.0.1:1/SECRET")], no_sleep)
    assert "cannot be reached" in warning
    assert "SECRET" not in warning


async def test_one_which_fails_keeps_nobody_from_being_told():
    calls: list[float] = []

    async def counted(seconds: float) -> None:
        calls.append(seconds)

    async with hook(answer("200 OK")) as (url, got):
        failed = await send(NOTICE, [read_target("http://127.0.0.1:1/"), read_target(url)], counted)
    assert (len(failed), len(got), calls) == (1, 1, list(notices.RETRY_PAUSES))


@pytest.mark.parametrize(
    "text", ["", "   ", "'open", "http://", "https://exa mple.org/", "no-such-program-here x", "http://h:0/"]
)
def test_what_is_neither_command_nor_address_is_refused(text: str):
    with pytest.raises(ConfigError):
        read_target(text)


def test_a_target_shows_no_password():
    target = read_target("https://user:SECRET@hooks.example.org/SECRET?k=SECRET")
    assert target.name == "hooks.example.org"
    assert "SECRET" not in repr(target)
    assert "SECRET" in target.text


def test_the_desktop_is_told_with_what_shows_notices_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    program = tmp_path / "notify-send"
    program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {tmp_path}/arguments\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    notice = RunNotice(event="ended", question="--help\x1b[2J <b>", status="failed", error="<i>no</i> key")
    assert asyncio.run(send(notice, (read_target("desktop"),))) == []
    found = (tmp_path / "arguments").read_text().splitlines()
    assert found == ["--app-name=Assay", "--", "--help [2J <b>", "failed: &lt;i&gt;no&lt;/i&gt; key"]


def test_the_words_of_a_question_are_no_option_where_options_have_no_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    program = tmp_path / "osascript"
    program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {tmp_path}/arguments\n')
    program.chmod(0o755)
    for name in ("sh", "printf"):
        (tmp_path / name).symlink_to(f"/bin/{name}" if name == "sh" else f"/usr/bin/{name}")
    monkeypatch.setenv("PATH", str(tmp_path))
    notice = RunNotice(event="ended", question="-e beep", status="failed", error="no key")
    assert asyncio.run(send(notice, (read_target("desktop"),))) == []
    assert (tmp_path / "arguments").read_text().splitlines()[-3:] == ["end run", "failed: no key", "-e beep"]


def test_where_nothing_shows_notices_the_desktop_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ConfigError, match="install one of notify-send, osascript, or name a command"):
        read_target("desktop")


def test_a_run_whose_plan_waits_is_approved():
    assert notice_of(RunView(run_id="k3", status="waiting", waiting_for="plan")).next == "assay runs approve k3"


def test_a_run_which_waits_says_what_for():
    found = notice_of(RunView(run_id="k3", status="waiting", waiting_for="answers"))
    assert (found.event, found.waiting_for, found.next) == ("waiting", "answers", "assay runs answer k3")
