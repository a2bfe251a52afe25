"""Questions asked again and again: when each is due, the runs that answered it, and what changed between two.

    every     how often, as people say it        book      the schedules of a home
    due       asking what is due                 lasting   options as they may lie in a file for years

`due` and `lasting` are to be imported by who needs them: they need the whole of `Assay`, which knows of schedules.
"""

from assay.services.schedules.book import Schedule, ScheduleBook, read_every, said

__all__ = ["Schedule", "ScheduleBook", "read_every", "said"]
