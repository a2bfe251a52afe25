"""`assay keys sign create`."""

from __future__ import annotations

import click

from assay.app import signatures
from assay.cli.terminal import say, write


@click.command("create")
@click.option("--replace", is_flag=True, help="Replace the key there is; nothing can be signed with it any more.")
def command(replace: bool) -> None:
    """Make a key for signing bundles (Ed25519). The public half is printed, the secret one is in the settings file.

    \b
        assay keys sign create
        assay runs export last -o report.zip --sign
        assay verify report.zip --signer RWQf6L…       # what others do with the line that is printed here
    """
    key, path = signatures.create(replace=replace)
    say(f"the secret key is in {path}, for you alone; this is the public one, for those who check your bundles:")
    write(str(key))
