"""Questions over manuals which come with Debian: facts written down by hand, asked through the library."""
