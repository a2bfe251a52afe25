"""The run: steps that are done only once, lanes, limits, and the engine that keeps it alive through a crash."""
