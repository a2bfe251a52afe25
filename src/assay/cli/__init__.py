"""The command line: a reader and starter of runs, with no rules of its own."""

try:
    from assay.cli.main import main
except KeyboardInterrupt:  # Ctrl-C while the commands are loaded: no place for a traceback
    raise SystemExit(130) from None

__all__ = ["main"]
