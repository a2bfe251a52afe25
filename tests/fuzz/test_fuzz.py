"""A sample of `make fuzz`, the same every time, and what it has found so far."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from mutation import mutated
from targets import Target, targets

from fuzz import once

SAMPLE = 30
PATIENCE = 20.0
"""Seconds for one input of the sample: what grows by its square takes longer, and no busy machine makes it."""


@pytest.fixture(autouse=True)
def _settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_CONFIG", str(tmp_path / "config.toml"))


@pytest.mark.parametrize("name", targets())
def test_bytes_which_nobody_wrote_are_read_or_refused(name: str) -> None:
    target, dice = targets()[name], random.Random(name)
    for data in target.seeds:
        assert once(target, data, PATIENCE) == ""
    for _ in range(SAMPLE):
        data = mutated(target.seeds, dice)
        assert once(target, data, PATIENCE) == "", data[:2_000]


FOUND = [
    ("markers", ("[S1001" + "\u2028" * 480 + "x]").encode()),
    ("citations", ("【S1001.1" + "\u2028" * 480 + "x】").encode()),
    ("settings", b"a = " + b"[" * 5_000),
    ("eml", b"From: a@b.c\nTo: " + b"(" * 3_000 + b"\n\nHello\n"),
    ("eml", b'From: a@b.c\nContent-Type: text/plain; charset="u\x00"\n\nHello\n'),
    ("sitemap", b"<a:b><url/></a:b>"),
    ("mcp results", b"[" * 5_000),
    ("claim rows", b'{"id": 1, "doc": "\xff", "claim": "a"}\n'),
    ("mbox", b"From a\nFrom: a@b.c\nDate: Mon, 1 Jan 2019 10:00:00 +" + b"9" * 30 + b"\n\nHello\n"),
    ("urls", b"https://e.org/" + b"<" * 4_000),
    ("model json", b"{ " + b"`" * 19_000),
    ("model json", b"[" + b"```" * 6_000 + b"\n"),
]


@pytest.mark.parametrize(("name", "data"), FOUND)
def test_what_was_found_once_is_read_or_refused(name: str, data: bytes) -> None:
    assert once(targets()[name], data, PATIENCE) == ""


@pytest.mark.parametrize("wrong", ["crashes", "stalls"])
def test_what_crashes_or_stalls_is_noticed(wrong: str) -> None:
    def work(data: bytes) -> None:
        while wrong == "stalls":
            pass
        raise KeyError(data)

    assert once(Target(work, [b""]), b"", patience=0.1).startswith({"crashes": "KeyError", "stalls": "takes"}[wrong])
