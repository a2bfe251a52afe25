"""What a store shows of one owner's rows."""

from __future__ import annotations

import copy
from typing import Self


class OwnedView:
    """The rows of one owner, or of all where the owner is None."""

    _owner: str | None = None

    def owned_by(self, owner: str | None) -> Self:
        """The same rows as one owner knows them; see the port."""
        view = copy.copy(self)
        view._owner = owner
        return view
