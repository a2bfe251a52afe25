"""What every test shares: hypothesis without deadlines (two slow cores are not a bug), the same examples every time."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "assay", deadline=None, derandomize=True, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("assay")
