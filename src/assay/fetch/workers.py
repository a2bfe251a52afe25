"""Processes that read files, so that a file that crashes, hangs or bloats its reader affects only itself.

They run `python -m assay.fetch.worker` and communicate through pipes. `multiprocessing` does not suit: its children
import the caller's main module again, which runs a script without a guard twice.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections import deque
from collections.abc import Iterator, Mapping
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import suppress
from typing import IO

import msgspec

from assay.core.clean import error_words
from assay.core.errors import EXTRACT_ERRORS, ExtractError, NoLetters, ReaderBroke, TooSlow
from assay.core.json_decoders import ready_types
from assay.core.ports import Extractor
from assay.core.sources import Extracted
from assay.fetch.pdf import SCAN_SECONDS, reads_scans
from assay.fetch.worker import ExtractionResult, Setup, Task, receive, send

TIMEOUT_SECONDS = 60.0
MEMORY_BYTES = 2 * 1024 * 1024 * 1024
MAX_PROCESSES = 4
PARSER_ERRORS = (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, EOFError)
"""What parsers raise for bytes they cannot take, or that are not built as they expect."""
LAST_WORDS_CHARS = 4_000
EXIT_SECONDS = 2.0
"""Seconds that a process has to end by itself after its answer failed."""
MIN_APART_BYTES = 1_000_000
"""From this many bytes on every file is read in a process; a smaller file costs less to read than to send."""


class Workers:
    """At most `count` processes, started on demand and kept until `close`; thread-safe.

    A file may take `seconds` by the clock and `memory` bytes of address space. The environment of a process is exactly
    `environment`: a process that reads untrusted files gets no keys.
    """

    def __init__(
        self,
        count: int = 0,
        *,
        seconds: float = TIMEOUT_SECONDS,
        memory: int = MEMORY_BYTES,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        ready_types()  # several threads receive results
        self._count = count or min(MAX_PROCESSES, os.cpu_count() or 1)
        self._seconds, self._memory = seconds, memory
        self._environment = dict(environment or {})
        self._threads: ThreadPoolExecutor | None = None
        self._lock = threading.Lock()
        self._idle: deque[_Worker] = deque()
        self._workers: list[_Worker] = []
        self._closed = False

    def isolate(self, extractor: Extractor, seconds: float | None = None) -> Extractor:
        """`extractor`, run in these processes; calling `extract` begins to read the file.

        A file may take `seconds`, if that is less than the limit for any file.
        """
        return _IsolatedExtractor(extractor, self, min(self._seconds, seconds or self._seconds))

    def isolate_large(self, extractor: Extractor) -> Extractor:
        """`extractor`, run here for small files and in these processes for large ones. A file that it cannot take is an
        `ExtractError` in both.
        """
        return _LargeApart(ExtractorHere(extractor), self.isolate(extractor))

    def submit(self, extractor: str, data: bytes, name: str, seconds: float | None = None) -> Future[ExtractionResult]:
        """Read a file with the extractor `module:Class` as soon as a process is free.

        Raises:
            RuntimeError: already closed.
        """
        task = Task(extractor=extractor, name=name, data=data, seconds=seconds or self._seconds)
        with self._lock:
            if self._closed:
                raise RuntimeError("the processes which read files are closed")
            if self._threads is None:
                self._threads = ThreadPoolExecutor(self._count, thread_name_prefix="worker")
            return self._threads.submit(self._run, task)

    def close(self) -> None:
        """End all processes, whatever they are doing."""
        with self._lock:
            self._closed = True
            threads, workers = self._threads, list(self._workers)
        if threads is not None:
            threads.shutdown(wait=False, cancel_futures=True)
            for worker in workers:
                worker.end()
            threads.shutdown()

    def pids(self) -> list[int]:
        """The live processes."""
        with self._lock:
            return [worker.pid for worker in self._workers if worker.pid]

    def _run(self, task: Task) -> ExtractionResult:
        with self._lock:
            if self._closed:
                return ExtractionResult(failure="reading was ended")
            worker = self._idle.pop() if self._idle else _Worker(self._memory, self._environment)
            if worker not in self._workers:
                self._workers.append(worker)
        try:
            return worker.run(task)
        finally:
            with self._lock:
                self._idle.append(worker)


class _IsolatedExtractor:
    """An extractor, seen from outside, that runs in a process."""

    isolated = True

    def __init__(self, extractor: Extractor, workers: Workers, seconds: float) -> None:
        self.name, self.suffixes, self.media_type = extractor.name, extractor.suffixes, extractor.media_type
        self._reference = f"{type(extractor).__module__}:{type(extractor).__qualname__}"
        self._workers, self._seconds = workers, seconds
        scans: str = getattr(extractor, "scans", "")
        self._scans = scans if scans and seconds >= TIMEOUT_SECONDS and reads_scans() else ""

    def extract(self, data: bytes, name: str) -> Iterator[Extracted]:
        """See the port; work begins at once."""
        return self._documents(self._workers.submit(self._reference, data, name, self._seconds), data, name)

    def _documents(self, future: Future[ExtractionResult], data: bytes, name: str) -> Iterator[Extracted]:
        try:
            result = future.result()
        except CancelledError:
            result = ExtractionResult(failure="reading was ended", kind=ReaderBroke.kind)
        if result.kind == NoLetters.kind and self._scans:
            result = self._workers.submit(self._scans, data, name, SCAN_SECONDS).result()
        yield from _documents(result)


class ExtractorHere:
    """An extractor run in this process; a file that it cannot take is an `ExtractError`, as in a process of its own."""

    isolated = False

    def __init__(self, extractor: Extractor) -> None:
        self.name, self.suffixes, self.media_type = extractor.name, extractor.suffixes, extractor.media_type
        self._extractor = extractor

    def extract(self, data: bytes, name: str) -> Iterator[Extracted]:
        """See the port; the documents before an error are kept."""
        try:
            yield from self._extractor.extract(data, name)
        except PARSER_ERRORS as error:
            raise ReaderBroke(f"its reader {self.name} failed ({type(error).__name__}: {error})") from error


class _LargeApart:
    """An extractor that reads large files in a process, so that they can be stopped."""

    isolated = False

    def __init__(self, extractor: Extractor, elsewhere: Extractor) -> None:
        self.name, self.suffixes, self.media_type = extractor.name, extractor.suffixes, extractor.media_type
        self._in_process, self._elsewhere = extractor, elsewhere

    def extract(self, data: bytes, name: str) -> Iterator[Extracted]:
        return (self._in_process if len(data) < MIN_APART_BYTES else self._elsewhere).extract(data, name)


def _documents(result: ExtractionResult) -> Iterator[Extracted]:
    yield from result.documents
    if result.failure:
        raise EXTRACT_ERRORS.get(result.kind, ExtractError)(result.failure)


class _Worker:
    """One process, restarted after it ended. Not thread-safe, except `end`."""

    def __init__(self, memory: int, environment: Mapping[str, str]) -> None:
        self._memory, self._environment = memory, environment
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._errors: IO[bytes] | None = None
        self._busy = self._late = self._ended = self._crashed = False

    @property
    def pid(self) -> int:
        """The id of the process, 0 without one."""
        process = self._process
        return process.pid if process is not None else 0

    def run(self, task: Task) -> ExtractionResult:
        """Read a file and return a result, whatever happens to the process.

        A process that crashed with this file may have been broken by an earlier one; then a fresh process tries again.
        """
        used = self._process is not None
        result = self._read(task)
        return self._read(task) if used and self._crashed else result

    def _read(self, task: Task) -> ExtractionResult:
        self._crashed = False
        try:
            process = self._start()
        except (OSError, ValueError) as error:
            return ExtractionResult(
                failure=f"its reader cannot be started ({error_words(error)})", kind=ReaderBroke.kind
            )
        timer = threading.Timer(task.seconds, self._kill_late)
        timer.daemon = True
        timer.start()
        try:
            return self._send_task(process, task)
        except (OSError, EOFError, ValueError, msgspec.MsgspecError) as error:
            return self._failure_result(process, task, error)
        finally:
            timer.cancel()

    def end(self) -> None:
        """Kill the process and wait for it; no other is started."""
        with self._lock:
            self._ended = True
            if self._process is not None:
                self._process.kill()
            busy = self._busy
        if not busy:  # else the thread that waits for its reply does it
            self._clean_up()

    def _start(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._process.poll() is not None:
            self._clean_up()  # it ended between two files, which is not the next one's fault
        with self._lock:
            if self._ended:
                raise ValueError("reading was ended")
            self._busy, self._late = True, False
            if self._process is not None:
                return self._process
            self._errors = tempfile.TemporaryFile()  # noqa: SIM115  # closed with the process
            self._process = subprocess.Popen(
                # -P: a file in the working folder must not be imported as a module
                [sys.executable, "-P", "-m", "assay.fetch.worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                env=self._environment,
                start_new_session=True,  # Ctrl-C is for the waiting process
            )
            process = self._process
        assert process.stdin is not None
        # The caller's module path; "" would be the working folder.
        send(process.stdin, Setup(path=tuple(path for path in sys.path if path), memory=self._memory))
        return process

    def _send_task(self, process: subprocess.Popen[bytes], task: Task) -> ExtractionResult:
        assert process.stdin is not None
        assert process.stdout is not None
        send(process.stdin, task)
        result = receive(process.stdout, ExtractionResult)
        with self._lock:
            self._busy = False
            late = self._late
        if late or self._ended:
            self._clean_up()
        return result

    def _kill_late(self) -> None:
        with self._lock:
            if self._busy and self._process is not None:
                self._late = True
                self._process.kill()

    def _failure_result(self, process: subprocess.Popen[bytes], task: Task, error: Exception) -> ExtractionResult:
        """The failure to report for a process that gave no result; it is gone afterwards."""
        code = _exit_code(process)
        words = self._last_words()
        self._clean_up()
        if self._ended:
            return ExtractionResult(failure="reading was ended", kind=ReaderBroke.kind)
        if self._late or code == -getattr(signal, "SIGXCPU", 0):
            message = f"not read within {task.seconds:g} seconds; split it, or save it anew"
            return ExtractionResult(failure=message, kind=TooSlow.kind)
        if code > 0 and words:
            return ExtractionResult(failure=f"its reader failed ({words})", kind=ReaderBroke.kind)
        if isinstance(error, ValueError):
            return ExtractionResult(failure=f"its reader gave no valid answer ({error})", kind=ReaderBroke.kind)
        self._crashed = True
        return ExtractionResult(
            failure=f"its reader crashed ({_signal(code)}); the file may be damaged", kind=ReaderBroke.kind
        )

    def _last_words(self) -> str:
        """The last line that the process wrote to standard error: in a traceback, the error."""
        assert self._errors is not None
        size = self._errors.seek(0, os.SEEK_END)
        self._errors.seek(max(0, size - LAST_WORDS_CHARS))
        lines = self._errors.read().decode(errors="replace").split("\n")
        return next((line.strip()[:200] for line in reversed(lines) if line.strip()), "")

    def _clean_up(self) -> None:
        with self._lock:
            process, self._process = self._process, None
            errors, self._errors = self._errors, None
            self._busy = False
        if process is not None:
            process.kill()
            process.wait()
            for pipe in filter(None, (process.stdin, process.stdout)):
                with suppress(OSError):  # nobody needs what was not sent yet
                    pipe.close()
        if errors is not None:
            errors.close()


def _exit_code(process: subprocess.Popen[bytes]) -> int:
    """Its exit code; a process that closed its pipe may be about to end by itself and give a reason."""
    try:
        return process.wait(EXIT_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        return process.wait()


def _signal(code: int) -> str:
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"exit code {code}"
