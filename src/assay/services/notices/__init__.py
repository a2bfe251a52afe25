"""Telling somebody that a run has ended or needs an answer: a command gets JSON on stdin, an address by POST.

    notice     what is told        targets    who is told        sending    the telling itself

`sending` is to be imported by who sends: it costs a start more than the rest.
"""

from assay.services.notices.notice import Changes, RunNotice, Target, changes_of, notice_of, read_target

__all__ = ["Changes", "RunNotice", "Target", "changes_of", "notice_of", "read_target"]
