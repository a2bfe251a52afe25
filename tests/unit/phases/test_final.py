"""What the end of a run tells of the web."""

from __future__ import annotations

import pytest

from assay.phases.method import _host


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://Example.org/a", "example.org"),
        ("http://example.org:8080/a?b", "example.org:8080"),
        ("http://[2001:db8::1]/", "[2001:db8::1]"),
        ("http://[bad", ""),
        ("file:///etc/hosts", ""),
        ("notes.md", ""),
        ("", ""),
    ],
)
def test_hosts_are_those_of_pages(url: str, host: str) -> None:
    assert _host(url) == host
