"""Lists the benches and runs them, each in its own process.

python -m bench                  lists the benches
python -m bench index runs       runs these two
python -m bench index --help     runs one, with its own options
python -m bench all              runs all; benches without their data are skipped
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

BENCHES = {
    "steps": "CPU and wall time of one durable step",
    "adapters": "CPU per streamed chunk of the model adapters",
    "prompts": "calls and tokens a run sends, by task",
    "engine": "CPU of the engine for each call, with a scripted model",
    "habits": "whole runs on a model service with the habits of real ones: failures",
    "simulated": "whole runs against simulated services: wall time against their critical path",
    "simulated_web": "the same over a web, with and without reading ahead",
    "real_pages": "whole runs over real documentation pages: CPU per run and call, stalls, memory, profile",
    "concurrency": "100 runs at once in one process: wall time, CPU, memory",
    "workers": "200 queued runs over two workers on PostgreSQL, and how soon other workers take a dead one's runs",
    "cluster_measure": "measurements for the model of a cluster: workers, claims, commits, rows, bytes",
    "cluster_sim": "a simulated cluster: compared with measurements, and up to 1,000 workers",
    "ingestion": "many documents read by workers, some of which are killed: time, documents lost or read twice",
    "serve": "followers of runs over HTTP: delay of events, CPU and memory per follower, snapshots per second",
    "index": "reading and indexing 11,000 documents",
    "extraction": "text extraction from web pages, by trafilatura's evaluation",
    "pathological": "texts and drafts designed to take long: seconds, and how they grow with the size",
    "stalls": "whether reading large and hostile pages blocks the event loop",
    "page": "the page of a run in Chromium, with five viewers: commit to pixel, CPU, sizes",
    "pages": "1,000 pages of a local server, 32 in flight: pages per second, memory",
    "local_web": "whole runs over a web on loopback: Debian's HTML manuals and odd pages",
    "pdf": "reading PDFs: speed, page counts, and odd ones from bug reports",
    "mutations": "claims made false by code that the deterministic checks find, and wrong objections",
    "conflicts": "conflicts between sources: those reported among real documents, and those found among made ones",
    "search": "local search over the 11,000 documents: speed, and whether a named document is found",
    "shared_index": "the search index of a home compared with that in PostgreSQL",
    "bundle": "the bundle of a 200-claim report: building and verifying it",
    "html_page": "the HTML page of a 200-claim report: time, size, memory",
    "runs": "whole `assay` processes over the 11,000 documents, and `assay --help`",
    "startup": "processor time of commands that do almost nothing, and the modules they load",
    "retrieval": "ranking: Cranfield, CACM, NFCorpus",
    "hybrid": "search by words, by meaning and by both, with an embedding model you name",
    "streaming_claims": "checking a 200-claim report: embedded, and by a judge while it streams",
    "judgements": "CPU of a judgement with a judge that answers at once",
    "grounding": "the built-in verifier on claims that people labelled",
    "citations": "citations as models write them, in 298 reports: how many `assay verify FILE` reads",
    "injection": "instructions planted in documents: what they change in whole runs on the built-in model",
    "answers": "questions of people about Wikipedia, in six languages, compared with BM25's best sentences",
    "questions": "questions with known answers over documents with headers, and some without",
    "readers_questions": "questions of readers over small collections: papers, manuals, a laboratory, licences, a town",
    "whole_collection": "questions about all documents of a collection, counted exactly",
    "multihop": "questions that lead over several documents, compared with a single search",
    "manual": "questions over PostgreSQL's manual, HTML (Debian: postgresql-doc)",
    "git_manual": "questions over Git's manual, HTML (Debian: git-doc)",
    "python_manual": "questions over Python's manual, HTML (Debian: python3.11-doc)",
    "tables": "questions about tables of Python and Debian packages: cells, extremes, sums, means, counts",
    "training_manuals": "questions over SQLite's and Debian's manuals, on which the model was improved",
    "untouched_manuals": "questions over Apache's and Postfix's manuals and a long FAQ, and BM25",
    "valgrind_manual": "questions over Valgrind's manual, HTML (Debian: valgrind)",
    "vim_manual": "questions over Vim's manual, plain text (Debian: vim-runtime)",
}
NO_DATA = 2


def main(names: Sequence[str]) -> int:
    """Run `names`; 1 if one failed, 2 for an unknown name. Options are passed to the one bench named."""
    first = next((at for at, name in enumerate(names) if name.startswith("-")), len(names))
    names, options = names[:first], names[first:]
    if not names:
        print("\n".join(f"{name:<16} {about}" for name, about in BENCHES.items()))
        return 0
    wanted = list(BENCHES) if list(names) == ["all"] else list(names)
    unknown = [name for name in wanted if name not in BENCHES]
    if unknown:
        print(f"no bench {', '.join(unknown)}; there are {', '.join(BENCHES)}", file=sys.stderr)
        return 2
    if options and len(wanted) != 1:
        print("options need exactly one bench", file=sys.stderr)
        return 2
    return max(_run(name, options) for name in wanted)


def _run(name: str, options: Sequence[str]) -> int:
    print(f"== {name}: {BENCHES[name]}", flush=True)
    code = subprocess.run(
        [sys.executable, str(Path(__file__).with_name(f"{name}.py")), *options], check=False
    ).returncode
    if code == NO_DATA:
        print(f"skipped {name}", flush=True)
    return int(code not in (0, NO_DATA))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
