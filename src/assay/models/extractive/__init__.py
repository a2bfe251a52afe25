"""The built-in model: plans from the question's words, quotes the documents, abstains when they hold nothing."""

from assay.models.extractive.model import Extractive, create
from assay.models.extractive.reporting import BUILT_IN_NOTE, NOT_FOUND, NOTHING

__all__ = ["BUILT_IN_NOTE", "NOTHING", "NOT_FOUND", "Extractive", "create"]
