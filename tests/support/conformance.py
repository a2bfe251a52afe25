"""What Schemathesis checks of answers beside what it knows itself; `SCHEMATHESIS_HOOKS` names this module."""

from __future__ import annotations

import re

import schemathesis

COMMAND = re.compile(rb"\bassay (runs|docs|users|keys|config|schedule|models|doctor|db|mcp|serve) ")


FAILED = (500, 502, 504)
"""501 and 503 are answers: what is not set up, and what there is no room for."""


@schemathesis.check
def does_not_fail(_context: schemathesis.CheckContext, response: schemathesis.Response, _case: object) -> None:
    """No request makes the server fail."""
    assert response.status_code not in FAILED, response.content


@schemathesis.check
def names_no_command(_context: schemathesis.CheckContext, response: schemathesis.Response, _case: object) -> None:
    """An error proposes requests: whoever reads it has no terminal of the server."""
    if response.status_code >= 400:
        found = COMMAND.search(response.content)
        assert found is None, f"the answer names a command: {response.content!r}"
