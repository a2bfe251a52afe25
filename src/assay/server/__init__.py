"""The server: turns HTTP into calls of the library, and events into streams. It has no research rules.

`create_app` (module `app`) makes the ASGI application; `serving` runs it. Its libraries are in the extra
`assay[server]`.
"""
