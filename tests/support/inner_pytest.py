"""A session of pytest which a test starts: it knows nothing of what is asked of the session the test belongs to."""

from __future__ import annotations

import os

LEFT_OUT = "-p no:schemathesis"
"""As in pyproject.toml, which such a session does not read: this plugin takes longer to load than all else together."""


def environment(**more: str) -> dict[str, str]:
    """Its environment: no options of whoever runs the tests, and no colours, which would lie in what it says."""
    return os.environ | {"PYTEST_ADDOPTS": LEFT_OUT, "PY_COLORS": "0"} | more
