"""Manuals the built-in model was improved on: what it does with them says nothing about others."""

from pathlib import Path

from manuals.facts import Fact, Manual

SQLITE = Manual(
    package="sqlite3-doc",
    folder=Path("/usr/share/doc/sqlite3"),
    files="**/*.html",
    facts=(
        Fact("What is the default page size of a database?", ("4096",), ("pragma.html", "pgszchng2016.html")),
        Fact("What is the default of SQLITE_MAX_COLUMN?", ("2000",), ("limits.html",)),
        Fact("What is the maximum number of tables in a join?", ("64 tables",), ("limits.html",)),
        Fact("What is the maximum depth of an expression tree?", ("1000",), ("limits.html",)),
        Fact(
            "How many databases can be attached to a connection by default?",
            ("10 by default", "defaults to 10"),
            ("limits.html",),
        ),
        Fact("How long may the text of an SQL statement be?", ("1,000,000,000", "1000000000"), ("limits.html",)),
        Fact("What does the VACUUM command do?", ("rebuilds the database file",), ("lang_vacuum.html",)),
        Fact("What is a WITHOUT ROWID table?", ("clustered index",), ("withoutrowid.html",)),
        Fact("What is the normal journal mode?", ("DELETE journaling mode",), ("pragma.html",)),
        Fact(
            "Which string does the database file header begin with?",
            ("SQLite format 3",),
            ("fileformat.html", "fileformat2.html"),
        ),
        Fact(
            "Which command of the shell makes a backup of a database?",
            (".backup",),
            ("cli.html",),
        ),
        Fact("How do I import a CSV file into a table?", (".import",), ("cli.html",)),
        Fact(
            "What is the default interval of automatic checkpoints?",
            ("1000",),
            ("wal.html", "pragma.html", "compile.html", "wal_autocheckpoint.html"),
        ),
        Fact("What does sqlite3_changes return?", ("number of rows modified",), ("changes.html", "c_interface.html")),
        Fact("Which locking states can a database file be in?", ("PENDING",), ("lockingv3.html",)),
        Fact("Who wrote the Iliad?"),
        Fact("What is the default port of a MySQL server?"),
    ),
)
POLICY = Manual(
    package="debian-policy",
    folder=Path("/usr/share/doc/debian-policy"),
    files="*.txt.gz",
    facts=(
        Fact("How long must the name of a package be at least?", ("two characters",), ("policy.txt",)),
        Fact("Which user ids are given to system users dynamically?", ("100-999",), ("policy.txt",)),
        Fact("Which program must maintainer scripts use to invoke init scripts?", ("invoke-rc.d",), ("policy.txt",)),
        Fact("What epoch does a version have when it is omitted?", ("zero",), ("policy.txt",)),
        Fact(
            "Which field must state a dependency that is needed before a package is unpacked?",
            ("Pre-Depends",),
            ("policy.txt",),
        ),
        Fact("What permissions should directories have?", ("0755", "755"), ("policy.txt",)),
        Fact("What does the postrm script do when it is called with purge?", ("purge",), ("policy.txt",)),
        Fact("What is an orphaned package's maintainer set to?", ("packages@qa.debian.org",), ("policy.txt",)),
        Fact(
            "Which archive area is the only one that is part of the distribution?",
            ("main",),
            ("policy.txt",),
        ),
        Fact("Where do the man pages go?", ("/usr/share/man",), ("policy.txt",)),
        Fact("What is a virtual package?", ("Provides",), ("policy.txt", "virtual-package-names-list.txt")),
        Fact("What is the purpose of the /etc directory?", ("configuration",), ("fhs-3.0.txt", "policy.txt")),
        Fact("Which release of Fedora introduced systemd?"),
        Fact("How do I bake bread?"),
    ),
)
