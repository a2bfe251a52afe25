"""The built-in model: plans from the question's words, quotes documents, and gives no answer if they have none."""

from assay.models.extractive.model import Extractive, create

__all__ = ["Extractive", "create"]
