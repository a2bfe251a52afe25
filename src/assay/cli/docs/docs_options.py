"""The option which names a collection to the commands of `assay docs`."""

from __future__ import annotations

import click

from assay.cli.collection_names import collection_names

collection = click.option(
    "-c",
    "--collection",
    default="default",
    show_default=True,
    metavar="NAME",
    shell_complete=collection_names,
    help="Name of the collection.",
)
any_collection = click.option(
    "-c",
    "--collection",
    metavar="NAME",
    shell_complete=collection_names,
    help="Name of the collection; all collections if omitted.",
)
embedder = click.option(
    "--embedder",
    metavar="PROVIDER:MODEL",
    help="Also search by meaning, with this embedder (ollama:nomic-embed-text, fastembed:FOLDER) [embedder.model].",
)
