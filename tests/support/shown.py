"""A report with everything Markdown can hold, and everything which should not act, for the formats people print."""

from __future__ import annotations

from citing import citing, page, quoted

from assay.core.ports.exporters import Record

TEXT = """\
The answer is **bold**, *italic*, `code` and ~~struck~~ [S1.1]. A [link](https://example.org/a?b=1&c=2)
too [S2.1; S1.1].

## Details in 中文

- one item [S1.1]
- two items
  1. nested first
  2. nested second

     more of it

7. seven
8. eight

| Year | Value |
|------|-------|
| 2001 | 5 % [S2.1] |
| 2002 | *6* % |

> A quotation with **marks**.

```python
def f(x):
    return x  # two  spaces
```

---

هذا نص عربي [S2.1].
"""
HOSTILE = (
    '#read("/etc/passwd") #panic() \\input{/etc/passwd} $x^2$ <script>alert(1)</script> '
    '<w:p/> ]]> &amp; {{x}} @x <label> "quoted" \ufffe \u202eevil \x1b[31m [x](javascript:alert(1)) &#8238;x &#xFFFF;'
)


def full(text: str = TEXT, language: str = "") -> Record:
    """A run with two sources, one claim to check, and hostile names; `text` is its report."""
    first = page(1, url="https://peps.python.org/pep-0008/", title="Style Guide", author="Guido van Rossum")
    second = page(2, url="file:///home/me/笔记.md", title=HOSTILE, author=HOSTILE, published="2024-05")
    passages = (quoted(first, "Code is read often.", page=3), quoted(second, HOSTILE))
    return citing(first, second, text=text, passages=passages, verdict="contradicted", question="What is so?")
