"""Assay: deep research you can check.

The public names, loaded when they are first used, so that `assay --help` and `import assay` stay quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from assay.app.assay import Assay as Assay
    from assay.app.claim_judge import judge_rows as judge_rows
    from assay.app.model_trial import TrialOutcome as TrialOutcome
    from assay.app.model_trial import try_model as try_model
    from assay.app.shortcuts import research as research
    from assay.app.shortcuts import research_sync as research_sync
    from assay.app.verification import Rechecked as Rechecked
    from assay.app.verification import VerifiedText as VerifiedText
    from assay.core.errors import AssayError as AssayError
    from assay.core.events import Envelope as Envelope
    from assay.core.report import Report as Report
    from assay.core.view import RunView as RunView
    from assay.evidence.documents import CitedPassage as CitedPassage
    from assay.services.claim_checks import CheckedRow as CheckedRow
    from assay.services.claim_checks import ClaimRow as ClaimRow
    from assay.services.claim_checks import check as check
    from assay.services.results import ResearchReport as ResearchReport
    from assay.services.results import RunHandle as RunHandle
    from assay.settings import Settings as Settings

_WHERE = {
    "Assay": "assay.app.assay",
    "check": "assay.services.claim_checks",
    "CheckedRow": "assay.services.claim_checks",
    "ClaimRow": "assay.services.claim_checks",
    "judge_rows": "assay.app.claim_judge",
    "TrialOutcome": "assay.app.model_trial",
    "try_model": "assay.app.model_trial",
    "CitedPassage": "assay.evidence.documents",
    "research": "assay.app.shortcuts",
    "ResearchReport": "assay.services.results",
    "RunHandle": "assay.services.results",
    "research_sync": "assay.app.shortcuts",
    "Rechecked": "assay.app.verification",
    "VerifiedText": "assay.app.verification",
    "AssayError": "assay.core.errors",
    "Envelope": "assay.core.events",
    "Report": "assay.core.report",
    "RunView": "assay.core.view",
    "Settings": "assay.settings",
}

__all__ = [
    "Assay",
    "AssayError",
    "CheckedRow",
    "CitedPassage",
    "ClaimRow",
    "Rechecked",
    "Report",
    "ResearchReport",
    "RunHandle",
    "RunView",
    "Settings",
    "TrialOutcome",
    "VerifiedText",
    "check",
    "judge_rows",
    "research",
    "research_sync",
    "try_model",
]


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module 'assay' has no attribute {name!r}")
    return getattr(import_module(_WHERE[name]), name)


def __dir__() -> list[str]:
    return list(__all__)
