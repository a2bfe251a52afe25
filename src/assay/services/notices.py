"""Notifies somebody that a run has ended or needs an answer: a command by JSON on stdin, an address by POST.

A notice never contains a key, an address of a service, or the text of a document.
"""

from __future__ import annotations

import asyncio
import html
import os
import shlex
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import IO, TYPE_CHECKING, Literal
from urllib.parse import urlsplit

import msgspec

from assay.core.claims import VERDICTS
from assay.core.difference import Difference
from assay.core.errors import ConfigError
from assay.core.lazy import lazy_module
from assay.core.ports.models import Secret
from assay.core.remote_services import connection_problem, tls_context
from assay.core.view import RunView

if TYPE_CHECKING:
    import httpx2
else:
    httpx2 = lazy_module("httpx2")

SCHEMA = "assay.notice/1"
DESKTOP = "desktop"
"""The word for the notifications of the desktop."""
DESKTOP_PROGRAMS = ("notify-send", "osascript")
"""The programs that show them: of freedesktop.org's libnotify, and of macOS."""


class Changes(msgspec.Struct, frozen=True, kw_only=True):
    """How a scheduled run's report differs from that of the run `since`: sentences, and counts of sources."""

    since: str
    same: int
    added: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    changed: tuple[tuple[str, str], ...] = ()
    sources_added: int = 0
    sources_dropped: int = 0


class RunNotice(msgspec.Struct, frozen=True, kw_only=True):
    """A run ended, or waits for a person; with the changes for a schedule, and the counts of rows for a batch.

    `next` is the command to continue with.
    """

    schema: str = SCHEMA
    event: Literal["ended", "waiting", "batch"]
    run: str = ""
    question: str = ""
    status: str = ""
    stop_reason: str = ""
    verified: bool = False
    waiting_for: str = ""
    questions: tuple[str, ...] = ()
    claims: dict[str, int] = {}
    usd: float = 0.0
    tokens: int = 0
    error: str = ""
    next: str = ""
    schedule: str = ""
    changes: Changes | None = None
    rows: dict[str, int] = {}


def notice_of(view: RunView, *, schedule: str = "", changes: Changes | None = None) -> RunNotice:
    """The notice for a run that ended or waits."""
    waits = view.status == "waiting"
    asks = waits and view.waiting_for != "plan"
    return RunNotice(
        event="waiting" if waits else "ended",
        run=view.run_id,
        question=view.question,
        status=view.status,
        stop_reason=view.stop_reason,
        verified=view.verified,
        waiting_for=view.waiting_for if waits else "",
        questions=view.clarification.questions if asks else (),
        claims={verdict: count for verdict in VERDICTS if (count := getattr(view.summary, verdict))},
        usd=round(view.usage.total.usd, 6),
        tokens=view.usage.total.tokens,
        error=view.error,
        next=_next_command(view),
        schedule=schedule,
        changes=changes,
    )


def changes_of(difference: Difference) -> Changes:
    """The changes in a difference, for a notice."""
    return Changes(
        since=difference.before.run_id,
        same=difference.same,
        added=tuple(claim.text for claim in difference.added),
        dropped=tuple(claim.text for claim in difference.dropped),
        changed=tuple((pair.before.text, pair.after.text) for pair in difference.changed),
        sources_added=len(difference.sources_added),
        sources_dropped=len(difference.sources_dropped),
    )


def _next_command(view: RunView) -> str:
    if view.status == "waiting":
        return f"assay runs {'approve' if view.waiting_for == 'plan' else 'answer'} {view.run_id}"
    if view.status in ("failed", "paused", "running"):
        return f"assay runs resume {view.run_id}"
    return f"assay runs export {view.run_id} -o report.md" if view.report.text.strip() else ""


# Targets of notices: a command, or an address.


class Target(msgspec.Struct, frozen=True):
    """The words of a command, an address, or if neither, the desktop of the user who is logged in here.

    `name` identifies it in messages, since an address may contain a password. `named` says that it was given for this
    run only, and is not in the settings.
    """

    name: str
    words: tuple[str, ...] = ()
    url: Secret = Secret("")
    named: bool = False

    @property
    def text(self) -> str:
        """As `read_target` reads it."""
        return self.url.reveal() or shlex.join(self.words) or self.name


def read_target(text: str, *, named: bool = False) -> Target:
    """Read a target as the user writes it: `desktop`, `https://…`, or a command with arguments, run without a shell.

    Raises:
        ConfigError: it is none of these, or there is no such program.
    """
    text = text.strip()
    if text == DESKTOP:
        if not any(shutil.which(program) for program in DESKTOP_PROGRAMS):
            raise ConfigError(
                f"the desktop cannot be notified: install one of {', '.join(DESKTOP_PROGRAMS)}, or name a command"
            )
        return Target(name=DESKTOP, named=named)
    if text.lower().startswith(("http://", "https://")):
        return _address(text, named)
    try:
        words = tuple(shlex.split(text))
    except ValueError as error:
        raise ConfigError(f"the command to notify cannot be read ({error}): check its quotation marks") from None
    if not words:
        raise ConfigError("there is nothing to notify: write a command, or an address such as https://example.org/hook")
    if shutil.which(words[0]) is None:
        raise ConfigError(f"the command to notify, {words[0]!r}, does not exist or cannot be executed: check its path")
    return Target(name=words[0], words=words, named=named)


def _address(text: str, named: bool) -> Target:
    try:
        parts = urlsplit(text)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        host, port = "", None
    if not host or port == 0 or any(sign.isspace() or not sign.isprintable() for sign in text):
        raise ConfigError("the address to notify is wrong: write one such as https://example.org/hook")
    return Target(name=host, url=Secret(text), named=named)


# Sending. A failure is a warning: a run never fails because of it.

ATTEMPT_SECONDS = 10.0
"""For one attempt at an address."""
RETRY_PAUSES = (0.5, 2.0)
"""Seconds before the second and the third attempt."""
COMMAND_SECONDS = 30.0
MAX_LINE_CHARS = 200
"""Characters of a line on the desktop."""
MAX_STDERR_BYTES = 300
"""Bytes of a command's last output."""
Sleep = Callable[[float], Awaitable[None]]
_RETRY_STATUSES = frozenset((408, 425, 429, 500, 502, 503, 504))


async def send(notice: RunNotice, targets: Sequence[Target], sleep: Sleep = asyncio.sleep) -> list[str]:
    """Notify every target; return a sentence for each failure."""
    data = msgspec.json.encode(notice)
    failures = []
    for target in targets:
        if target.url.reveal():
            why = await _post(target, data, sleep)
        else:
            why = await asyncio.to_thread(_run, target.words or _desktop_command(notice), data)
        if why:
            failures.append(f"{target.name} could not be notified: {why}")
    return failures


def _desktop_command(notice: RunNotice) -> tuple[str, ...]:
    """The command that shows a notice; its text is never read as an option, as markup or as a script."""
    reason = notice.error or notice.next
    title, text = (
        _line(notice.question or "Assay"),
        _line(f"{notice.status or notice.event}: {reason}" if reason else "done"),
    )
    if shutil.which("notify-send"):
        return ("notify-send", "--app-name=Assay", "--", title, html.escape(text))
    script = "display notification (item 1 of argv) with title (item 2 of argv)"  # a word of ours ends the options
    return ("osascript", "-e", "on run argv", "-e", script, "-e", "end run", text, title)


def _line(text: str) -> str:
    return "".join(sign if sign.isprintable() else " " for sign in text)[:MAX_LINE_CHARS]


def _run(words: Sequence[str], data: bytes) -> str:
    """Why the command failed, empty if it did not. Its words are the user's own; the notice goes to its stdin."""
    with tempfile.TemporaryFile() as output:
        try:
            process = subprocess.Popen(
                words, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=output, start_new_session=True
            )
        except OSError as error:
            return error.strerror or type(error).__name__
        try:
            process.communicate(data, timeout=COMMAND_SECONDS)
        except subprocess.TimeoutExpired:
            _kill_command(process)
            return f"it did not end within {COMMAND_SECONDS:g} s{_last_stderr_line(output)}"
        return f"it ended with code {process.returncode}{_last_stderr_line(output)}" if process.returncode else ""


def _last_stderr_line(output: IO[bytes]) -> str:
    """The last line a command wrote to stderr, in brackets."""
    end = output.seek(0, os.SEEK_END)
    output.seek(max(0, end - MAX_STDERR_BYTES))
    lines = output.read(MAX_STDERR_BYTES).decode(errors="replace").split("\n")
    last = next((line.strip() for line in reversed(lines) if line.strip()), "")
    return f" ({last})" if last else ""


def _kill_command(process: subprocess.Popen[bytes]) -> None:
    """End a command with all processes it has started."""
    try:
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    except ProcessLookupError:
        pass  # it has just ended
    if process.stdin is not None:
        process.stdin.close()
    with suppress(subprocess.TimeoutExpired):  # a blocked system call keeps it alive: nobody waits for that
        process.wait(ATTEMPT_SECONDS)


async def _post(target: Target, data: bytes, sleep: Sleep) -> str:
    """Why the address could not be notified, empty if it was; temporary errors are retried."""
    why = ""
    verify = await asyncio.to_thread(tls_context)
    async with httpx2.AsyncClient(
        trust_env=False, verify=verify, timeout=ATTEMPT_SECONDS, follow_redirects=False
    ) as client:
        for pause in (0.0, *RETRY_PAUSES):
            if pause:
                await sleep(pause)
            why, should_retry = await _attempt(client, target, data)
            if not should_retry:
                break
    return why


async def _attempt(client: httpx2.AsyncClient, target: Target, data: bytes) -> tuple[str, bool]:
    """Why it failed, and whether to retry. A redirect is not followed: the address is the user's choice."""
    headers = {"Content-Type": "application/json"}
    try:
        async with (
            asyncio.timeout(ATTEMPT_SECONDS),
            client.stream("POST", target.url.reveal(), content=data, headers=headers) as response,
        ):
            status = response.status_code  # the rest of its answer is ignored
    except TimeoutError:
        return f"no answer within {ATTEMPT_SECONDS:g} s", True
    except httpx2.TransportError as error:
        return f"it cannot be reached: {connection_problem(error, target.url.reveal())}", True
    except (httpx2.HTTPError, httpx2.InvalidURL, ValueError) as error:
        return f"the address cannot be used ({type(error).__name__})", False
    return ("", False) if 200 <= status < 300 else (f"it answered {status}", status in _RETRY_STATUSES)
