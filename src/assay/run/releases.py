"""Whether this release of Assay can go on with a run which another one started."""

from __future__ import annotations

from functools import cache
from importlib.metadata import version

import msgspec

from assay.core.brief import STEPS_FORMAT, Brief
from assay.core.errors import OtherRelease


class Origin(msgspec.Struct, frozen=True):
    """What is read of a brief before anything else: briefs of any release hold it, or the default."""

    release: str = ""
    steps_format: int = STEPS_FORMAT


@cache
def own_release() -> str:
    """The version of Assay which is installed."""
    return version("assay")


def brief_of(run_id: str, stored: bytes) -> Brief:
    """The brief of a stored run.

    Raises:
        OtherRelease: the run is one of a release whose steps, or brief, this one does not read.
    """
    origin = msgspec.json.decode(stored, type=Origin)
    if origin.steps_format != STEPS_FORMAT:
        why = f"its steps are stored in format {origin.steps_format}, and this release reads format {STEPS_FORMAT}"
        raise OtherRelease(run_id, origin.release, own_release(), why)
    try:
        return msgspec.json.decode(stored, type=Brief)
    except msgspec.ValidationError as error:
        raise OtherRelease(run_id, origin.release, own_release(), f"its brief cannot be read ({error})") from error
