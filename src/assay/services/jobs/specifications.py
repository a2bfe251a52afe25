"""The specifications of jobs: each kind with its arguments. The name of a kind is stored."""

from __future__ import annotations

from typing import Any

import msgspec

from assay.core.markers import CitationMode
from assay.services.arguments import DEFAULT_COLLECTION

TITLES = {
    "crawl": "crawl {0.url} into {0.collection}",
    "sync": "sync {0.collection}",
    "export": "export run {0.run} to {0.file}",
    "prune": "delete runs which are kept no longer",
    "index": "index the library",
    "verify": "verify {0.file}",
    "batch": "research the questions of {0.file} into {0.folder}",
    "due": "ask what is due in {0.home}",
    "notices": "tell webhooks what is due",
}


class _Job(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind"):
    """What all jobs have."""

    @property
    def title(self) -> str:
        """The name of such a job, for people."""
        return TITLES[str(self.__struct_config__.tag)].format(self)


class AddJob(_Job, frozen=True, kw_only=True, tag="add"):
    """Read files, folders, pages and what connectors understand into a collection; large folders in parts."""

    paths: tuple[str, ...]
    collection: str = DEFAULT_COLLECTION

    @property
    def title(self) -> str:
        others_text = f" and {len(self.paths) - 2} more" if len(self.paths) > 2 else ""
        return f"add {', '.join(self.paths[:2])}{others_text} to {self.collection}"


class FilesJob(_Job, frozen=True, kw_only=True, tag="files"):
    """Read some files of a place into a collection: a part of an `AddJob`.

    For a place that a connector lists, `kept` is the name under which it was listed (a commit), and `versions` are
    those of the files; for files on disk both are empty.
    """

    place: str
    files: tuple[str, ...]
    collection: str
    kept: str = ""
    versions: tuple[str, ...] = ()


class CrawlJob(_Job, frozen=True, kw_only=True, tag="crawl"):
    """Read the pages of one site into a collection."""

    url: str
    collection: str = DEFAULT_COLLECTION
    pages: int = 200
    depth: int = 5


class SyncJob(_Job, frozen=True, kw_only=True, tag="sync"):
    """Look again at every place a collection was added from."""

    collection: str = DEFAULT_COLLECTION


class EmbedJob(_Job, frozen=True, kw_only=True, tag="embed"):
    """Make missing vectors, or all again."""

    anew: bool = False

    @property
    def title(self) -> str:
        return "make all vectors anew" if self.anew else "make missing vectors"


class ExportJob(_Job, frozen=True, kw_only=True, tag="export"):
    """Write the report of a run to a file, in the format of its name."""

    run: str
    file: str
    citations: CitationMode = "numbers"


class PruneJob(_Job, frozen=True, kw_only=True, tag="prune"):
    """Delete the runs that the settings do not keep, and what nothing refers to any more."""


class IndexJob(_Job, frozen=True, kw_only=True, tag="index"):
    """Update the search index from the library: the shared one, or that of the worker's home."""


class VerifyJob(_Job, frozen=True, kw_only=True, tag="verify"):
    """Check a text with citations, as `assay verify FILE` does, and write the results to `output` as JSON.

    With `find` set to uncited, evidence is searched for sentences without citations. `model` judges what the rules do
    not decide, within `max_usd` and `max_tokens`.
    """

    file: str
    output: str
    paths: tuple[str, ...] = ()
    web: bool = False
    find: bool | None = None
    model: str | None = None
    allow_private: bool = False
    max_usd: float | None = None
    max_tokens: int | None = None


class BatchJob(_Job, frozen=True, kw_only=True, tag="batch"):
    """Research every question of a file, as `assay batch` does, with a row and a report each in `folder`.

    `options` are those of `Assay.start`; `max_usd` and `max_tokens` limit all runs together.
    """

    file: str
    folder: str
    at_once: int = 2
    paths: tuple[str, ...] | None = None
    max_usd: float | None = None
    max_tokens: int | None = None
    suffix: str = ".md"
    citations: CitationMode = "numbers"
    options: dict[str, Any] = {}


class DueJob(_Job, frozen=True, kw_only=True, tag="due"):
    """Ask every due question of the schedules in `home`, as `assay schedule run-due` does."""

    home: str


class NoticesJob(_Job, frozen=True, kw_only=True, tag="notices"):
    """Send due webhook messages, if no server does it."""


JobWork = (
    AddJob
    | CrawlJob
    | SyncJob
    | EmbedJob
    | IndexJob
    | ExportJob
    | VerifyJob
    | BatchJob
    | DueJob
    | NoticesJob
    | PruneJob
)
