"""Files become snapshots and documents of the library.

Content-addressed: what is known is not stored again, and a file which has not changed is not read again.

    files      which files there are          opening    the bytes of one file, whatever it is
    units      what is in them, in order      shelf      what was read, into the library in batches
    leaving    what is read only where it was named
"""

from assay.evidence.ingest import exclusions
from assay.evidence.ingest.files import UPLOADED, FileToRead, address, find_files, printable
from assay.evidence.ingest.ingestion import LARGEST, FileReaders, Ingested, IngestTarget, ReadingProgress, ingest
from assay.evidence.ingest.units import IngestPart, Unit, UnitProblem, Units, extractor_for, page_name

__all__ = [
    "LARGEST",
    "UPLOADED",
    "FileReaders",
    "FileToRead",
    "IngestPart",
    "IngestTarget",
    "Ingested",
    "ReadingProgress",
    "Unit",
    "UnitProblem",
    "Units",
    "address",
    "exclusions",
    "extractor_for",
    "find_files",
    "ingest",
    "page_name",
    "printable",
]
