"""`assay keys sign list`."""

from __future__ import annotations

import click
import msgspec

from assay.app import signatures
from assay.cli import options
from assay.cli.tables import table
from assay.cli.terminal import write


@click.command("list")
@options.json_output
@options.verbosity
def command(as_json: bool) -> None:
    """Whose signatures of bundles are trusted; your own key is there as `you`.

    \b
        assay keys sign list
        assay keys sign list --json
    """
    found = signatures.signers()
    if as_json:
        rows = [{"signer": name, "key": str(key), "key_id": key.name} for name, key in found.items()]
        write(msgspec.json.format(msgspec.json.encode(rows)).decode())
        return
    table(("signer", "public key"), [(name, str(key)) for name, key in found.items()])
