"""Jobs: long work beside runs, done by workers.

`work` says what a job may be asked to do, `kinds` how each is done, `ingestion` the one which is split into parts,
`run.job_worker` takes them up.
"""
