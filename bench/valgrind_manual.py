"""Questions over Valgrind's manual as Debian ships it, about 40 HTML pages.

apt-get install valgrind
python bench/valgrind_manual.py [--show]
"""

import sys

from manuals.asking import main
from manuals.facts import VALGRIND

if __name__ == "__main__":
    sys.exit(main(VALGRIND))
