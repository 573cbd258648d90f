"""Vehicles of a commercial fleet on their trips: speed, fuel, road, weather and driving.

A vehicle makes one trip after another. On each it reports its speed every minute, its fuel level every few
minutes (sometimes beside a petrol station), changes roads, and now and then brakes or turns abruptly.
Times are seconds from 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workloads.columns import (
    Column,
    Floats,
    Ints,
    Mask,
    Stream,
    Table,
    coded,
    delayed,
    filled,
    numbered,
    spread,
    table,
    until,
)
from workloads.files import Fact

TANK = 80.0
RANGE = 6 * 3600
MAXIMA = np.array([50, 80, 100, 130])
POSITIONS = ("on", "off")
SURFACES = ("dry", "wet", "icy")
MANOEUVRES = ("acceleration", "braking", "cornering")


@dataclass(frozen=True, slots=True)
class Fleet:
    """How many vehicles there are."""

    vehicles: int
    seed: int = 1

    @property
    def names(self) -> tuple[str, ...]:
        return numbered("van", self.vehicles)

    def economic(self) -> Ints:
        """The economic speed of each vehicle."""
        return np.random.default_rng([self.seed, 1]).choice(np.array([90, 100, 110]), self.vehicles)


def facts(fleet: Fleet) -> list[Fact]:
    """Tank and economic speed of each vehicle."""
    return [
        fact
        for name, speed in zip(fleet.names, fleet.economic().tolist(), strict=True)
        for fact in (("threshold", name, "fuel", TANK), ("threshold", name, "speed", speed))
    ]


def generate(fleet: Fleet, *, events: int, late: float = 0.0) -> Stream:
    """The earliest `events` rows; a share `late` of them arrives with Gamma(2, 2) hours of delay."""

    def drive(trips: int) -> Stream:
        return _trips(fleet, trips, np.random.default_rng([fleet.seed, 2]))

    stream = filled(drive, events, 2 + events * 4 // (fleet.vehicles * 270))
    return delayed(stream, late, seed=fleet.seed + 3) if late else stream


def _trips(fleet: Fleet, trips: int, rng: np.random.Generator) -> Stream:
    shape = (fleet.vehicles, trips)
    parked = rng.integers(600, 4 * 3600, shape)
    driven = rng.integers(900, 2 * 3600, shape)
    stop = np.cumsum(parked + driven, axis=1)
    start = stop - driven
    vehicle = np.broadcast_to(np.arange(fleet.vehicles)[:, None], shape).reshape(-1)
    on_road = np.cumsum(driven, axis=1) - driven
    used = on_road.reshape(-1)
    first, last = start.reshape(-1), stop.reshape(-1)
    stream = _switching(fleet, vehicle, first, last) | _roads(fleet, vehicle, first, last, rng)
    stream |= _driving(fleet, vehicle, first, last, used, rng)
    return until(stream, int(stop[:, -1].min()))


def _every(seconds: int, first: Ints, last: Ints, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Times about so many seconds apart within each trip, and the trip each belongs to."""
    return spread(first, last, np.full(len(first), seconds), rng)


def _switching(fleet: Fleet, vehicle: Ints, first: Ints, last: Ints) -> Stream:
    both = np.concatenate([vehicle, vehicle])
    position = np.repeat([0, 1], len(vehicle))
    columns = {"vehicle": coded(both, fleet.names), "position": coded(position, POSITIONS)}
    return {"ignition": table(np.concatenate([first, last]), columns)}


def _roads(fleet: Fleet, vehicle: Ints, first: Ints, last: Ints, rng: np.random.Generator) -> Stream:
    at, trip = _every(900, first, last, rng)
    at, trip = np.concatenate([first + 1, at]), np.concatenate([np.arange(len(first)), trip])
    maximum = rng.choice(MAXIMA, len(at), p=[0.3, 0.3, 0.25, 0.15])
    surface = rng.choice(len(SURFACES), len(vehicle), p=[0.7, 0.2, 0.1])
    return {
        "entersRoad": table(at, {"vehicle": coded(vehicle[trip], fleet.names), "maximum": maximum}),
        "weather": table(
            first + 2, {"vehicle": coded(vehicle, fleet.names), "surface": coded(surface, SURFACES)}
        ),
    }


def _driving(
    fleet: Fleet, vehicle: Ints, first: Ints, last: Ints, used: Ints, rng: np.random.Generator
) -> Stream:
    at, trip = _every(60, first, last, rng)
    haste = rng.uniform(0.6, 1.15, len(first))
    stands = _waiting(at, first[trip], last[trip], rng.random(len(first))[trip])
    kmh = np.where(stands, 0.0, np.round(haste[trip] * rng.uniform(70, 120, len(at)), 1))
    fuel_at, fuel_trip = _every(300, first, last, rng)
    level = _fuel(used[fuel_trip] + fuel_at - first[fuel_trip])
    beside = rng.random(len(fuel_at)) < 0.15
    rough = rng.random(len(first)) < 0.3
    abrupt_at, abrupt_trip = _every(400, first[rough], last[rough], rng)
    manoeuvre = rng.integers(0, len(MANOEUVRES), len(abrupt_at))
    stolen = rng.random(len(first)) < 0.002

    def reports(when: Ints, who: Ints, what: dict[str, Column]) -> Table:
        return table(when, {"vehicle": coded(who, fleet.names), **what})

    return {
        "speed": reports(
            np.concatenate([at, last[stolen] + 400]),
            np.concatenate([vehicle[trip], vehicle[stolen]]),
            {"kmh": np.concatenate([kmh, np.full(int(stolen.sum()), 60.0)])},
        ),
        "fuelLevel": reports(fuel_at, vehicle[fuel_trip], {"litres": level}),
        "closeToGas": reports(fuel_at[beside], vehicle[fuel_trip[beside]], {}),
        "abrupt": reports(
            abrupt_at, vehicle[rough][abrupt_trip], {"manoeuvre": coded(manoeuvre, MANOEUVRES)}
        ),
    }


def _waiting(at: Ints, first: Ints, last: Ints, when: Floats) -> Mask:
    """Whether the vehicle stands then: a wait of up to a tenth of each trip, at a moment of its own."""
    middle = first + (last - first) * (0.1 + 0.7 * when)
    waits: Mask = (at >= middle) & (at < middle + (last - first) * 0.1)
    return waits


def _fuel(seconds: Ints) -> Floats:
    """Litres left after so many seconds on the road, filling up when a tenth is left."""
    litres: Floats = np.round(TANK * (1 - 0.9 * (seconds % RANGE) / RANGE), 1)
    return litres
