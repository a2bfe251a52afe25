"""What can keep Assay from working on this machine, and how to mend it. Nothing is changed by looking."""

from __future__ import annotations

import asyncio
from pathlib import Path

from assay import settings
from assay.app.doctor import database, home_check, program
from assay.app.doctor.diagnosis import Diagnosis as Diagnosis
from assay.app.doctor.diagnosis import broken, note
from assay.core.errors import ConfigError


async def examine(named: Path | None = None) -> list[Diagnosis]:
    """Every check, in the order in which things depend on each other.

    `named` is the home to look at; None: the one the settings name.
    """
    found, blobs = [program.release(), program.clock()], None
    try:
        configured = settings.load()
    except ConfigError as error:
        found.append(broken("settings", str(error), f"correct {settings.config_path()}, or the environment"))
        place = named or settings.default_home()
        found.append(note("models", "not looked at: the settings name them"))
    else:
        found.append(program.configuration())
        place = named or configured.home
        found += [*await program.models(configured), *program.embedder(configured), *program.limited(configured)]
        found += await asyncio.to_thread(lambda: list(database.examine(configured)))
        blobs = configured.blobs
    found += home_check.examine(place.expanduser(), blobs)
    return [*found, program.adapters(), *program.extras(), *program.terminal()]
