"""The index in PostgreSQL: whole documents, passages, and how frequent each word is.

The words are those of the local index (`core.relevance.analysis`): stemmed in a document's own language, pairs of
characters where a script has no spaces. PostgreSQL's own configurations know fewer languages, and would find other
passages than a machine with an index of its own. So its text search is given words which are ready: it stores, finds
and counts them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from sqlalchemy import Connection

FORMAT = "1"
"""Changes with the tables or the analysis; an index of another release is left alone."""
LOCK, TURN = 0x61737365, 0x61737366
"""Keys of the advisory locks of who writes the index, and of whose turn it is to read for it, taken together with the
tables' name."""

_DEFINITIONS = (
    """CREATE TABLE IF NOT EXISTS {0}_state (
        single boolean PRIMARY KEY DEFAULT true CHECK (single),
        row bigint NOT NULL, documents bigint NOT NULL, passages bigint NOT NULL, words bigint NOT NULL)""",
    "INSERT INTO {0}_state VALUES (true, 0, 0, 0, 0) ON CONFLICT DO NOTHING",
    """CREATE TABLE IF NOT EXISTS {0}_documents (
        row bigint PRIMARY KEY, sha256 text NOT NULL, analysis text NOT NULL, passages integer NOT NULL,
        title tsvector NOT NULL, name tsvector NOT NULL, fields bytea[] NOT NULL)""",
    "CREATE INDEX IF NOT EXISTS {0}_by_title ON {0}_documents USING gin (title)",
    "CREATE INDEX IF NOT EXISTS {0}_by_name ON {0}_documents USING gin (name)",
    "CREATE INDEX IF NOT EXISTS {0}_by_analysis ON {0}_documents (analysis)",
    """CREATE TABLE IF NOT EXISTS {0}_passages (
        row bigint NOT NULL, ordinal integer NOT NULL, length integer NOT NULL,
        words tsvector NOT NULL, span bytea NOT NULL)""",
    "CREATE INDEX IF NOT EXISTS {0}_by_words ON {0}_passages USING gin (words)",
    "CREATE INDEX IF NOT EXISTS {0}_by_row ON {0}_passages (row)",
    """CREATE TABLE IF NOT EXISTS {0}_words (
        word text COLLATE "C" PRIMARY KEY, documents bigint NOT NULL, passages bigint NOT NULL, names bigint NOT NULL)
        WITH (fillfactor = 70)""",
)


def prefix_of(segmenter: str) -> str:
    """What the tables' names begin with; passages are another segmenter's in other tables."""
    return f"search_{FORMAT}_{re.sub('[^a-z0-9]+', '_', segmenter.lower())}"


def make(connection: Connection, prefix: str) -> None:
    """Make the tables where they are not there; one process at a time."""
    lock(connection, prefix)
    for definition in _DEFINITIONS:
        connection.exec_driver_sql(definition.format(prefix))


def lock(connection: Connection, prefix: str) -> None:
    """Wait for the right to write the index, which ends with the transaction."""
    connection.exec_driver_sql("SELECT pg_advisory_xact_lock(%(key)s, hashtext(%(of)s))", {"key": LOCK, "of": prefix})


@contextmanager
def turn(connection: Connection, prefix: str) -> Iterator[bool]:
    """Whether it is this session's turn to read for the index, while it lasts; another's may be.

    The connection is outside a transaction. The turn spares others the work, and nothing rests on it: `lock` does.
    """
    of = {"key": TURN, "of": prefix}
    taken = connection.exec_driver_sql("SELECT pg_try_advisory_lock(%(key)s, hashtext(%(of)s))", of).scalar_one()
    try:
        yield bool(taken)
    finally:
        if taken:
            connection.exec_driver_sql("SELECT pg_advisory_unlock(%(key)s, hashtext(%(of)s))", of)


def bag(words: Iterable[str]) -> str:
    """Words as the text of a tsvector which does not know their places."""
    return " ".join(map(quoted, set(words)))


def vector(words: Iterable[str]) -> str:
    """Words in order as the text of a tsvector."""
    places: dict[str, list[str]] = {}
    for place, word in enumerate(words, 1):
        places.setdefault(word, []).append(str(min(place, _LAST)))
    return " ".join(f"{quoted(word)}:{','.join(dict.fromkeys(at[:_MOST]))}" for word, at in places.items())


_LAST, _MOST = 16_383, 255
"""What a tsvector keeps of places: their highest number, and how many of a word."""


def quoted(word: str) -> str:
    """A word as it stands in the text of a tsvector or tsquery."""
    if "\\" in word or "'" in word:
        word = word.replace("\\", "\\\\").replace("'", "''")
    return f"'{word}'"
