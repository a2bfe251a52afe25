"""The server: HTTP to calls of the library, events to streams. It has no rule of research.

`create_app` (module `app`) is the whole of it as an ASGI application; `serving` runs it. Its libraries are the extra
`assay[server]`.
"""
