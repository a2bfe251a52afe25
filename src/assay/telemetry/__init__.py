"""Observability: lines of a log, and spans for OpenTelemetry. Runs report to both through `core.ports.Watch`.

Neither is imported unless it is used.
"""
