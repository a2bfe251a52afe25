"""Files become snapshots and documents of the library.

Content-addressed: known content is not stored again, and an unchanged file is not read again.

files            finds the files, and leaves out those that nobody reads
units            what is in them, in order
document_intake  collects what was read and writes it
ingestion        reads files and pages one after the other
"""

from assay.evidence.ingest.files import UPLOADED, FileToRead, absolute_paths, address, find_files, printable
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
    "absolute_paths",
    "address",
    "extractor_for",
    "find_files",
    "ingest",
    "page_name",
    "printable",
]
