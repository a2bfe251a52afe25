"""What `Assay` checks beside its runs: a text of your own, a report once more, a run computed again."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from pathlib import Path

from assay.app.cited_texts import Desk, VerifiedText, verify_text
from assay.app.online import Online
from assay.app.replays import Replay, compared
from assay.core.brief import Brief
from assay.core.errors import UsageError
from assay.core.ports import RunRow, World
from assay.core.view import RunView
from assay.evidence.documents import Reader
from assay.evidence.ingest import Ingested
from assay.run.engine import Outcome
from assay.run.replaying import replay
from assay.run.run import Run
from assay.store.common import Store
from assay.store.memory import memory_store
from assay.verify.again import Again, Rechecked, recheck
from assay.verify.holdings import text_of

__all__ = ["Again", "Rechecked", "VerifiedText", "Verifying"]


class Verifying:
    """The part of `Assay` which checks texts, old reports and old runs."""

    _store: Store
    _reader: Reader
    _online: Online

    async def find(self, reference: str) -> RunRow:
        """A run by its id, the start of its id, or `last`."""
        raise NotImplementedError

    async def view(self, reference: str) -> RunView:
        """A run as its events tell it."""
        raise NotImplementedError

    async def _pipeline(self, run: Run) -> Outcome:
        raise NotImplementedError

    def _any_world(self, brief: Brief) -> World:
        raise NotImplementedError

    async def add(
        self,
        paths: str | Path | Iterable[str | Path],
        collection: str | None = None,
        progress: Callable[[str], None] | None = None,
    ) -> Ingested:
        """Read files, folders, globs and pages into the library."""
        raise NotImplementedError

    async def verify(
        self,
        text: str,
        *,
        sources: str | Path | Iterable[str | Path] = (),
        folder: str | Path = ".",
        web: bool = False,
        progress: Callable[[str], None] | None = None,
    ) -> VerifiedText:
        """Check every claim of a text with citations or links against the documents it names. No model is asked.

        Args:
            text: Markdown or plain text, with its list of references where it cites by number.
            sources: files, folders, globs and pages it may cite.
            folder: what paths in the text are relative to.
            web: fetch the pages it cites which are not among `sources`, by the rules of the settings.
            progress: told in a line how the reading of documents goes.

        Raises:
            UsageError: neither documents nor the web, a path that does not exist, a text which is too long.
        """
        paths = [str(sources)] if isinstance(sources, str | Path) else [str(path) for path in sources]
        if not paths and not web:
            raise UsageError("there is nothing to hold the text against: name its documents, or allow the web")
        ingested = await self.add(paths, None, progress) if paths else None
        library = self._store.library
        documents = await asyncio.to_thread(library.documents, [ingested.collection]) if ingested else []
        desk = Desk(library, self._reader, self._online if web else None)
        return await verify_text(text, documents, desk, Path(folder), ingested.warnings if ingested else ())

    async def recheck(self, reference: str) -> Rechecked:
        """Check the report of a run by the rules of today, against the documents as they are stored.

        Raises:
            UnknownName: no such run.
            UsageError: it has no report.
        """
        view = await self.view(reference)
        if not view.claims and view.report.state != "finished":
            raise UsageError(f"run {view.run_id} has no finished report")
        off = view.brief.checks_off if view.brief else ()
        return await asyncio.to_thread(recheck, view, text_of(self._store.library, self._reader), off)

    async def replay(self, reference: str) -> Replay:
        """Compute a completed run again from its stored steps: nothing is asked, fetched or changed.

        Raises:
            UnknownName: no such run.
            UsageError: it is not completed.
        """
        run_id, journal = (await self.find(reference)).run_id, self._store.journal
        replayed = await replay(run_id, journal, memory_store().journal, self._pipeline, self._any_world)
        return compared(replayed, await journal.events(run_id))
