"""`kill -9` in every command which writes: the home is whole, and the command comes to the same end when repeated."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
import warm
from killed_commands import COMMANDS, Rehearsal

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not warm.FORKS, reason="commands start anew on this system: too slow to be killed at work"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One for all commands, which begin with the same scenes."""
    return tmp_path_factory.mktemp("killed") / "place"


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_which_was_killed_loses_nothing_and_is_repeated(name: str, folder: Path) -> None:
    scene, dice = Rehearsal(name, folder), random.Random(name)
    for _ in range(2):
        assert scene.killed(dice.random()) == ""
