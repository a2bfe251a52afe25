"""Finds what prevents Assay from working on this machine, and how to fix it. Checks change nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from pathlib import Path

from assay import settings
from assay.app.doctor import cluster, home_check, program
from assay.app.doctor.program import STATES, broken_diagnosis, note_diagnosis
from assay.app.doctor.program import Diagnosis as Diagnosis
from assay.core.errors import ConfigError


async def examine(named: Path | None = None) -> list[Diagnosis]:
    """Do every check, in the order in which things depend on each other.

    `named` is the home to check; None: the one in the settings.
    """
    found, blobs, elsewhere = [program.check_release(), program.check_clock()], None, False
    try:
        configured = settings.load()
    except ConfigError as error:
        found.append(broken_diagnosis("settings", str(error), f"correct {settings.config_path()}, or the environment"))
        place = named or settings.named_home()
        found.append(note_diagnosis("models", "not looked at: the settings name them"))
    else:
        found.append(program.check_configuration(configured))
        place = named or configured.home
        found += [
            *await program.check_models(configured),
            *program.check_embedder(configured),
            *program.unused_limits(configured),
        ]
        found += program.check_browser(configured)
        found += await asyncio.to_thread(lambda: list(home_check.examine_database(configured)))
        blobs, elsewhere = configured.blobs, configured.database is not None
    found += home_check.examine_home(place.expanduser(), blobs, elsewhere=elsewhere)
    return worst_of_each([*found, program.check_adapters(), *program.check_extras(), *program.check_terminal()])


async def examine_cluster() -> list[Diagnosis]:
    """Do every check of the processes over the PostgreSQL database in the settings."""
    try:
        configured = settings.load()
    except ConfigError as error:
        return [broken_diagnosis("settings", str(error), f"correct {settings.config_path()}, or the environment")]
    return await asyncio.to_thread(lambda: list(cluster.examine(configured)))


def worst_of_each(found: Iterable[Diagnosis]) -> list[Diagnosis]:
    """One result for each thing, the worst one; for models, which share a name, one for each model."""
    kept: dict[tuple[str, str], Diagnosis] = {}
    for each in found:
        thing = (each.name, each.said.split()[0].rstrip(":") if each.name == "model" else "")
        if thing not in kept or STATES.index(each.state) > STATES.index(kept[thing].state):
            kept[thing] = each
    return list(kept.values())
