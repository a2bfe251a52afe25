"""Commands which stop in the middle of their work, to be killed there: however late it is seen, they are still there.

Each is a `program` of `warm.start`.
"""

from __future__ import annotations

_COMMAND = """
from assay.cli.main import main
raise SystemExit(main())
"""
_REPOSITORIES = """
import time
from assay.fetch.git import GitConnector
GitConnector.read = lambda *_: time.sleep(3_600)
"""
_MODEL = """
import asyncio
from pathlib import Path
from assay.models.extractive import Extractive
answered = Extractive.stream
async def stream(self, request):
    while %s:
        await asyncio.sleep(3_600)
    async for each in answered(self, request):
        yield each
Extractive.stream = stream
"""
_TEXTS = """
import time
from itertools import count
from assay.fetch.text import TextExtractor
read, read_so_far = TextExtractor.extract, count()
def extract(self, data, name):
    if next(read_so_far) >= %d:
        time.sleep(3_600)
    return read(self, data, name)
TextExtractor.extract = extract
"""
AT_A_REPOSITORY = _REPOSITORIES + _COMMAND
"""It has fetched one, and reads none of its files."""
AT_A_CALL = _MODEL % "True" + _COMMAND
"""The built-in model never answers."""


def at_texts(count: int) -> str:
    """It reads so many files of text, and no more."""
    return _TEXTS % count + _COMMAND


def at_lines(file: str, count: int) -> str:
    """The built-in model answers no more once a file has so many lines."""
    condition = f"Path({file!r}).exists() and Path({file!r}).read_bytes().count(b'\\n') >= {count}"
    return _MODEL % condition + _COMMAND
