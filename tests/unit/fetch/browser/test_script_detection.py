"""Whether a page needs its scripts: by how much there is to read without them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.fetch.browser import BARE_CHARS, SHORT_CHARS, measure_text

LONG = "The highest tide on record was 5.2 metres, in March 1838. " * 9


@pytest.mark.parametrize(
    ("body", "bare", "short"),
    [
        ("<div id=root></div><script src=/a.js></script>", True, True),
        ("<noscript>You need to enable JavaScript to run this app, really.</noscript><script>x()</script>", True, True),
        (f"<nav>{LONG}</nav><footer>{LONG}</footer><div></div><SCRIPT>x()</SCRIPT>", True, True),
        ("<p>Loading the records of the harbor, please wait a moment.</p><script>x()</script>", False, True),
        (f"<p>{LONG}</p><script src=/a.js></script>", False, False),
        ("<p>Short.</p>", False, False),
        ("<p></p>", False, False),
        ('<p></p><script type="application/ld+json">{"text": "no script"}</script>', False, False),
        (f"<script>const text = '{LONG}'</script>", True, True),
        ("", False, False),
    ],
)
def test_a_page_at_a_glance(body: str, bare: bool, short: bool):
    seen = measure_text(f"<!doctype html><html><head><title>{LONG}</title></head><body>{body}</body></html>".encode())
    assert (seen.is_bare, seen.is_short) == (bare, short)


@given(st.binary(max_size=300), st.integers(0, 3 * SHORT_CHARS))
def test_any_bytes_are_looked_at_and_text_is_counted(noise: bytes, size: int):
    measure_text(noise)
    measure_text(b"<script>" + noise)
    seen = measure_text(f"<body><p>{'a' * size}</p><script>x()</script></body>".encode())
    assert seen.characters == size
    assert (seen.is_bare, seen.is_short) == (size < BARE_CHARS, size < SHORT_CHARS)


@given(st.integers(0, 3 * SHORT_CHARS), st.integers(0, 150_000), st.booleans())
def test_a_long_page_is_judged_as_a_short_one(size: int, scripts: int, first: bool):
    text, script = f"<p>{'x' * size}</p>", f"<script>{'y' * scripts}</script>"
    seen = measure_text(f"<body>{text + script if first else script + text}{'<!-- -->' * 5_000}</body>".encode())
    assert (seen.is_bare, seen.is_short) == (size < BARE_CHARS, size < SHORT_CHARS)
