"""Jobs: long work beside runs, done by workers.

`specifications` say what a job may be asked to do, `kinds` how each is done, `ingestion` the one which is split into
parts; `run.job_worker` takes them up.
"""
