"""The Model Context Protocol: research, its evidence and the library as tools for other assistants."""
