"""The tables of a server: its users, their shares and limits, and the notices about their runs."""

from sqlalchemy import (
    JSON,
    BigInteger,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    Table,
    Text,
    UniqueConstraint,
)

from assay.store.sql.schema import AnyText, Number, metadata

users = Table(
    "users",
    metadata,
    Column("name", Text, primary_key=True),
    Column("role", Text, nullable=False),
    Column("password", Text, nullable=False),
    Column("created", Float, nullable=False),
    Column("failures", Integer, nullable=False, server_default="0"),
    Column("locked_until", Float, nullable=False, server_default="0"),
    Column("subject", Text, nullable=False, server_default=""),  # the user's account at an OpenID provider
    Index(None, "subject"),
    sqlite_with_rowid=False,
)

shares = Table(
    "shares",
    metadata,
    Column("hash", Text, primary_key=True),
    Column("id", Text, nullable=False),
    Column("run_id", Text, nullable=False),
    Column("owner", Text, nullable=False),
    Column("created", Float, nullable=False),
    Column("expires", Float, nullable=False),
    Index(None, "run_id"),
    Index(None, "owner"),
    sqlite_with_rowid=False,
)

credentials = Table(
    "credentials",
    metadata,
    Column("hash", Text, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("id", Text, nullable=False),
    Column("owner", Text, nullable=False),
    Column("name", AnyText, nullable=False),
    Column("scopes", JSON, nullable=False),
    Column("created", Float, nullable=False),
    Column("expires", Float, nullable=False),
    Column("used", Float, nullable=False),
    Column("issuer", Text, nullable=False, server_default=""),  # the provider at which a session was begun
    Column("id_token", Text, nullable=False, server_default=""),
    Index(None, "owner"),
    sqlite_with_rowid=False,
)

# how a server is operated

buckets = Table(
    "buckets",
    metadata,
    Column("owner", Text, primary_key=True),
    Column("rate", Text, primary_key=True),
    Column("due", Float, nullable=False),  # when it is full again
    sqlite_with_rowid=False,
)

audit = Table(
    "audit",
    metadata,
    Column("number", Number, primary_key=True),
    Column("at", Float, nullable=False),
    Column("actor", AnyText, nullable=False),
    Column("action", Text, nullable=False),
    Column("subject", AnyText, nullable=False),
    Column("via", Text, nullable=False),
    Column("address", Text, nullable=False),
    Column("status", Integer, nullable=False),
    sqlite_autoincrement=True,
)

webhooks = Table(
    "webhooks",
    metadata,
    Column("id", Text, primary_key=True),
    Column("owner", Text, nullable=False),
    Column("url", Text, nullable=False),
    Column("secret", Text, nullable=False),
    Column("events", JSON, nullable=False),
    Column("created", Float, nullable=False),
    Column("disabled", Text, nullable=False),
    Column("after", BigInteger, nullable=False),  # the number of the newest run when it was made
    Column("run", Text, nullable=False, server_default=""),  # the only run it is notified about, "" for all
    Index(None, "owner"),
    Index(None, "run"),
    sqlite_with_rowid=False,
)

heard = Table(
    "heard",
    metadata,
    Column("run", Number, ForeignKey("runs.number"), primary_key=True, autoincrement=False),
    Column("seq", BigInteger, nullable=False),
)

deliveries = Table(
    "deliveries",
    metadata,
    Column("id", Text, primary_key=True),
    Column("webhook", Text, nullable=False),
    Column("type", Text, nullable=False),
    Column("body", LargeBinary, nullable=False),
    Column("created", Float, nullable=False),
    Column("due", Float, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("state", Text, nullable=False),
    Column("status", Integer, nullable=False),
    Column("error", Text, nullable=False),
    Index(None, "state", "due"),
    Index(None, "webhook"),
    sqlite_with_rowid=False,
)

limits = Table(
    "limits",
    metadata,
    Column("user_name", Text, primary_key=True),
    Column("given", JSON, nullable=False),
    sqlite_with_rowid=False,
)

jobs = Table(
    "jobs",
    metadata,
    Column("number", Number, primary_key=True),
    Column("id", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("name", AnyText, nullable=False),
    Column("owner", Text, nullable=False),
    Column("parent", Text, nullable=False),
    Column("release", Text, nullable=False),
    Column("arguments", JSON, nullable=False),
    Column("priority", Integer, nullable=False),
    Column("due", Float, nullable=False),
    Column("created_at", Text, nullable=False),
    Column("updated_at", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("seq", BigInteger, nullable=False),
    Column("line", AnyText, nullable=False),
    Column("finished", BigInteger, nullable=False),
    Column("total", BigInteger, nullable=False),
    Column("result", JSON, nullable=False),
    Column("notes", JSON, nullable=False),
    Column("warnings", JSON, nullable=False),
    Column("error", AnyText, nullable=False),
    Column("tries", Integer, nullable=False),
    Column("holder", Text, nullable=False),
    Column("lease_until", Float, nullable=False),
    Column("fence", BigInteger, nullable=False),
    Column("stopping", Integer, nullable=False),
    Column("every", BigInteger, nullable=False, server_default="0"),
    UniqueConstraint("id"),
    Index(None, "state", "due"),
    Index(None, "parent", "state"),
    Index(None, "owner", "number"),
    sqlite_autoincrement=True,
)
