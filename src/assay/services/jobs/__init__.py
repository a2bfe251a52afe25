"""Jobs: long work outside runs, done by workers.

`specifications` define jobs, `kinds` implements them, `ingestion` is the one that is split into parts; `run.job_worker`
takes them up.
"""
