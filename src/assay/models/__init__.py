"""Language models behind one port, including the built-in extractive one, and a scripted one for tests."""
