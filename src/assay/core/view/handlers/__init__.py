"""What each kind of event changes. A kind without a handler here changes nothing a reader sees."""

from assay.core.view.handlers import report_handlers, research_handlers, run_handlers
from assay.core.view.handlers.registry import HANDLERS

__all__ = ["HANDLERS", "field_handlers", "report_handlers", "research_handlers", "run_handlers"]
