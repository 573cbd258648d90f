"""The event reasoner against the reference: every timeline, event, countdown and rejection, at every query time.

The examples are the same in every run; `python -m thalweg.testing.fuzz` tries new ones.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from random import Random

import pytest

from thalweg.events.reasoner import Reasoner
from thalweg.testing.fuzz import difference
from thalweg.testing.programs import Features
from thalweg.testing.streams import TIDY, Mess, random_scenario

PLAIN = Features().without("cycles", "delays", "whole", "free_heads", "initially", "grounding")
UNTIDY = Mess(late=40, duplicate=20, retract=40, early=10)
KINDS = {
    "layers": (PLAIN, TIDY),
    "layers, late rows and retractions": (PLAIN, Mess()),
    "cycles": (Features().without("delays", "whole", "free_heads", "initially", "grounding"), Mess()),
    "delayed effects": (
        Features().without("cycles", "whole", "free_heads", "initially", "grounding"),
        Mess(),
    ),
    "cycles and delayed effects": (
        Features().without("whole", "free_heads", "initially", "grounding"),
        Mess(),
    ),
    "whole intervals": (
        Features().without("cycles", "delays", "free_heads", "initially", "grounding"),
        Mess(),
    ),
    "known instances": (Features().without("cycles", "delays", "whole"), Mess()),
    "known instances in cycles and delayed effects": (Features().without("whole", "grounding"), Mess()),
    "everything, tidy": (Features(), TIDY),
    "everything": (Features(), Mess()),
    "everything, very untidy": (Features(), UNTIDY),
}


@contextmanager
def at_most(seconds: int) -> Iterator[None]:
    """Fails what does not come to an end."""

    def stop(*_: object) -> None:
        raise TimeoutError(f"no answer after {seconds} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("kind", KINDS)
def test_the_reasoner_agrees_with_the_reference(kind: str) -> None:
    features, mess = KINDS[kind]
    for seed in range(40):
        scenario = random_scenario(Random(f"{kind} {seed}"), features, mess)
        with at_most(60):
            found = difference(scenario, Reasoner, seed)
        assert not found, f"seed {seed}: {found}\n\n{scenario}"
