"""
How many examples property tests run: HYPOTHESIS_PROFILE is ci (the default), dev or thorough.
"""

import os

from hypothesis import HealthCheck, settings

common = {
    "deadline": None,
    "database": None,
    "print_blob": False,
    "suppress_health_check": [HealthCheck.too_slow, HealthCheck.filter_too_much],
}
settings.register_profile("ci", max_examples=100, derandomize=True, **common)
settings.register_profile("dev", max_examples=30, **common)
settings.register_profile("thorough", max_examples=1_000, **common)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))
