"""The files of each collection: texts written for this, and documents that Debian installs."""

from __future__ import annotations

import gzip
import re
import subprocess
from pathlib import Path

HERE = Path(__file__).parent
DOC, LICENCES = Path("/usr/share/doc"), Path("/usr/share/common-licenses")
INSTALLED = {
    "software": {
        "xz-faq.txt": DOC / "xz-utils/faq.txt.gz",
        "xz-history.txt": DOC / "xz-utils/history.txt.gz",
        "xz-readme.txt": DOC / "xz-utils/README.gz",
        "postfix-stress.txt": DOC / "postfix/STRESS_README.gz",
        "postfix-tuning.txt": DOC / "postfix/TUNING_README.gz",
    },
    "licences": {
        **{
            f"{name}.txt": LICENCES / name
            for name in ("GPL-3", "LGPL-2.1", "Apache-2.0", "MPL-2.0", "CC0-1.0", "Artistic")
        },
        **{
            f"apache-{name.rpartition('/')[2]}": DOC / "apache2-doc/manual/en" / name
            for name in ("logs.html", "suexec.html", "stopping.html", "dns-caveats.html", "howto/htaccess.html")
        },
    },
}
"""Debian's packages xz-utils, postfix, apache2-doc and base-files."""
MANUALS = {"software": ("xz", "tar")}
PARTS = {
    "training": ("office", "software"),
    "held-out": ("lab", "licences", "town"),
    "subject-training": ("pump",),
    "subject-held-out": ("museum", "garten"),
    "records-training": ("huts", "wohnungen", "bateaux", "bikes"),
    "records-second": ("cheeses", "printers", "bahnhoefe", "coros"),
}


def files(name: str, folder: Path) -> list[Path]:
    """The files of a collection, in `folder`; those not installed are left out.

    Raises:
        FileNotFoundError: none is.
    """
    if (HERE / name).is_dir():
        return sorted((HERE / name).iterdir())
    for file, path in INSTALLED[name].items():
        if path.exists():
            data = path.read_bytes()
            (folder / file).write_bytes(gzip.decompress(data) if path.suffix == ".gz" else data)
    for page in MANUALS.get(name, ()):
        shown = subprocess.run(
            ["man", page], capture_output=True, text=True, env={"MANWIDTH": "80", "PATH": "/usr/bin"}
        )
        if shown.returncode == 0:
            (folder / f"man-{page}.txt").write_text(re.sub(".\x08", "", shown.stdout))
    if found := sorted(folder.iterdir()):
        return found
    raise FileNotFoundError(name)
