"""Questions over three corpora on which the built-in model was not improved, compared with BM25's two best sentences.

apt-get install apache2-doc anarchism postfix-doc
python bench/untouched_manuals.py [--show]
"""

import sys

from manuals.asking import main
from manuals.third import POSTFIX
from manuals.untouched import ANARCHISM, APACHE

if __name__ == "__main__":
    sys.exit(main(APACHE, ANARCHISM, POSTFIX, baseline=True))
