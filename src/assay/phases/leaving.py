"""What a reader must know of private documents which were allowed to leave the machine."""

from __future__ import annotations

from assay.core.brief import Brief

WEB = "the web"
"""Stands among the models of `Brief.private_to` where the web may be asked."""


def leaving(brief: Brief) -> tuple[str, ...]:
    """Where private documents may have gone; nothing where they stayed."""
    models = [name for name in brief.private_to if name != WEB]
    said = [f"{', '.join(models)} may have seen them"] if models else []
    if WEB in brief.private_to:
        said.append("what was searched for on the web may tell of them")
    return (f"Private documents were in scope and allowed to leave this machine: {'; '.join(said)}.",) if said else ()
