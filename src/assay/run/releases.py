"""Releases of Assay: which is the newer, and whether this one can continue a run of another."""

from __future__ import annotations

from functools import cache
from importlib.metadata import version

import msgspec

from assay.core.brief import STEPS_FORMAT, Brief
from assay.core.errors import OtherRelease
from assay.core.lazy import regex


class BriefOrigin(msgspec.Struct, frozen=True):
    """The part of a brief that is read first: briefs of every release have it, or the default applies."""

    release: str = ""
    steps_format: int = STEPS_FORMAT


@cache
def own_release() -> str:
    """The installed version of Assay; read once, since its file is that of the whole README."""
    return version("assay")


_VERSION = regex(r"(\d{1,9}(?:\.\d{1,9}){0,4})(\.?(?:a|b|rc|dev)\d*)?")
"""The part of a version (PEP 440) that gives its order among releases."""


def is_newer(release: str, own: str) -> bool:
    """True if `release` is newer than `own`; False if either is not a version."""
    candidate, own_version = _version_key(release), _version_key(own)
    return candidate is not None and own_version is not None and candidate > own_version


def _version_key(release: str) -> tuple[tuple[int, ...], bool] | None:
    """Its numbers without trailing zeros, and whether it is a final release rather than a preview."""
    match = _VERSION.match(release)
    if match is None:
        return None
    numbers = [int(number) for number in match[1].split(".")]
    while numbers and not numbers[-1]:
        numbers.pop()
    return tuple(numbers), not match[2]


def is_newer_than_installed(release: str) -> bool:
    """True if a release is newer than the installed one."""
    return is_newer(release, own_release())


def check_release(run_id: str, brief: Brief) -> None:
    """Refuse to continue a run of a newer release: its brief may ask for unknown things.

    Raises:
        OtherRelease: it is one.
    """
    if is_newer_than_installed(brief.release):
        raise OtherRelease(run_id, brief.release, own_release(), "that release is newer")


def read_brief(run_id: str, data: bytes) -> Brief:
    """The brief of a stored run.

    Raises:
        OtherRelease: this release cannot read the run's steps or brief.
    """
    origin = msgspec.json.decode(data, type=BriefOrigin)
    if origin.steps_format != STEPS_FORMAT:
        why = f"its steps are stored in format {origin.steps_format}, and this release reads format {STEPS_FORMAT}"
        raise OtherRelease(run_id, origin.release, own_release(), why)
    try:
        return msgspec.json.decode(data, type=Brief)
    except msgspec.ValidationError as error:
        raise OtherRelease(run_id, origin.release, own_release(), f"its brief cannot be read ({error})") from error
