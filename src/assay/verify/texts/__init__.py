"""Any text with citations, checked against the documents it names; a run's own reports go through `verify.pipeline`.

references   the text's list of references, footnotes and link definitions
places       where it cites: numbers, footnotes, links, addresses
marked       the same text with the markers of a run in their place, and what each of them names
matching     which documents a reference names
picking      the passages of those documents a claim is held against
checking     the verdict on each claim
"""
