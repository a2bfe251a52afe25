"""Checks of the evidence in a bundle: documents, snapshots, and every cited passage in its document."""

from __future__ import annotations

from collections.abc import Iterator

from assay.core.errors import StoreError
from assay.core.integrity import misquoted
from assay.core.sources import Passage, Surroundings, sha256
from assay.export.bundle.contents import SOURCES, SourceOrigin, cited_passages, cited_sources, decode, document_name
from assay.export.bundle.opened_bundle import Bundle
from assay.export.bundle.result import BundleCheck, checked


def documents(bundle: Bundle) -> Iterator[BundleCheck]:
    """The text of every cited document is there, is UTF-8, and has its hash; no other is there."""
    wanted = {document_name(source): source.document_sha256 for source in cited_sources(bundle.view)}
    problems = [*_files(bundle, wanted), *_not_text(bundle, wanted), *_uncited(bundle, "documents/", wanted)]
    yield checked("documents", len(wanted), problems)


def snapshots(bundle: Bundle) -> Iterator[BundleCheck]:
    """The snapshot of every cited document is there and has its hash; no other is there; all are accounted for."""
    sources = cited_sources(bundle.view)
    wanted = {f"snapshots/{source.snapshot_sha256}": source.snapshot_sha256 for source in sources}
    problems = [*_files(bundle, wanted), *_uncited(bundle, "snapshots/", wanted), *_origins(bundle)]
    yield checked("snapshots", len(wanted), problems)


def passages(bundle: Bundle) -> Iterator[BundleCheck]:
    """Every cited passage is, byte for byte, what its document says at its place, and stands between what it should."""
    cited = cited_passages(bundle.view)
    problems = [problem for id, passage in cited.items() if (problem := _wrong(bundle, id, passage))]
    yield checked("passages", len(cited), problems)


def _files(bundle: Bundle, wanted: dict[str, str]) -> Iterator[str]:
    for name, hashed in wanted.items():
        if name not in bundle.members:
            yield f"{name} is cited and not there"
        elif sha256(bundle.members[name]) != hashed:
            yield f"{name} does not have the hash in its name"


def _not_text(bundle: Bundle, wanted: dict[str, str]) -> Iterator[str]:
    for name in wanted:
        try:
            str(bundle.members.get(name, b""), "utf-8")
        except UnicodeDecodeError:
            yield f"{name} is not UTF-8"


def _uncited(bundle: Bundle, folder: str, wanted: dict[str, str]) -> Iterator[str]:
    there = (name for name in bundle.members if name.startswith(folder))
    return (f"{name} is there and not cited" for name in there if name not in wanted)


def _origins(bundle: Bundle) -> Iterator[str]:
    """`sources.json` tells of exactly the cited documents, with their snapshots and the sizes these have."""
    try:
        origins = decode(bundle.members.get(SOURCES, b""), tuple[SourceOrigin, ...])
    except StoreError as error:
        yield f"{SOURCES} cannot be read: {error}"
        return
    told = [(each.document_sha256, each.snapshot_sha256) for each in origins]
    cited = [(each.document_sha256, each.snapshot_sha256) for each in cited_sources(bundle.view)]
    if told != cited:
        yield f"{SOURCES} does not tell of the cited documents and their snapshots"
        return
    for each in origins:
        sizes = (each.document_size, each.snapshot_size)
        names = (f"documents/{each.document_sha256}.txt", f"snapshots/{each.snapshot_sha256}")
        for name, size in zip(names, sizes, strict=True):
            if name in bundle.members and len(bundle.members[name]) != size:
                yield f"{name} does not have the size {SOURCES} tells"


def _wrong(bundle: Bundle, id: str, passage: Passage) -> str:
    name = f"documents/{passage.document_sha256}.txt"
    if name not in bundle.members:
        return f"passage {id}: its document is not there"
    text = bundle.members[name]
    problem = misquoted(id, passage, text)
    if not problem and id in bundle.view.surroundings and not _around(text, passage, bundle.view.surroundings[id]):
        problem = "does not stand between what is shown around it"
    return f"passage {id} {problem}" if problem else ""


def _around(text: bytes | memoryview, passage: Passage, shown: Surroundings) -> bool:
    """Whether what is shown around a passage is what its document has there."""
    before, after = (part.encode("utf-8", "surrogatepass") for part in (shown.before, shown.after))
    first = passage.start - len(before)
    return (
        first >= 0 and text[first : passage.start] == before and text[passage.end : passage.end + len(after)] == after
    )
