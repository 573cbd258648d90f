"""Random programs in stages: rules about one individual, and rules about two that read them; most rows are late."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

from thalweg.reference.events import Row
from thalweg.testing.streams import Scenario

DECLARED = """
event set(x: symbol, v: symbol).
event ping(x: symbol).
event meet(x: symbol, y: symbol).
event part(x: symbol, y: symbol).
fluent near(x: symbol).
"""
VALUES = {"f": "abc", "k": "abc", "d": "ab", "near": ("true",)}
INDIVIDUALS = "xy"


def staged_scenario(rng: Random) -> Scenario:
    """A program and a stream."""
    text = "\n".join([DECLARED, *_about_one(rng), *_about_two(rng), ""])
    step = rng.choice((5, 10))
    window = step * rng.choice((1, 2, 3))
    return Scenario(text, tuple(_rows(rng, window, step)), window, step, end=35)


def _about_one(rng: Random) -> Iterator[str]:
    """Values that events set (f), that hang on others (k), delayed or in a cycle, combined (d); a derived event."""
    yield "initiatedAt(f(X)=V, T) :- happensAt(set(X, V), T)."
    yield f"terminatedAt(f(X)={rng.choice('abc_')}, T) :- happensAt(ping(X), T)."
    yield f"initiatedAt(k(X)={rng.choice('ab')}, T) :- happensAt(ping(X), T), {_literal(rng, 'X', 'f')}."
    yield f"initiatedAt(k(X)={rng.choice('bc')}, T) :- happensAt(set(X, {rng.choice('abc')}), T)."
    if rng.random() < 0.3:
        yield f"fi(k(X)=b, k(X)=c, {rng.randint(2, 9)})."
    if rng.random() < 0.3:
        yield "terminatedAt(k(X)=c, T) :- happensAt(ping(X), T), holdsAt(k(X)=a, T)."
    yield f"happensAt(tick(X), T) :- happensAt(set(X, {rng.choice('abc')}), T), {_literal(rng, 'X', 'fk')}."
    f, k, other = rng.choice("abc"), rng.choice("abc"), rng.choice(("k(X)=b", "near(X)=true"))
    yield f"holdsFor(d(X)=a, I) :- holdsFor(f(X)={f}, I1), holdsFor({other}, I2), {_joined(rng, 'I1', 'I2', 'I')}."
    yield (
        f"holdsFor(d(X)=b, I) :- holdsFor(f(X)={k}, I1), holdsFor(k(X)={f}, I2), "
        "relative_complement_all(I1, [I2], I)."
    )


def _about_two(rng: Random) -> Iterator[str]:
    yield "initiatedAt(met(X, Y)=true, T) :- happensAt(meet(X, Y), T)."
    yield "terminatedAt(met(X, Y)=true, T) :- happensAt(part(X, Y), T)."
    for i in range(rng.randint(1, 3)):
        for effect in ("initiatedAt", "terminatedAt"):
            yield f"{effect}(g{i}(X, Y)=true, T) :- {', '.join(_body(rng, i))}."
    more = rng.choice(("f(Y)=b", "k(X)=c", "g0(X, Y)=true", "near(Y)=true"))
    yield (
        f"holdsFor(h(X, Y)=true, I) :- holdsFor(met(X, Y)=true, I1), holdsFor({_pair(rng, rng.choice('XY'))}, I2), "
        f"holdsFor({more}, I3), {_joined(rng, 'I2', 'I3', 'I4')}, intersect_all([I1, I4], I)."
    )
    edge = rng.choice(("start", "end"))
    yield f"initiatedAt(w(X, Y)=true, T) :- happensAt({edge}(h(X, Y)=true), T), {_literal(rng, 'X')}."
    yield f"terminatedAt(w(X, Y)=true, T) :- happensAt(start(met(X, Y)=true), T), {_literal(rng, 'Y')}."
    if rng.random() < 0.4:
        yield (
            f"holdsFor(l(X, Y)=true, I) :- holdsFor(met(X, Y)=true, I1), holdsFor({_pair(rng, 'Y')}, I2), "
            f"intersect_all([I1, I2], I3), intDurGreater(I3, {rng.randint(2, 8)}, I)."
        )
    if rng.random() < 0.3:
        fresh, again = r"\+ holdsAt(r(X, Y)=a, T)", "holdsAt(r(X, Y)=a, T)"
        yield f"initiatedAt(r(X, Y)=a, T) :- happensAt(meet(X, Y), T), {fresh}, {_literal(rng, 'X')}."
        yield f"initiatedAt(r(X, Y)=b, T) :- happensAt(part(X, Y), T), {again}, {_literal(rng, 'Y')}."
    if rng.random() < 0.5:
        yield f"happensAt(both(X, Y), T) :- happensAt(meet(X, Y), T), {_literal(rng, 'X')}, {_literal(rng, 'Y')}."


def _body(rng: Random, earlier: int) -> Iterator[str]:
    yield rng.choice(("happensAt(meet(X, Y), T)", "happensAt(part(X, Y), T)"))
    for _ in range(rng.randint(1, 3)):
        yield _literal(rng, rng.choice("XY"))
    if rng.random() < 0.3:
        yield rng.choice(("", r"\+ ")) + f"happensAt(tick({rng.choice('XY')}), T)"
    if rng.random() < 0.2:
        yield "holdsAt(f(X)=V, T), holdsAt(f(Y)=V, T)"
    if rng.random() < 0.2 and earlier:
        yield f"holdsAt(g{rng.randrange(earlier)}(X, Y)=true, T)"


def _literal(rng: Random, who: str, names: str = "") -> str:
    pair = _pair(rng, who, names, anything=0.1)
    positive = (f"holdsAt({pair}, T)", f"happensAt({rng.choice(('start', 'end'))}({pair}), T)")
    return rng.choice(("", r"\+ ")) + rng.choices(positive, (3, 1))[0]


def _pair(rng: Random, who: str, names: str = "", anything: float = 0.0) -> str:
    name = rng.choice(names or sorted(VALUES))
    value = "_" if name != "near" and rng.random() < anything else rng.choice(VALUES[name])
    return f"{name}({who})={value}"


def _joined(rng: Random, left: str, right: str, into: str) -> str:
    return f"{rng.choice(('union_all', 'intersect_all'))}([{left}, {right}], {into})"


def _rows(rng: Random, window: int, step: int) -> Iterator[Row]:
    number = 0
    for _ in range(rng.randint(25, 50)):
        time = rng.randint(1, 30)
        if rng.random() < 0.3:
            time = max(step, time // step * step)  # at a query time
        arrival = time + (rng.randint(1, window) if rng.random() < 0.75 else 0)
        told = _happening(rng) | {"time": time}
        if told["name"] == "near":
            told |= {"end": time + rng.randint(1, 15), "shape": "interval", "value": "true"}
        number += 1
        yield Row(arrival=arrival, number=number, **told)
        if rng.random() < 0.15:
            number += 1
            yield Row(arrival=arrival + rng.randint(0, window), number=number, op=-1, **told)


def _happening(rng: Random) -> dict[str, Any]:
    name = rng.choices(("set", "ping", "meet", "part", "near"), (7, 3, 5, 3, 2))[0]
    second = {"set": "abc", "meet": INDIVIDUALS, "part": INDIVIDUALS}.get(name)
    return {"name": name, "args": (rng.choice(INDIVIDUALS), *([rng.choice(second)] if second else []))}
