"""Telling it. What cannot be told is a warning: a run never fails over it."""

from __future__ import annotations

import asyncio
import html
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import IO

import httpx2
import msgspec

from assay.services.notices.notice import RunNotice, Target

SECONDS = 10.0
"""For one attempt at an address."""
PAUSES = (0.5, 2.0)
"""Seconds before the second and the third attempt."""
COMMAND_SECONDS = 30.0
MOST_SHOWN = 200
"""Characters of a line on the desktop."""
MOST_SAID = 300
"""Bytes of what a command says last."""
Sleep = Callable[[float], Awaitable[None]]
_AGAIN = frozenset((408, 425, 429, 500, 502, 503, 504))


async def send(notice: RunNotice, targets: Sequence[Target], sleep: Sleep = asyncio.sleep) -> list[str]:
    """Tell every target; a sentence for each which could not be told."""
    data = msgspec.json.encode(notice)
    failed = []
    for target in targets:
        if target.url.reveal():
            why = await _post(target, data, sleep)
        else:
            why = await asyncio.to_thread(_run, target.words or _on_the_desktop(notice), data)
        if why:
            failed.append(f"{target.name} could not be notified: {why}")
    return failed


def _on_the_desktop(notice: RunNotice) -> tuple[str, ...]:
    """The command which shows a notice; what is told is never read as an option, as markup or as a script."""
    said = notice.error or notice.next
    title, text = (
        _line(notice.question or "Assay"),
        _line(f"{notice.status or notice.event}: {said}" if said else "done"),
    )
    if shutil.which("notify-send"):
        return ("notify-send", "--app-name=Assay", "--", title, html.escape(text))
    shown = "display notification (item 1 of argv) with title (item 2 of argv)"  # options end at a word of ours
    return ("osascript", "-e", "on run argv", "-e", shown, "-e", "end run", text, title)


def _line(text: str) -> str:
    return "".join(sign if sign.isprintable() else " " for sign in text)[:MOST_SHOWN]


def _run(words: Sequence[str], data: bytes) -> str:
    """Why the command failed, empty when it did not. Its words are the user's own; what is told goes to its stdin."""
    with tempfile.TemporaryFile() as said:
        try:
            process = subprocess.Popen(
                words, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=said, start_new_session=True
            )
        except OSError as error:
            return error.strerror or type(error).__name__
        try:
            process.communicate(data, timeout=COMMAND_SECONDS)
        except subprocess.TimeoutExpired:
            _end(process)
            return f"it did not end within {COMMAND_SECONDS:g} s{_last(said)}"
        return f"it ended with code {process.returncode}{_last(said)}" if process.returncode else ""


def _last(said: IO[bytes]) -> str:
    """The last line a command wrote to stderr, in brackets."""
    end = said.seek(0, os.SEEK_END)
    said.seek(max(0, end - MOST_SAID))
    lines = said.read(MOST_SAID).decode(errors="replace").split("\n")
    last = next((line.strip() for line in reversed(lines) if line.strip()), "")
    return f" ({last})" if last else ""


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a command with all it has started."""
    try:
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    except ProcessLookupError:
        pass  # it ended in this moment
    if process.stdin is not None:
        process.stdin.close()
    with suppress(subprocess.TimeoutExpired):  # a system call which does not end keeps it: nobody waits for that
        process.wait(SECONDS)


async def _post(target: Target, data: bytes, sleep: Sleep) -> str:
    """Why the address could not be told, empty when it was; what may pass is tried again."""
    why = ""
    async with httpx2.AsyncClient(trust_env=False, timeout=SECONDS, follow_redirects=False) as client:
        for pause in (0.0, *PAUSES):
            if pause:
                await sleep(pause)
            why, again = await _attempt(client, target, data)
            if not again:
                break
    return why


async def _attempt(client: httpx2.AsyncClient, target: Target, data: bytes) -> tuple[str, bool]:
    """Why not, and whether to try again. A redirect is not followed: the address is the user's word."""
    headers = {"Content-Type": "application/json"}
    try:
        async with (
            asyncio.timeout(SECONDS),
            client.stream("POST", target.url.reveal(), content=data, headers=headers) as response,
        ):
            status = response.status_code  # what else it answers is nobody's business
    except TimeoutError:
        return f"no answer within {SECONDS:g} s", True
    except httpx2.TransportError as error:
        return f"it cannot be reached ({type(error).__name__})", True
    except (httpx2.HTTPError, httpx2.InvalidURL, ValueError) as error:
        return f"the address cannot be used ({type(error).__name__})", False
    return ("", False) if 200 <= status < 300 else (f"it answered {status}", status in _AGAIN)
