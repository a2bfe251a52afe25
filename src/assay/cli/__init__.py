"""The command line: a reader and starter of runs, with no rules of its own."""

from assay.cli.main import main

__all__ = ["main"]
