"""Search providers: each is one file or folder which implements `core.ports.Search`."""
