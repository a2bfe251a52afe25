"""What one owner sees of collections and documents, as conditions of the queries which read them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlalchemy import Column, ColumnElement, Connection, and_, case, exists, false, func, or_, select, true

from assay.store import common
from assay.store.common import SLASH, reference_to, split_reference
from assay.store.sql import sqlite
from assay.store.sql.tables import collections, documents, members, readers

_ADD_COLLECTION = sqlite.insert(collections).on_conflict_do_nothing(index_elements=["owner", "name"])
_literal = collections.alias("literal")


class OwnerView:
    """The library as `owner` sees it; None sees all.

    A name is one of his own collections; OWNER/NAME is another's, which he may read. Who sees all makes and names
    those of the local user, and knows every other as OWNER/NAME.
    """

    def __init__(self, owner: str | None) -> None:
        self.owner, self.me = owner, owner or ""

    def collections(self) -> ColumnElement[bool]:
        """The collections he may read."""
        if self.owner is None:
            return true()
        named = exists().where(readers.c.collection == collections.c.number, readers.c.reader == self.owner)
        return or_(collections.c.owner == self.owner, collections.c.open != 0, named)

    def own(self, name: str) -> tuple[str, str]:
        """The owner and the name of the collection which is meant where one's own is."""
        return (self.me, name) if self.owner is not None else split_reference(name)

    def named(self, names: Iterable[str]) -> ColumnElement[bool]:
        """Those of his collections, and those he may read, which have these names."""
        every = sorted(set(names))
        own = [name for name in every if self.owner is not None or SLASH not in name]
        theirs = [self._another(name) for name in every if SLASH in name]
        return or_(false(), and_(collections.c.owner == self.me, collections.c.name.in_(own)), *theirs)

    def _another(self, name: str) -> ColumnElement[bool]:
        owner, of = split_reference(name)
        meant = and_(collections.c.owner == owner, collections.c.name == of, self.collections())
        if self.owner is None:
            return meant
        # a name with a slash, given when there was one user only, is his own before it is another's
        literal = exists().where(_literal.c.owner == self.owner, _literal.c.name == name)
        return and_(meant, ~literal)

    def documents(self) -> ColumnElement[bool]:
        """The documents he may read: his own, and those in the collections he may read."""
        if self.owner is None:
            return true()
        held = (
            select(members.c.document)
            .join(collections, collections.c.number == members.c.collection)
            .where(members.c.document == documents.c.row, self.collections())
        )
        return or_(documents.c.owner == self.owner, held.exists())

    def own_first(self) -> tuple[ColumnElement[int], Column[int]]:
        """An order in which his own document comes before another's of the same text."""
        return case((documents.c.owner == self.me, 0), else_=1), documents.c.row

    def reference(self, owner: str, name: str) -> str:
        """What he calls a collection."""
        return name if owner == self.owner else reference_to(owner, name, alone=self.owner is None)

    def number(self, connection: Connection, name: str) -> int | None:
        """The number of a collection of his own, None where there is none.

        Raises:
            UsageError: it is another's, whose it is to change.
        """
        owner, of = self.own(name)
        chosen = select(collections.c.number).where(collections.c.owner == owner, collections.c.name == of)
        number: int | None = connection.execute(chosen).scalar()
        if number is None and SLASH in name:
            known = connection.execute(select(func.count()).where(self.named([name]))).scalar()
            if known:
                raise common.anothers(name)
        return number

    def made(self, connection: Connection, name: str) -> int:
        """The number of a collection of his own, which is made when it is not there.

        Raises:
            UsageError: it is another's, or no name a collection of his can have.
        """
        number = self.number(connection, name)
        if number is not None:
            return number
        owner, of = self.own(name)
        if self.owner and SLASH in name:
            raise common.unfit_name(name)
        connection.execute(_ADD_COLLECTION, {"name": of, "owner": owner})
        chosen = select(collections.c.number).where(collections.c.owner == owner, collections.c.name == of)
        made: int = connection.execute(chosen).scalar_one()
        return made


def numbers(connection: Connection, sight: OwnerView, names: Sequence[str]) -> list[int]:
    """The numbers of collections with these names."""
    return list(connection.execute(select(collections.c.number).where(sight.named(names))).scalars())
