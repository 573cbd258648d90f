"""What every test shares: Hypothesis profiles and a time limit.

The profile is named by the environment variable THALWEG_HYPOTHESIS: `ci` (the default) is short and always
the same, `fuzz` is long and different every time.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from java_archive import OPTIONS

_LENIENT = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]

settings.register_profile(
    "ci", max_examples=60, derandomize=True, deadline=None, suppress_health_check=_LENIENT
)
settings.register_profile("fuzz", max_examples=10_000, deadline=None, suppress_health_check=_LENIENT)
PROFILE = os.environ.get("THALWEG_HYPOTHESIS", "ci")
settings.load_profile(PROFILE)

os.environ.setdefault("SPARK_SUBMIT_OPTS", OPTIONS)

LIMIT = 300 if PROFILE == "ci" else 0
"""Seconds that one test may take, so that an endless loop is a failure with a place; 0: any time."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests on Spark come first: where several processes share the files, the long ones are not left for the end."""
    items.sort(key=lambda item: item.get_closest_marker("spark") is None)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Iterator[None]:
    """Stop a test that does not come to an end."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(*_: object) -> None:
        pytest.fail(f"more than {LIMIT} seconds")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, LIMIT)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
