"""The option which names a collection to the commands of `assay docs`."""

from __future__ import annotations

import click

from assay.cli.stored_names import collection_names

collection_option = click.option(
    "-c",
    "--collection",
    default="default",
    show_default=True,
    metavar="NAME",
    shell_complete=collection_names,
    help="Name of the collection.",
)
any_collection_option = click.option(
    "-c",
    "--collection",
    metavar="NAME",
    shell_complete=collection_names,
    help="Name of the collection; all collections if omitted.",
)
embedder_option = click.option(
    "--embedder",
    metavar="PROVIDER:MODEL",
    help="Search by meaning too (ollama:nomic-embed-text) [embedder.model].",
)
