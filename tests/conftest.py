"""For all tests: how hypothesis works here."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

# Examples are rules on a table in process, and a busy machine makes any of them slow: time is no failure. No database:
# a run leaves nothing behind, and starts from nothing.
settings.register_profile("paceline", deadline=None, suppress_health_check=[HealthCheck.too_slow], database=None)
settings.load_profile("paceline")
