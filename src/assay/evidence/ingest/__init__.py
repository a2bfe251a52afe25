"""Files become snapshots and documents of the library.

Content-addressed: what is known is not stored again, and a file which has not changed is not read again.

    files      which files there are          opening    the bytes of one file, whatever it is
    units      what is in them, in order      shelf      what was read, into the library in batches
"""

from assay.evidence.ingest.files import Found, find_files, printable
from assay.evidence.ingest.reading import LARGEST, Ingested, Progress, ingest
from assay.evidence.ingest.units import Part, Problem, Unit, Units, extractor_for

__all__ = [
    "LARGEST",
    "Found",
    "Ingested",
    "Part",
    "Problem",
    "Progress",
    "Unit",
    "Units",
    "extractor_for",
    "find_files",
    "ingest",
    "printable",
]
