"""Catalogues of messages which were changed since they were compiled.

Whoever speaks all languages, as each check of a text does, would compile them anew in each process.
"""

from __future__ import annotations

import os
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "src" / "assay" / "locale"


def compile_changed(folder: Path = FOLDER) -> list[Path]:
    """Write the `.mo` file beside each `.po` file which is newer, as building does; those written."""
    return [_compiled(source) for source in sorted(folder.glob("*/LC_MESSAGES/*.po")) if _is_newer(source)]


def _is_newer(source: Path) -> bool:
    compiled = source.with_suffix(".mo")
    return not compiled.is_file() or source.stat().st_mtime > compiled.stat().st_mtime


def _compiled(source: Path) -> Path:
    from assay.locale import compile_catalogue

    target, draft = source.with_suffix(".mo"), source.with_suffix(f".{os.getpid()}.tmp")
    draft.write_bytes(compile_catalogue(source))
    draft.replace(target)  # another session may read it
    return target
