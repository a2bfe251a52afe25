"""The prompts of a package, as agents and phases ask for them."""

from __future__ import annotations

from assay.run.wording import hashes as hashes
from assay.run.wording import prompt as prompt
