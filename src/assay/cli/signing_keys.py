"""`assay keys sign`: keys that sign bundles, and keys whose signatures are trusted."""

from __future__ import annotations

import click
import msgspec

from assay.app import signatures
from assay.cli import options
from assay.cli.terminal import say, table, write


@click.command("create")
@click.option("--replace", is_flag=True, help="Replace the current key, which can then sign nothing more.")
def create_key(replace: bool) -> None:
    """Create a key for signing bundles (Ed25519). The public half is printed; the secret half goes into the settings
    file.

    \b
        assay keys sign create
        assay runs export last -o report.zip --sign
        assay verify report.zip --signer RWQf6L…       # what others run, with the printed line
    """
    key, path = signatures.create(replace=replace)
    say(f"the secret key is in {path}, for you alone; this is the public one, for those who check your bundles:")
    write(str(key))


@click.command("show")
def show_key() -> None:
    """Print the public half of your signing key, in the format of minisign.

    \b
        assay keys sign show
        assay keys sign show > assay.pub
    """
    write(str(signatures.own_key()))


@click.command("trust")
@click.argument("name")
@click.argument("key")
def trust_key(name: str, key: str) -> None:
    """Trust bundles signed with KEY (a public key, or a file with one) as coming from NAME.

    \b
        assay keys sign trust ana ana.pub
        assay keys sign trust ana RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3
    """
    read, path = signatures.trust(name, key)
    say(f"what key {read.name} signs is trusted as {name}'s ({path})")


@click.command("distrust")
@click.argument("name")
def distrust_key(name: str) -> None:
    """Stop trusting the signatures of NAME.

    \b
        assay keys sign distrust ana
        assay keys sign distrust "Ana's laptop"
    """
    said = "is trusted no more" if signatures.distrust(name) else "was not trusted by the settings file"
    say(f"{name} {said}")


@click.command("list")
@options.json_output
@options.verbosity
def list_keys(as_json: bool) -> None:
    """List whose signatures you trust. Your own key is listed as `you`.

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
