"""Tells a full disk from other faults of a file that cannot be written."""

from __future__ import annotations

import errno

from assay.core.errors import DiskFull, StoreError

_NO_SPACE = frozenset((errno.ENOSPC, errno.EDQUOT))


def is_full(error: BaseException) -> bool:
    """True if something could not be written because no space is left."""
    return isinstance(error, OSError) and error.errno in _NO_SPACE


def unwritable_error(message: str, error: OSError) -> StoreError:
    """The error that says `message` of something that cannot be written."""
    return DiskFull(message) if is_full(error) else StoreError(message)
