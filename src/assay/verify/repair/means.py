"""What repair may do, and with what."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

from assay.core.claims import RepairName
from assay.evidence.ledger import Ledger
from assay.run.protocols import Tool


def _same(text: str) -> str:
    return text


class Means(msgspec.Struct, frozen=True, kw_only=True):
    """What a report is repaired with.

    `ledger` sees all lanes; `tools` are the run's own; `off` names stages which are not gone through. `emptied` stands
    under a heading which has to stay and lost all it had ("": such a heading goes). `retell` puts right what the text
    says of itself (of when it is) after it was changed.
    """

    ledger: Ledger
    tools: Mapping[str, Tool]
    off: tuple[RepairName, ...] = ()
    emptied: str = ""
    retell: Callable[[str], str] = _same
