"""What has rules of its own and is no phase: documents, threads, limits, privacy, forks, batches, schedules."""
