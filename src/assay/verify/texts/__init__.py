"""Any text with citations, checked against the documents it names; a run's own reports go through `verify.pipeline`.

- `references`: the text's list of references, footnotes and link definitions
- `marked_text`: the same text with the markers of a run where it cites, and which documents each of them names
- `text_check`: the verdict on each claim, by the passages of those documents
"""
