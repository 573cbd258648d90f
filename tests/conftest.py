"""What every test shares: Hypothesis profiles, a time limit, and which process runs it where there are several.

The profile is named by the environment variable THALWEG_HYPOTHESIS: `ci` (the default) is short and always
the same, `fuzz` is long and different every time.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from xdist.scheduler import LoadScopeScheduling

from java_archive import OPTIONS

_LENIENT = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]

settings.register_profile(
    "ci", max_examples=20, derandomize=True, deadline=None, suppress_health_check=_LENIENT
)
settings.register_profile("fuzz", max_examples=10_000, deadline=None, suppress_health_check=_LENIENT)
PROFILE = os.environ.get("THALWEG_HYPOTHESIS", "ci")
settings.load_profile(PROFILE)

os.environ.setdefault("SPARK_SUBMIT_OPTS", OPTIONS)

LIMIT = 300 if PROFILE == "ci" else 0
"""Seconds that one test may take, so that an endless loop is a failure with a place; 0: any time."""


SESSIONS = 2
"""Of several processes so many have a Spark session: Java and its workers do much before the first test, in each."""
WITHOUT = ("test_commits_and_recovery.py", "test_random_atoms.py", "test_random_programs.py", "test_stages.py")
"""Long files about Spark that need no session."""


def _file(nodeid: str) -> str:
    return nodeid.partition("::")[0]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files about Spark come first: where several processes share the files, the long ones are not left for the end."""
    items.sort(key=lambda item: "spark" not in _file(item.nodeid))


class Sharing(LoadScopeScheduling):
    """A file is for whichever process is free; those about Spark are for as many processes as have a session."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.turns: dict[str, int] = {}

    def _split_scope(self, nodeid: str) -> str:
        file = _file(nodeid)
        if "spark" not in file or file.endswith(WITHOUT):
            return file
        return f"spark {self.turns.setdefault(file, len(self.turns) % SESSIONS)}"


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Sharing:
    return Sharing(config, log)


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
