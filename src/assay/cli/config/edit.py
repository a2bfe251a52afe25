"""`assay config edit`."""

from __future__ import annotations

import tempfile
from pathlib import Path

import click

from assay.cli.questions import may_ask
from assay.cli.terminal import first_word, say
from assay.core.errors import ConfigError
from assay.settings.file import check, contents, replace

BEGUN = "# Settings of Assay. `assay config list` names all of them, with their defaults.\n"
"""What an editor shows where there is no file yet."""


@click.command("edit")
def command() -> None:
    """Open the settings file in your editor ($VISUAL or $EDITOR), and save it if every setting in it is right.

    You edit a draft. What is wrong with it is said, and you may edit it again; until it is right, the file stays as it
    is, and the draft is kept.

    \b
        assay config edit
        EDITOR=nano assay config edit
        assay config path
    """
    before = contents()
    draft = Path(tempfile.mkstemp(prefix="assay-config-", suffix=".toml")[1])
    draft.write_text(before or BEGUN, encoding="utf-8")
    first_word.erase()
    while True:
        click.edit(filename=str(draft))
        try:
            text = draft.read_text(encoding="utf-8")
            if text == (before or BEGUN):
                say("nothing was changed")
                break
            check(draft)
            say(f"saved in {replace(before, text)}")
            break
        except (ConfigError, UnicodeDecodeError) as error:
            if not may_ask():
                raise ConfigError(f"{error}; nothing was saved, correct your draft: {draft}") from error
            say(f"{error}")
            if not click.confirm("Edit it again?", default=True, err=True):
                raise ConfigError(f"nothing was saved; your draft is kept, to correct it by hand: {draft}") from error
    draft.unlink()
