"""Language models behind one port: the built-in extractive one, and a scripted one for tests."""
