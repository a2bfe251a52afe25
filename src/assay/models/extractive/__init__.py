"""The built-in model: plans from the question's words, quotes the documents, abstains when they hold nothing."""

from assay.models.extractive.model import Extractive, create

__all__ = ["Extractive", "create"]
