"""What is asked of each manual, what a right answer says, and which pages say it. Facts, written down by hand.

The questions over Git's, Vim's and Python's manuals were written before the built-in model was run over them for the
first time, and have not been changed since.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple


class Fact(NamedTuple):
    """A question, strings of which an answer has one, and the pages (as globs) which say it; none for no answer."""

    question: str
    expected: tuple[str, ...] = ()
    pages: tuple[str, ...] = ()


@dataclass(frozen=True)
class Manual:
    """A manual: its package, the folder Debian puts it in, its files as a glob, and what is asked."""

    package: str
    folder: Path
    files: str
    facts: tuple[Fact, ...]


POSTGRESQL = Manual(
    package="postgresql-doc",
    folder=Path("/usr/share/doc/postgresql-doc-15/html"),
    files="*.html",
    facts=(
        Fact(
            "Which TCP port does the PostgreSQL server listen on by default?",
            ("5432",),
            ("runtime-config-connection.html",),
        ),
        Fact("What is the maximum number of columns per table?", ("1,600",), ("limits.html",)),
        Fact("What is the default of shared_buffers?", ("128 megabytes",), ("runtime-config-resource.html",)),
        Fact("What is the default of max_connections?", ("100 connections",), ("runtime-config-connection.html",)),
        Fact("What is the default of work_mem?", ("four megabytes",), ("runtime-config-resource.html",)),
        Fact("Which transaction isolation level is the default?", ("Read Committed",), ("transaction-iso.html",)),
        Fact("What is the maximum length of an identifier in bytes?", ("63 bytes",), ("limits.html",)),
        Fact("How many bytes does the bigint type use?", ("8 bytes",), ("datatype-numeric.html",)),
        Fact("What does the VACUUM command reclaim?", ("storage occupied by dead tuples",), ("sql-vacuum.html",)),
        Fact("Which index type is the default of CREATE INDEX?", ("B-tree",), ("indexes-types.html",)),
        Fact("How many moons does the planet Jupiter have?"),
        Fact("Who won the football world cup of 1998?"),
    ),
)
GIT = Manual(
    package="git-doc",
    folder=Path("/usr/share/doc/git-doc"),
    files="*.html",
    facts=(
        Fact("Which TCP port does git daemon listen on by default?", ("9418",), ("git-daemon.html",)),
        Fact(
            "How many loose objects must there be before git gc --auto packs them?",
            ("6700",),
            ("git-gc.html", "git-config.html"),
        ),
        Fact(
            "Which exit code of its script makes git bisect run skip the current revision?",
            ("125",),
            ("git-bisect.html", "git-bisect-lk2009.html"),
        ),
        Fact(
            "After how many days does git reflog expire remove reflog entries by default?",
            ("90 days",),
            ("git-reflog.html", "git-gc.html", "git-config.html"),
        ),
        Fact(
            "What is the default similarity index for detecting renames?",
            ("50%",),
            ("git-diff*.html", "git-format-patch.html", "git-log.html", "git-show.html"),
        ),
        Fact("What is a bare repository?", ("locally checked-out copy",), ("gitglossary.html", "user-manual.html")),
        Fact("How do I undo the last commit but leave its changes in place?", ("--soft",), ("git-reset.html",)),
        Fact(
            "Which git command shows who last changed each line of a file?",
            ("git blame", "git-blame", "what revision and author last modified each line"),
            ("git-blame.html",),
        ),
        Fact("What does git stash push do?", ("local modifications",), ("git-stash.html",)),
        Fact("What is the default of core.bigFileThreshold?", ("512 MiB",), ("git-config.html",)),
        Fact("Which port does Subversion's svnserve listen on?"),
        Fact("What is the melting point of gold?"),
    ),
)
VIM = Manual(
    package="vim-runtime",
    folder=Path("/usr/share/vim/vim90/doc"),
    files="*.txt",
    facts=(
        Fact("What is the default of the 'tabstop' option?", ("default 8",), ("options.txt",)),
        Fact("What is the maximum length of a line in Vim?", ("2147483647 characters",), ("vi_diff.txt",)),
        Fact("How many changes can be undone by default on Unix?", ("1000 for Unix",), ("options.txt",)),
        Fact("Who created Vim?", ("Bram Moolenaar",), ("intro.txt",)),
        Fact(
            "Which command quits Vim without saving the changes?",
            (":q!", "ZQ"),
            ("usr_02.txt", "editing.txt", "quickref.txt"),
        ),
        Fact("Which command repeats the last change?", ('"." command',), ("usr_04.txt",)),
        Fact(
            "After how many milliseconds without typing is the swap file written to disk?",
            ("4000",),
            ("options.txt",),
        ),
        Fact(
            "Which command moves the cursor to the matching parenthesis?",
            ("%",),
            ("usr_03.txt", "usr_29.txt", "motion.txt", "tips.txt"),
        ),
        Fact(
            "Where is the vimrc file on Unix?",
            ("$HOME/.vimrc", "~/.vimrc"),
            ("starting.txt", "usr_05.txt", "os_unix.txt"),
        ),
        Fact(
            "In which country do the needy children live whom users of Vim are asked to help?",
            ("Uganda",),
            ("uganda.txt",),
        ),
        Fact("What is the default of fill-column in Emacs?"),
        Fact("What is the capital of Portugal?"),
    ),
)
PYTHON = Manual(
    package="python3.11-doc",
    folder=Path("/usr/share/doc/python3.11/html"),
    files="**/*.html",
    facts=(
        Fact("What is the default port of http.server?", ("8000",), ("http.server.html",)),
        Fact("How many times does timeit execute a statement by default?", ("1000000", "million"), ("timeit.html",)),
        Fact("What is the default maxsize of lru_cache?", ("128",), ("functools.html",)),
        Fact(
            "Which exception is raised when a key is not found in a dictionary?",
            ("KeyError",),
            ("exceptions.html", "stdtypes.html"),
        ),
        Fact("What is a generator?", ("returns a generator iterator",), ("glossary.html",)),
        Fact("What does os.replace do?", ("Rename the file or directory src to dst",), ("os.html",)),
        Fact("How do I create a virtual environment?", ("-m venv",), ("venv.html",)),
        Fact("Which protocol version does pickle use by default?", ("Protocol version 4",), ("pickle.html",)),
        Fact(
            "What is the maximum number of digits of an integer which is converted to a string?",
            ("4300",),
            ("stdtypes.html", "3.11.html"),
        ),
        Fact("Who created Python?", ("Guido van Rossum",), ("license.html", "general.html")),
        Fact("What is the default heap size of a Java virtual machine?"),
        Fact("How high is Mount Kilimanjaro?"),
    ),
)

VALGRIND = Manual(
    package="valgrind",
    folder=Path("/usr/share/doc/valgrind/html"),
    files="*.html",
    facts=(
        Fact("How many threads can Valgrind handle by default?", ("500",), ("manual-core.html",)),
        Fact("What is the default of --num-callers?", ("12",), ("manual-core.html",)),
        Fact("What is the default interval size of the BBV tool?", ("100000000", "100 million"), ("bbv-manual.html",)),
        Fact("How much slower do programs run under DRD?", ("between 20 and 50 times",), ("drd-manual.html",)),
        Fact(
            "By what factor does BBV slow down execution compared with native execution?",
            ("factor of 40",),
            ("bbv-manual.html",),
        ),
        Fact("What is the default of --history-level in Helgrind?", ("full",), ("hg-manual.html",)),
        Fact("What is the default volume of the queue of freed blocks?", ("20000000",), ("mc-manual.html",)),
        Fact("What is the width of the graph which ms_print draws by default?", ("72",), ("ms-manual.html",)),
        Fact("What is the maximum depth of Massif's allocation trees by default?", ("30",), ("ms-manual.html",)),
        Fact("Which command prints a sorted list of functions from Callgrind's profile data?", ("callgrind_annotate",)),
        Fact("How often does Massif take a detailed snapshot by default?", ("10", "every tenth"), ("ms-manual.html",)),
        Fact("How can I find the source of uninitialised values?", ("--track-origins=yes",), ("mc-manual.html",)),
        Fact("To which file descriptor are messages sent by default?", ("2",), ("manual-core.html",)),
        Fact("What is the default maximum size of a stack frame?", ("2000000",), ("manual-core.html",)),
        Fact(
            "How many lines of context does cg_annotate print by default?", ("8",), ("cg-manual.html", "cl-manual.html")
        ),
        Fact("What must be specified on the command line to use Massif?", ("--tool=massif",), ("ms-manual.html",)),
        Fact("What happens if the file name given to --log-file is empty?", ("abort",), ("manual-core.html",)),
        Fact("By how much does branch simulation slow Cachegrind down?", ("25%",), ("cg-manual.html",)),
        Fact("Which kinds of errors does Helgrind detect?", ("POSIX pthreads API",), ("hg-manual.html",)),
        Fact("What is the default size of the stack Valgrind needs for each thread?", ("1MB",), ("manual-core.html",)),
        Fact("What is the licence fee of Valgrind for companies?"),
        Fact("Which port does the PostgreSQL server listen on?"),
        Fact("What is the default tab width of Emacs?"),
        Fact("When was the Eiffel Tower built?"),
        Fact("How many moons does Jupiter have?"),
    ),
)
"""Written before the built-in model was run over it for the first time, and not changed since."""
