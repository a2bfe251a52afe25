"""`assay chat`: questions and follow-ups in one sitting."""

from assay.cli.chat.command import command as command
