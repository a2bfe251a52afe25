"""Questions over PostgreSQL's manual as Debian ships it, about 1,170 HTML pages.

apt-get install postgresql-doc
python bench/manual.py [--show]
"""

import sys

from manuals.asking import main
from manuals.facts import POSTGRESQL

if __name__ == "__main__":
    sys.exit(main(POSTGRESQL))
