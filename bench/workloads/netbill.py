"""Consumers and merchants that negotiate over digital goods.

A *negotiation* is a request, a quote, an acceptance, a delivery and a payment, as far as it gets: not every
quote is accepted, and a non-compliance rate says how often goods or payment come too late or never. Agents
know nothing of their suspension and trade on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from workloads.columns import Column, Ints, Mask, Stream, Table, coded, filled, numbered, pick, table, until
from workloads.files import Fact

QUOTE, DELIVERY, PAYMENT = 20, 15, 15


@dataclass(frozen=True, slots=True)
class Market:
    """Half of the agents are merchants, half consumers; every merchant has the same `goods`."""

    agents: int
    goods: int = 10

    def __post_init__(self) -> None:
        if self.agents < 2 or self.goods < 1:
            raise ValueError("a market needs a merchant, a consumer and something to sell")

    @property
    def merchants(self) -> tuple[str, ...]:
        return numbered("m", self.agents // 2)

    @property
    def consumers(self) -> tuple[str, ...]:
        return numbered("c", self.agents - self.agents // 2)

    @property
    def goods_names(self) -> tuple[str, ...]:
        return numbered("g", self.goods)


def facts(market: Market) -> list[Fact]:
    """Who trades."""
    sellers: list[Fact] = [("merchant", name) for name in market.merchants]
    buyers: list[Fact] = [("consumer", name) for name in market.consumers]
    return sellers + buyers


def generate(
    market: Market, *, events: int, rate: float = 0.1, non_compliance: float = 0.05, seed: int = 1
) -> Stream:
    """The earliest `events` messages, when every consumer starts `rate` negotiations per time-point."""

    def negotiate(count: int) -> Stream:
        duration = max(1, round(count / (rate * len(market.consumers))))
        return _negotiations(market, count, duration, non_compliance, np.random.default_rng(seed))

    return filled(negotiate, events, events * 3 // 10)


def _negotiations(
    market: Market, count: int, duration: int, non_compliance: float, rng: np.random.Generator
) -> Stream:
    consumer = coded(rng.integers(0, len(market.consumers), count), market.consumers)
    merchant = coded(rng.integers(0, len(market.merchants), count), market.merchants)
    goods = coded(rng.integers(0, market.goods, count), market.goods_names)
    price = 5 * rng.integers(2, 21, count)

    def due(within: int) -> Ints:
        """In time, except for the non-compliant, who are late."""
        late = rng.random(count) < non_compliance / 2
        return np.where(late, within + rng.integers(1, within, count), rng.integers(1, within, count))

    def goes_on(so_far: Mask, share: float) -> Mask:
        return so_far & (rng.random(count) < share)

    requested = np.sort(rng.integers(1, duration + 1, count))
    unasked = rng.random(count) < 0.1
    quoted = requested + rng.integers(1, 8, count)
    accepted = quoted + due(QUOTE)
    sent = accepted + due(DELIVERY)
    paid = sent + due(PAYMENT)
    answered = goes_on(np.ones(count, dtype=bool), 0.9) | unasked
    taken = goes_on(answered, 0.7)
    delivered = goes_on(taken, 1 - non_compliance / 2)
    settled = goes_on(delivered, 1 - non_compliance / 2)

    by_consumer = {"consumer": consumer, "merchant": merchant, "goods": goods}
    by_merchant = {"merchant": merchant, "consumer": consumer, "goods": goods}
    messages = {
        "request_quote": _message(~unasked, requested, by_consumer),
        "present_quote": _message(answered, quoted, {**by_merchant, "price": price}),
        "accept_quote": _message(taken, accepted, by_consumer),
        "send_goods": _message(delivered, sent, by_merchant),
        "send_payment": _message(settled, paid, by_consumer),
    }
    return until(messages, duration)


def _message(sent: Mask, at: Ints, args: Mapping[str, Column]) -> Table:
    """The messages that were sent, in the order of time."""
    every = Table(at, args, at)
    chosen = pick(every, sent)
    return table(chosen.time, chosen.args)
