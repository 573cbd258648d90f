"""What rules alone cannot say is said by operators: the diagonal of derived atoms (`diagonal`), `always` (`always`),
aggregates (`aggregates`), windows that count atoms (`counting`).

An operator reads the change of its sources and sets the change of the one store that it writes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from thalweg.lars.labels import FOREVER
from thalweg.lars.store import Store
from thalweg.protocol import Ints


@dataclass(slots=True)
class Moment:
    """Where a round stands: labels before `horizon` are final, the round goes up to the tick `target`."""

    start: int
    horizon: int
    target: int


class Operator(Protocol):
    """Reads stores, writes one."""

    reads: tuple[Store, ...]
    writes: Store

    def update(self, moment: Moment) -> None:
        """Set the change of what it writes."""

    def state(self) -> dict[str, Ints]:
        """What must be kept besides the stores."""

    def restore(self, state: dict[str, Ints]) -> None:
        """Take back what `state` gave."""


def every_tick(count: int) -> Ints:
    """The first `count` tuples, at every tick."""
    return np.stack([np.arange(count), np.full(count, -FOREVER), np.full(count, FOREVER)], axis=1)
