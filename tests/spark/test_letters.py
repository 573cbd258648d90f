"""Orders go to the workers without what these have already: a long program is sent once."""

from __future__ import annotations

import pickle
from dataclasses import dataclass, field, replace
from typing import Any

from thalweg.plans import Options, as_program
from thalweg.spark.files import Directory
from thalweg.spark.letters import Letter, sealed
from thalweg.spark.orders import Order
from thalweg.spark.settings import Settings, settings_of

RULE = "initiatedAt(on(X)=true, T) :- happensAt(press(X), T), weight(X, _).\n"


@dataclass
class Sent:
    value: Any


@dataclass
class Context:
    """Stands for Spark's; it notes what is sent to all workers."""

    applicationId: str = "first"
    sent: list[Settings] = field(default_factory=list)

    def broadcast(self, value: Settings) -> Sent:
        self.sent.append(value)
        return Sent(pickle.loads(pickle.dumps(value)))


def order_of(facts: int, batch: int = 0) -> Order:
    text = RULE + "".join(f"weight(v{n}, {n}).\n" for n in range(facts))
    options = Options(window=10, step=10, start=0)
    settings = settings_of(as_program(text), options, ["name", "time", "x"], shards=2)
    return Order(settings, 0, batch, "mark", 10, Directory("/tmp"))


def opened(letter: Letter) -> Order:
    """The order as a worker sees it."""
    return pickle.loads(pickle.dumps(letter)).opened()  # type: ignore[no-any-return]


def test_a_short_program_is_in_the_order() -> None:
    context, order = Context(), order_of(3)
    assert opened(sealed(context, order)) == order  # type: ignore[arg-type]
    assert context.sent == []


def test_a_long_program_is_sent_once_for_all_batches_and_runs() -> None:
    context, order = Context(), order_of(5000)
    for batch in range(3):
        given = replace(order, batch=batch)
        letter = sealed(context, given)  # type: ignore[arg-type]
        assert len(pickle.dumps(letter.order)) < 5000
        assert opened(letter) == given
    assert opened(sealed(context, order_of(5000))) == order_of(5000)  # type: ignore[arg-type]
    assert len(context.sent) == 1


def test_other_settings_and_another_session_get_their_own() -> None:
    context, order = Context("second"), order_of(5000)
    later = replace(order, settings=order.settings.starting(20))
    for given in (order, later, order):
        assert opened(sealed(context, given)) == given  # type: ignore[arg-type]
    assert len(context.sent) == 2
    other = Context("third")
    assert opened(sealed(other, order)) == order  # type: ignore[arg-type]
    assert len(other.sent) == 1
