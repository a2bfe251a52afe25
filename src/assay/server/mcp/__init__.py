"""The Model Context Protocol: research, its evidence and the library as tools of other assistants."""
