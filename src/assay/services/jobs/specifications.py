"""What a job may be asked to do; each kind with what it needs. The name of a kind is how it is stored."""

from __future__ import annotations

import msgspec

from assay.core.markers import CitationMode
from assay.services.texts import DEFAULT


class AddJob(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="add"):
    """Read files, folders, pages and what connectors understand into a collection; large folders in parts."""

    paths: tuple[str, ...]
    collection: str = DEFAULT


class FilesJob(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="files"):
    """Read some files of a place into a collection: a part of an `AddJob`."""

    place: str
    files: tuple[str, ...]
    collection: str


class CrawlJob(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="crawl"):
    """Read the pages of one site into a collection."""

    url: str
    collection: str = DEFAULT
    pages: int = 200
    depth: int = 5


class SyncJob(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="sync"):
    """Look again at all a collection was added from."""

    collection: str = DEFAULT


class EmbedJob(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="embed"):
    """Make the vectors which are missing, or all of them anew."""

    anew: bool = False


class ExportJob(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="export"):
    """Write the report of a run to a file, in the format of its name."""

    run: str
    file: str
    citations: CitationMode = "numbers"


class PruneJob(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="prune"):
    """Delete the runs which the settings do not keep, and what nobody refers to any more."""


JobWork = AddJob | CrawlJob | SyncJob | EmbedJob | ExportJob | PruneJob
