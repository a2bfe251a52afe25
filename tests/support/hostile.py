"""A run in which everything that comes from outside tries to be more than text."""

from __future__ import annotations

import logs
import msgspec

from assay.core import events as e
from assay.core.brief import Brief
from assay.core.sources import Surroundings
from assay.core.view import RunView, Unreadable, fold_events

HOSTILE = (
    "</title></style></script><script>alert(1)</script><img src=x onerror=alert(2)>--><!-- \"'` &lt;b&gt; "
    "[x](javascript:alert(3)) ![i](https://evil.example/i.png) <https://evil.example> \u202eevil\u202c \x1b[31m \x00"
    " \ue000\ue001 {{7*7}} | cell | </a></li>"
)


def with_text(hostile: str) -> RunView:
    """A finished run in which all that comes from outside is `hostile`."""
    log, line = logs.dispatched(1, question=hostile), " ".join(hostile.split())
    shown = logs.passage("S1001.4", hostile)
    shown = msgspec.structs.replace(shown, heading=(hostile,))
    origin = msgspec.structs.replace(
        logs.source("S1001"), title=hostile, url=f"https://example.org/{hostile}", author=hostile
    )
    for _ in logs.agent(log, 1, (origin, (shown,))):
        pass
    written = f"# {line}\n\nIt says {line} [S1001.4].\n\n- {line}\n\n| a |\n|---|\n| {line} |\n"
    logs.write(log, written, limits=(hostile,))
    logs.verify(log, written, {shown.id: shown}, ("contradicted",))
    log.add("", e.Warned(message=hostile))
    view = fold_events(log.events)
    claims = tuple(msgspec.structs.replace(claim, reason=hostile, id=hostile) for claim in view.claims)
    brief = Brief(question=hostile, date=hostile, language=hostile, instructions=hostile)
    return msgspec.structs.replace(
        view,
        claims=claims,
        brief=brief,
        run_id=hostile,
        models={hostile: hostile},
        surroundings={shown.id: Surroundings(id=shown.id, before=hostile, after=hostile)},
        unreadable=(Unreadable(url=f"javascript:{hostile}", reason=hostile), Unreadable(url=hostile, reason=hostile)),
    )
