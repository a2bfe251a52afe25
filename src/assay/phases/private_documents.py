"""What a reader must know of private documents which were allowed to leave the machine."""

from __future__ import annotations

from assay.core.brief import Brief
from assay.core.translation import gettext as _
from assay.core.translation import listed

WEB = "the web"
"""Stands among the models of `Brief.private_to` where the web may be asked."""


def leaving(brief: Brief) -> tuple[str, ...]:
    """Where private documents may have gone; nothing where they stayed."""
    models = [name for name in brief.private_to if name != WEB]
    said = [_("{models} may have seen them").format(models=listed(models))] if models else []
    if WEB in brief.private_to:
        said.append(_("what was searched for on the web may tell of them"))
    told = _("Private documents were in scope and allowed to leave this machine: {what}.")
    return (told.format(what=_("; ").join(said)),) if said else ()
