"""The option which names a collection to the commands of `assay docs`."""

from __future__ import annotations

import click

from assay.cli.collections import collection_names

collection = click.option(
    "-c",
    "--collection",
    default="default",
    show_default=True,
    metavar="NAME",
    shell_complete=collection_names,
    help="Which collection.",
)
any_collection = click.option(
    "-c",
    "--collection",
    metavar="NAME",
    shell_complete=collection_names,
    help="Which collection; without it all of them.",
)
embedder = click.option(
    "--embedder",
    metavar="PROVIDER:MODEL",
    help="Search by meaning too, with this embedder (ollama:nomic-embed-text, fastembed:FOLDER) [embedder.model].",
)
