"""Lists the benches and runs them, each in a process of its own.

python -m bench                  what there is
python -m bench index runs       these
python -m bench index --help     one, with options of its own
python -m bench all              all; one whose data are not there is skipped
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
    "habits": "whole runs on a model service with another habit of real ones at each call: what goes wrong",
    "simulated": "whole runs against simulated services: wall time against their critical path",
    "simulated_web": "the same over a web, with what is begun ahead of need and without it",
    "real_pages": "whole runs over real documentation pages: CPU a run and a call, stalls, memory, profile",
    "concurrency": "100 runs at once in one process: wall time, CPU, memory",
    "workers": "200 queued runs over two workers on PostgreSQL, and how fast a dead worker's runs are handed on",
    "cluster_measure": "what the model of a cluster rests on: workers, claims, commits, rows, bytes",
    "cluster_sim": "a cluster simulated beside what was measured, and up to 1,000 workers",
    "ingestion": "many documents read by workers, one of which is killed now and then: time, lost, read twice",
    "serve": "followers of runs over HTTP: how late events come, CPU and memory for each; snapshots a second",
    "index": "reading and indexing 11,000 documents",
    "extraction": "what is kept of web pages, by trafilatura's evaluation",
    "pathological": "texts and drafts made to take long: seconds, and whether they grow with the size",
    "stalls": "whether reading pages, large and hostile ones, holds up the event loop",
    "page": "the page of a run in Chromium, with five viewers: commit to pixel, CPU, weights",
    "pages": "1,000 pages of a local server, 32 in flight: pages a second, memory",
    "local_web": "whole runs over a web on loopback: Debian's HTML manuals, and pages which are odd",
    "pdf": "reading PDFs: speed, page counts, and odd ones from bug reports",
    "mutations": "what the deterministic checks see of claims made false by code, and what they wrongly object to",
    "conflicts": "where sources disagree: what is reported of real documents, and what is seen of made conflicts",
    "search": "local search over them: speed, and whether a document named is found",
    "shared_index": "the search index in each home against the one in PostgreSQL",
    "bundle": "the bundle of a 200-claim report: building and verifying it",
    "html_page": "the HTML page of a 200-claim report: time, size, memory",
    "runs": "whole `assay` processes over them, and `assay --help`",
    "startup": "processor time of commands which do next to nothing, and the modules they load",
    "retrieval": "ranking: Cranfield, CACM, NFCorpus",
    "hybrid": "search by words, by meaning and by both, with an embedding model you name",
    "streaming_claims": "checking a 200-claim report: embedded, and by a judge while it streams",
    "judgements": "CPU of a judgement beside a judge which answers at once",
    "grounding": "the embedded verifier over claims which people labelled",
    "citations": "citations as models write them, in 298 reports: what the reader of `assay verify FILE` finds",
    "injection": "instructions planted in documents: what they change of whole runs on the built-in model",
    "answers": "questions people asked over Wikipedia, in six languages, beside BM25's best sentences",
    "questions": "questions with known answers over documents with headers, and some without",
    "whole_collection": "questions about all documents of a collection, counted exactly",
    "multihop": "questions which lead over several documents, against a single search",
    "manual": "questions over PostgreSQL's manual, HTML (Debian: postgresql-doc)",
    "git_manual": "questions over Git's manual, HTML (Debian: git-doc)",
    "python_manual": "questions over Python's manual, HTML (Debian: python3.11-doc)",
    "tables": "questions about tables of Python and Debian packages: cells, extremes, sums, means, counts",
    "training_manuals": "questions over SQLite's and Debian's manuals, which the model was improved on",
    "untouched_manuals": "questions over Apache's manual and a long FAQ (Debian: apache2-doc, anarchism), beside BM25",
    "valgrind_manual": "questions over Valgrind's manual, HTML (Debian: valgrind)",
    "vim_manual": "questions over Vim's manual, plain text (Debian: vim-runtime)",
}
NO_DATA = 2


def main(names: Sequence[str]) -> int:
    """Run `names`; 1 when one failed, 2 for a name which is none. What follows an option is for the one bench named."""
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
        print("options are for one bench", file=sys.stderr)
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
