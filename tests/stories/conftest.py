"""What all stories begin with: Assay, installed from its wheel."""

from __future__ import annotations

from pathlib import Path

import pytest
from story import Story, install


@pytest.fixture(scope="session")
def commands(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The commands of an environment with the wheel in it, one for all workers of this test run."""
    return install(tmp_path_factory).commands


@pytest.fixture
def story(tmp_path: Path, commands: Path) -> Story:
    return Story(tmp_path, commands)
