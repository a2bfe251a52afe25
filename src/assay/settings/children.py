"""What of the environment goes to the processes which read files: how to start, and nothing anybody keeps secret."""

from __future__ import annotations

import os

KEPT = frozenset(
    """
    PATH HOME LANG LANGUAGE TZ TMPDIR TEMP TMP SYSTEMROOT WINDIR
    LD_LIBRARY_PATH DYLD_LIBRARY_PATH DYLD_FALLBACK_LIBRARY_PATH
    PYTHONHOME PYTHONPATH PYTHONUSERBASE PYTHONUTF8 PYTHONDONTWRITEBYTECODE
    """.split()
)
FAMILIES = ("LC_", "OPENBLAS_", "OMP_", "MKL_")
"""Locale, and how numerical libraries compute."""


def reader_environment() -> dict[str, str]:
    """The variables a process needs to start and to compute as this one does."""
    return {name: value for name, value in os.environ.items() if name in KEPT or name.startswith(FAMILIES)}
