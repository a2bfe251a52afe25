"""Questions over Git's manual as Debian ships it, about 200 HTML pages.

apt-get install git-doc
python bench/git_manual.py [--show]
"""

import sys

from manuals.asking import main
from manuals.facts import GIT

if __name__ == "__main__":
    sys.exit(main(GIT))
