"""Seeing inside: lines of a log, and spans for OpenTelemetry. Both are told by runs through `core.ports.Watch`.

Neither is imported before somebody asks for it.
"""
