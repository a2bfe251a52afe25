"""`assay chat`: questions and follow-ups in one session."""

from assay.cli.chat.command import command as command
