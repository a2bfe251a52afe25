"""The run: steps done once ever, lanes, limits, and the engine which keeps it alive through a crash."""
