"""Questions over SQLite's manual (HTML) and Debian's policies (plain text), on which the built-in model was improved.

apt-get install sqlite3-doc debian-policy
python bench/training_manuals.py [--show]
"""

import sys

from manuals.asking import main
from manuals.training import POLICY, SQLITE

if __name__ == "__main__":
    sys.exit(main(SQLITE, POLICY))
