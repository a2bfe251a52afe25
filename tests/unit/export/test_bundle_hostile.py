"""Bundles which are made to take long: verifying grows with their size and no faster, and has an end."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
import warm
from growth import WORST, exponent
from hostile_bundles import KINDS, TEXTS, honest
from sampling import sampled

from assay.export.bundle import BundleLimits, check_bundle


@pytest.mark.parametrize("kind", [*(kind for kind in KINDS if kind not in TEXTS), *sampled(TEXTS, 4)])
def test_verifying_grows_no_faster_than_the_bundle(kind: str) -> None:
    assert exponent(check_bundle, KINDS[kind], 6_000) < WORST


def test_claims_which_lie_over_one_another_are_a_finding() -> None:
    found = check_bundle(KINDS["long_claims"](400_000))
    assert not found.ok
    assert "lie over one another" in found.checks[-1].problems[0]


def test_a_bundle_of_too_many_members_or_events_is_not_read_further() -> None:
    few = check_bundle(honest(), limits=BundleLimits(members=3))
    assert (few.ok, few.checks[0].problems) == (False, ("more than 3 members",))
    short = check_bundle(honest(), limits=BundleLimits(events=5))
    assert not short.ok
    assert "5 are read (bundles.max_events)" in next(each.problems[0] for each in short.checks if each.name == "events")


def verified(file: Path, *options: str, **limits: str) -> subprocess.CompletedProcess[str]:
    named = {f"ASSAY_BUNDLES_{name.upper()}": value for name, value in limits.items()}
    env = {**os.environ, **named, "ASSAY_CONFIG": str(file.with_suffix(".toml"))}
    return warm.run("verify", file, *options, env=env)


@pytest.mark.skipif(sys.platform == "win32", reason="no such timer there")
def test_verifying_has_an_end_in_seconds(tmp_path: Path) -> None:
    file = tmp_path / "long.zip"
    file.write_bytes(KINDS["brackets"](200_000))
    ended = verified(file, max_seconds="0.2")
    assert (ended.returncode, ended.stderr) == (3, "")
    assert ended.stdout == f"{file} was not verified: that takes more than 0.2 s of computing (bundles.max_seconds)\n"
    checked = verified(file, "--json", max_seconds="0.2")
    assert (checked.returncode, msgspec.json.decode(checked.stdout)["ok"]) == (3, False)


def test_a_file_which_is_too_large_is_not_read(tmp_path: Path) -> None:
    file = tmp_path / "large.zip"
    with file.open("wb") as opened:
        opened.truncate(3_000_000_000)  # takes no place on the disk
    ended = verified(file)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "has more than 1,000 MB, and larger bundles are not verified: set bundles.max_mb higher" in ended.stderr
    file.write_bytes(honest())
    assert verified(file, max_mb="0.001").returncode == 2
