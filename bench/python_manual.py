"""Questions over Python's manual as Debian ships it, about 530 HTML pages.

apt-get install python3.11-doc
python bench/python_manual.py [--show]
"""

import sys

from manuals.asking import main
from manuals.facts import PYTHON

if __name__ == "__main__":
    sys.exit(main(PYTHON))
