"""The layer with rules outside a run's phases: documents, threads, limits, privacy, forks, batches, schedules."""
