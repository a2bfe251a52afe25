"""Whether this release of Assay can go on with a run which another one started."""

from __future__ import annotations

import re
from functools import cache
from importlib.metadata import version

import msgspec

from assay.core.brief import STEPS_FORMAT, Brief
from assay.core.errors import OtherRelease


class BriefOrigin(msgspec.Struct, frozen=True):
    """What is read of a brief before anything else: briefs of any release hold it, or the default."""

    release: str = ""
    steps_format: int = STEPS_FORMAT


@cache
def own_release() -> str:
    """The version of Assay which is installed."""
    return version("assay")


_VERSION = re.compile(r"(\d{1,9}(?:\.\d{1,9}){0,4})(\.?(?:a|b|rc|dev)\d*)?")
"""What of a version (PEP 440) says which came first, where they are some releases apart."""


def is_newer(release: str, own: str) -> bool:
    """Whether `release` came after `own`; False where one of them is no version."""
    one, other = _order(release), _order(own)
    return one is not None and other is not None and one > other


def _order(release: str) -> tuple[tuple[int, ...], bool] | None:
    """Its numbers without the zeros at their end, and whether it is more than a preview of that release."""
    match = _VERSION.match(release)
    if match is None:
        return None
    numbers = [int(number) for number in match[1].split(".")]
    while numbers and not numbers[-1]:
        numbers.pop()
    return tuple(numbers), not match[2]


def is_ahead(release: str) -> bool:
    """Whether a release is newer than the one which is installed."""
    return is_newer(release, own_release())


def check_age(run_id: str, brief: Brief) -> None:
    """Refuse to go on with a run of a newer release: what its brief asks for may be unknown here.

    Raises:
        OtherRelease: it is one.
    """
    if is_ahead(brief.release):
        raise OtherRelease(run_id, brief.release, own_release(), "that release is newer")


def brief_of(run_id: str, stored: bytes) -> Brief:
    """The brief of a stored run.

    Raises:
        OtherRelease: the run is one of a release whose steps, or brief, this one does not read.
    """
    origin = msgspec.json.decode(stored, type=BriefOrigin)
    if origin.steps_format != STEPS_FORMAT:
        why = f"its steps are stored in format {origin.steps_format}, and this release reads format {STEPS_FORMAT}"
        raise OtherRelease(run_id, origin.release, own_release(), why)
    try:
        return msgspec.json.decode(stored, type=Brief)
    except msgspec.ValidationError as error:
        raise OtherRelease(run_id, origin.release, own_release(), f"its brief cannot be read ({error})") from error
