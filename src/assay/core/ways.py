"""How to do what a message suggests, in the terms of the place where it is read: command, request, tool, button.

Messages are written for the terminal. `suggest_command` words a suggestion when a message is created; `adapt_wording`
replaces the commands in an existing message, such as the stored reason of a failure.

The surface is that of the current caller (a context variable, which the server sets for each request); by default the
terminal.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Literal
from urllib.parse import quote

from assay.core.lazy import regex

Surface = Literal["terminal", "http", "mcp", "page"]
_surface: ContextVar[Surface] = ContextVar("surface", default="terminal")

_WAYS: Mapping[str, Mapping[Surface, str]] = {
    "resume": {
        "terminal": "assay runs resume {}",
        "http": "POST /api/v1/runs/{}/resume",
        "mcp": "have its owner resume run {} in Assay",
        "page": "Resume, on the page of run {}",
    },
    "answer": {
        "terminal": "assay runs answer {}",
        "http": "POST /api/v1/runs/{}/answers",
        "mcp": "research_wait with run_id {} and answers",
        "page": "Answer, on the page of run {}",
    },
    "finish": {
        "terminal": "assay runs finish {}",
        "http": "POST /api/v1/runs/{}/finish",
        "mcp": "have its owner finish run {} in Assay",
        "page": "Finish, on the page of run {}",
    },
    "cancel": {
        "terminal": "assay runs cancel {}",
        "http": "POST /api/v1/runs/{}/cancel",
        "mcp": "the tool cancel with run_id {}",
        "page": "Cancel, on the page of run {}",
    },
    "approve": {
        "terminal": "assay runs approve {}",
        "http": "POST /api/v1/runs/{}/plan/approve",
        "mcp": "have its owner approve the plan of run {} in Assay",
        "page": "Approve, on the page of run {}",
    },
    "ask further": {
        "terminal": "assay QUESTION --continue {}",
        "http": "POST /api/v1/runs/{}/follow-up",
        "mcp": "the tool research with continues {}",
        "page": "the form below the report of run {}",
    },
    "add": {
        "terminal": "assay docs add PATH -c {}",
        "http": "POST /api/v1/collections/{}/documents",
        "mcp": "have the user add documents to {} in Assay",
        "page": "add documents to {} in the library",
    },
    "name documents": {
        "terminal": "name each by its number or its whole name, or several by a pattern: assay docs rm '*.pdf'",
        "http": "name one by its hash or its whole name",
        "mcp": "name one by its hash or its whole name",
        "page": "choose one in the library",
    },
}


_NEEDS_QUOTES = regex(r"[\s'\"\\$&|;<>()*?`!#~]")


def suggest_command(action: str, name: str) -> str:
    """How to do `action` with `name`: "resume", "answer", "approve", "finish" or "cancel" a run, or "ask further";
    "add" documents to a collection; "name documents" to remove (of any name).
    """
    surface = _surface.get()
    if surface == "terminal" and _NEEDS_QUOTES.search(name):
        name = shlex.quote(name)
    return _WAYS[action][surface].format(quote(name) if surface == "http" else name)


_NAME = r"(?P<name>[\w.@-]+)"
_OPERATOR = "have whoever runs the server "

_COMMANDS: tuple[tuple[re.Pattern[str], Mapping[Surface, str]], ...] = tuple(
    (regex(rf"`?\bassay {pattern}`?"), dict(zip(("http", "mcp", "page"), words, strict=True)))
    for pattern, words in (
        *(
            (rf"runs {action} {_NAME}", tuple(_WAYS[action][interface] for interface in ("http", "mcp", "page")))
            for action in ("resume", "cancel", "approve", "answer", "finish")
        ),
        (
            rf"runs export {_NAME}( -o report\.json)?",
            ("GET /api/v1/runs/{}/report?format=json", "research_report with run_id {}", "the report of run {}"),
        ),
        (
            rf"jobs retry {_NAME}",
            ("POST /api/v1/jobs/{}/retry", "have its owner retry job {} in Assay", "have its owner retry job {}"),
        ),
        (
            rf"jobs cancel {_NAME}",
            ("POST /api/v1/jobs/{}/cancel", "have its owner cancel job {} in Assay", "have its owner cancel job {}"),
        ),
        (r"jobs list", ("GET /api/v1/jobs", "the jobs of Assay", "the jobs")),
        (
            r"docs add PATH",
            ("POST /api/v1/collections/{{collection}}/documents", "have the user add some in Assay", "in the library"),
        ),
        (r"docs list( --skipped)?", ("GET /api/v1/collections", "list_collections", "the library")),
        (rf"models( {_NAME})?", ("GET /api/v1/models", "the settings of Assay", "the settings")),
        (r"doctor", ("GET /api/v1/doctor", "the settings of Assay", "the administration")),
        (
            rf"users (add|passwd) {_NAME}( --role admin)?",
            ("/api/v1/users", "the administration of Assay", "the administration"),
        ),
        (rf"keys set {_NAME}", ("PUT /api/v1/settings/keys/{}", "set its key in Assay", "set its key in the settings")),
        (
            r"config set [\w.,… ]*[\w,…]",
            ("PATCH /api/v1/settings", "change it in Assay's settings", "change it in the settings"),
        ),
        (r"schedule add", ("POST /api/v1/schedules", "Assay's page of schedules", "the form on this page")),
        (r"config list", ("GET /api/v1/settings", "the settings of Assay", "the settings")),
        (r"docs embed --anew", (_OPERATOR + "compute them anew",) * 3),
        (r"db (check|restore|migrate|backup)", (_OPERATOR + "look after its store",) * 3),
        (r"keys sign [\w ]*\w( --replace)?", (_OPERATOR + "set up its signing key",) * 3),
        (r"mcp --allow-private", (_OPERATOR + "allow it",) * 3),
        (r"runs prune", (_OPERATOR + "clean up",) * 3),
    )
)


_FLAG = regex(r" \(--[a-z-]+( [A-Z]+)?\)")


def adapt_wording(text: str) -> str:
    """A message with its commands replaced by the terms of the current surface, which has no flags."""
    surface = _surface.get()
    if surface == "terminal":
        return text
    text = _FLAG.sub("", text)
    if "assay " not in text:
        return text
    for pattern, words in _COMMANDS:
        text = pattern.sub(lambda found: words[surface].format(found.groupdict().get("name") or ""), text)  # noqa: B023
    return text


@contextmanager
def use_surface(surface: Surface) -> Iterator[None]:
    """Word messages for this surface in the block."""
    token = _surface.set(surface)
    try:
        yield
    finally:
        _surface.reset(token)


def set_surface(surface: Surface) -> None:
    """Word messages for this surface from now on, in this task and what it starts."""
    _surface.set(surface)
