"""What each kind of event changes. A kind without a handler here changes nothing a reader sees."""

from assay.core.view.handlers import fields, reports, research, runs
from assay.core.view.handlers.registry import HANDLERS

__all__ = ["HANDLERS", "fields", "reports", "research", "runs"]
