"""Repeated questions: when each is due, the runs that answered it, and what changed between two.

every     how often, as people write it      book      the schedules of a home due       asking what is due
lasting   options in a form that stays valid for years

Import `due` and `lasting` directly: they need the whole of `Assay`, which knows schedules.
"""

from assay.services.schedules.book import Schedule, ScheduleBook, format_interval, read_every

__all__ = ["Schedule", "ScheduleBook", "format_interval", "read_every"]
