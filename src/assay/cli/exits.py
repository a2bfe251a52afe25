"""What a command's exit code says."""

from enum import IntEnum


class Exit(IntEnum):
    """0 to 7 are Assay's, the last three what shells expect after a signal."""

    DONE = 0
    FAILED = 1
    USAGE = 2
    UNVERIFIED = 3
    PAUSED = 4
    LIMIT = 5
    NO_EVIDENCE = 6
    INPUT_NEEDED = 7
    CANCELLED = 130
    BROKEN_PIPE = 141
    TERMINATED = 143
