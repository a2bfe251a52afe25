"""A run as plain lines, and words counted and shortened, as commands say them."""

from assay.core.milestones import counted as counted
from assay.core.milestones import detail as detail
from assay.core.milestones import lines as lines
from assay.core.milestones import milestone as milestone
from assay.core.milestones import shorten as shorten
