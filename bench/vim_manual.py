"""Questions over Vim's manual as Debian ships it, about 130 files of plain text.

apt-get install vim-runtime
python bench/vim_manual.py [--show]
"""

import sys

from manuals.asking import main
from manuals.facts import VIM

if __name__ == "__main__":
    sys.exit(main(VIM))
