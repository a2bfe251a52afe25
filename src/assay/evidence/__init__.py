"""Evidence: files become snapshots and documents, documents become passages, passages become sources of a run."""
