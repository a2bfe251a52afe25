"""What every test shares: hypothesis without deadlines (two slow cores are not a bug), the same examples every time."""

from hypothesis import settings

settings.register_profile("assay", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("assay")
