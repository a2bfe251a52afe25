"""What is told of a run: never a key, an address of a service, or the text of a document."""

from __future__ import annotations

import shlex
import shutil
from typing import Literal
from urllib.parse import urlsplit

import msgspec

from assay.core.claims import VERDICTS
from assay.core.difference import Difference
from assay.core.errors import ConfigError
from assay.core.ports.models import Secret
from assay.core.view import RunView

SCHEMA = "assay.notice/1"
DESKTOP = "desktop"
"""The word for the notifications of the desktop itself."""
DESKTOP_PROGRAMS = ("notify-send", "osascript")
"""What shows them: of freedesktop.org's libnotify, and of macOS."""


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
    """A run ended, or waits for a person; of a schedule also what changed, of a batch how many rows ended how.

    `next` is the command which goes on from here.
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
    """What is told of a run which ended or waits."""
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
        next=_next(view),
        schedule=schedule,
        changes=changes,
    )


def changes_of(found: Difference) -> Changes:
    """A difference, as it is told."""
    return Changes(
        since=found.before.run_id,
        same=found.same,
        added=tuple(claim.text for claim in found.added),
        dropped=tuple(claim.text for claim in found.dropped),
        changed=tuple((pair.before.text, pair.after.text) for pair in found.changed),
        sources_added=len(found.sources_added),
        sources_dropped=len(found.sources_dropped),
    )


def _next(view: RunView) -> str:
    if view.status == "waiting":
        return f"assay runs {'approve' if view.waiting_for == 'plan' else 'answer'} {view.run_id}"
    if view.status in ("failed", "paused", "running"):
        return f"assay runs resume {view.run_id}"
    return f"assay runs export {view.run_id} -o report.md" if view.report.text.strip() else ""


# Who is told: a command, or an address.


class Target(msgspec.Struct, frozen=True):
    """A command's words, an address, or with neither the desktop of who is logged in here.

    `name` is what a person is told of it: an address may hold a password. `named` says that it was named for this one
    run, and does not stand in the settings.
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
    """A target as the user writes it: `desktop`, `https://…`, or a command with its arguments, which no shell sees.

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
        raise ConfigError("nothing to notify is named: write a command, or an address such as https://example.org/hook")
    if shutil.which(words[0]) is None:
        raise ConfigError(f"the command to notify, {words[0]!r}, is not there or cannot be executed: check its path")
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
