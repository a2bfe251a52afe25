"""Reads the citations that models write into the one form the rest of Assay knows: `[S2003.17]` or `[S2003.17, S4.2]`.

Models put ids into any brackets, into code, links, footnotes and HTML, and wrap whole texts in Markdown fences.
`reader.CitationReader` rewrites such a text, as it streams or whole, into plain markers (`core.markers`). It knows
which ids a run gave out, and only changes citations of these.
"""
