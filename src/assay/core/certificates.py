"""The certificates by which servers are known, loaded once: a connection which loads them itself takes 20 ms for it."""

from __future__ import annotations

import functools
import ssl
from typing import TYPE_CHECKING

from assay.core.later import later

if TYPE_CHECKING:
    import httpx2
else:
    httpx2 = later("httpx2")


@functools.cache
def trusted(*, told: bool = False) -> ssl.SSLContext:
    """What the system trusts; with `told` what `SSL_CERT_FILE` and `SSL_CERT_DIR` name in its place. Blocking."""
    made: ssl.SSLContext = httpx2.create_ssl_context(trust_env=told)
    return made
