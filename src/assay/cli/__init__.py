"""The command line: starts and reads runs, and has no rules of its own."""

try:
    from assay.cli.main import main
except KeyboardInterrupt:  # Ctrl-C while the commands are loaded: a traceback would not help
    raise SystemExit(130) from None

__all__ = ["main"]
