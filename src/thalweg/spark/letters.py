"""Orders on their way to the workers. What is the same in every batch, a program with all its facts, goes once."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from thalweg.spark.orders import Order
from thalweg.spark.settings import Settings

if TYPE_CHECKING:
    from pyspark import Broadcast, SparkContext

LONG = 20_000
"""Characters of a program from which on it is sent apart from the order."""
KEPT = 8
"""Programs that stay sent."""


@dataclass(frozen=True, slots=True)
class Letter:
    """An order as it is sent. `settings`: where a worker finds them, which keeps them from batch to batch; None: they
    are in the order."""

    order: Order
    settings: Broadcast[Settings] | None = None

    def opened(self) -> Order:
        """The order, in a worker."""
        return self.order if self.settings is None else replace(self.order, settings=self.settings.value)


def sealed(context: SparkContext, order: Order) -> Letter:
    """The order to be sent."""
    settings = order.settings
    if len(settings.text) < LONG:
        return Letter(order)
    without = replace(settings, text="", stages=())
    return Letter(replace(order, settings=without), _sent(context, settings))


_SENT: deque[tuple[tuple[str, str], Settings, Broadcast[Settings]]] = deque()


def _sent(context: SparkContext, settings: Settings) -> Broadcast[Settings]:
    """The settings where workers find them; equal ones are sent once."""
    key = (str(context.applicationId), settings.identity)  # the identity travels along: no worker has to find it
    for known, kept, there in tuple(_SENT):  # other streams send theirs meanwhile
        if known == key and kept == settings:
            return there
    there = context.broadcast(settings)
    _SENT.append((key, settings, there))
    if len(_SENT) > KEPT:
        (application, _), _, old = _SENT.popleft()
        if application == key[0]:
            old.unpersist()
    return there
