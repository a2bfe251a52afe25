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


async def examine(home: Path | None = None) -> list[Diagnosis]:
    """Do every check, in the order in which things depend on each other.

    `home` is the home to check; None: the one in the settings.
    """
    diagnoses, blobs, elsewhere = [program.check_release(), program.check_clock()], None, False
    try:
        config = settings.load()
    except ConfigError as error:
        diagnoses.append(
            broken_diagnosis("settings", str(error), f"correct {settings.config_path()}, or the environment")
        )
        home_folder = home or settings.named_home()
        diagnoses.append(note_diagnosis("models", "not looked at: the settings name them"))
    else:
        diagnoses.append(program.check_configuration(config))
        home_folder = home or config.home
        diagnoses += [
            *await program.check_models(config),
            *program.check_embedder(config),
            *program.unused_limits(config),
        ]
        diagnoses += program.check_browser(config)
        diagnoses += await asyncio.to_thread(lambda: list(home_check.examine_database(config)))
        blobs, elsewhere = config.blobs, config.database is not None
    diagnoses += home_check.examine_home(home_folder.expanduser(), blobs, elsewhere=elsewhere)
    return worst_of_each([*diagnoses, program.check_adapters(), *program.check_extras(), *program.check_terminal()])


async def examine_cluster() -> list[Diagnosis]:
    """Do every check of the processes over the PostgreSQL database in the settings."""
    try:
        config = settings.load()
    except ConfigError as error:
        return [broken_diagnosis("settings", str(error), f"correct {settings.config_path()}, or the environment")]
    return await asyncio.to_thread(lambda: list(cluster.examine(config)))


def worst_of_each(diagnoses: Iterable[Diagnosis]) -> list[Diagnosis]:
    """One result for each thing, the worst one; for models, which share a name, one for each model."""
    worst: dict[tuple[str, str], Diagnosis] = {}
    for diagnosis in diagnoses:
        thing = (diagnosis.name, diagnosis.said.split()[0].rstrip(":") if diagnosis.name == "model" else "")
        if thing not in worst or STATES.index(diagnosis.state) > STATES.index(worst[thing].state):
            worst[thing] = diagnosis
    return list(worst.values())
