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
    from assay.app import additions as additions
    from assay.app import adoption as adoption
    from assay.app import background as background
    from assay.app import collections as collections
    from assay.app import components as components
    from assay.app import crawler as crawler
    from assay.app import daily as daily
    from assay.app import embeddings as embeddings
    from assay.app import erasure as erasure
    from assay.app import extraction as extraction
    from assay.app import forks as forks
    from assay.app import jobs_desk as jobs_desk
    from assay.app import listed_places as listed_places
    from assay.app import online as online
    from assay.app import overview as overview
    from assay.app import page_pictures as page_pictures
    from assay.app import pages as pages
    from assay.app import providers as providers
    from assay.app import queue_workers as queue_workers
    from assay.app import remote_runs as remote_runs
    from assay.app import requests as requests
    from assay.app import research_report as research_report
    from assay.app import results as results
    from assay.app import retention as retention
    from assay.app import run_control as run_control
    from assay.app import run_lists as run_lists
    from assay.app import run_search as run_search
    from assay.app import run_start as run_start
    from assay.app import shares as shares
    from assay.app import shelves as shelves
    from assay.app import uploads as uploads
    from assay.app import users as users
    from assay.app import verification as verification
    from assay.app import warmth as warmth
    from assay.app import webhook_delivery as webhook_delivery
    from assay.app import webhooks as webhooks
    from assay.app import worlds as worlds


def __getattr__(name: str) -> ModuleType:
    try:
        return import_module(f"assay.app.{name}")
    except ModuleNotFoundError as missing:
        if missing.name != f"assay.app.{name}":
            raise
        raise AttributeError(f"module 'assay.app' has no attribute {name!r}") from None
