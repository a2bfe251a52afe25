"""The composition root: settings in, a working engine out. The library's whole surface is the class `Assay`.

async with Assay(home="~/research") as assay:
    run = assay.start("What changed in 2.0?", sources=["docs/"])
    async for event in run:
        ...
    report = await run.report()

Its public names are those of `assay`. `Assay` says what there is; each of its methods is a function of a module here,
over one `Context`. Those modules are loaded when a function of theirs is first called: a command which lists runs loads
nothing that makes them.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.app import collecting as collecting
    from assay.app import crawling as crawling
    from assay.app import embedding as embedding
    from assay.app import extracting as extracting
    from assay.app import following as following
    from assay.app import forking as forking
    from assay.app import holdings as holdings
    from assay.app import housekeeping as housekeeping
    from assay.app import online as online
    from assay.app import owning as owning
    from assay.app import pages as pages
    from assay.app import providers as providers
    from assay.app import results as results
    from assay.app import shelves as shelves
    from assay.app import starting as starting
    from assay.app import verifying as verifying
    from assay.app import working as working
    from assay.app import worlds as worlds


def __getattr__(name: str) -> ModuleType:
    try:
        return import_module(f"assay.app.{name}")
    except ModuleNotFoundError as missing:
        if missing.name != f"assay.app.{name}":
            raise
        raise AttributeError(f"module 'assay.app' has no attribute {name!r}") from None
