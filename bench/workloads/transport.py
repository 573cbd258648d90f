"""Buses and trams on their lines: stops, driving, and what it is like inside.

A vehicle goes from stop to stop; between two stops it may accelerate, brake or turn too sharply, and now and
then temperature, noise or the number of passengers changes. Some breaks between stops are long: out of
service. Times are seconds from 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workloads.columns import Coded, Ints, Mask, Stream, Table, coded, filled, numbered, table, until

TIMINGS = ("early", "scheduled", "late")
ABRUPT = ("abrupt", "very_abrupt")
SHARP = ("sharp", "very_sharp")
TEMPERATURES = ("cold", "normal", "hot")
LEVELS = ("low", "normal", "high")
STOPS = numbered("stop", 200)


@dataclass(frozen=True, slots=True)
class Lines:
    """How many vehicles there are, and how often they drive badly."""

    vehicles: int
    roughness: float = 0.3
    seed: int = 1

    @property
    def names(self) -> tuple[str, ...]:
        return numbered("bus", self.vehicles)


def generate(lines: Lines, *, events: int) -> Stream:
    """The earliest `events` rows."""

    def drive(stops: int) -> Stream:
        return _rides(lines, stops, np.random.default_rng(lines.seed))

    return filled(drive, events, 3 + events // (3 * lines.vehicles))


def _rides(lines: Lines, stops: int, rng: np.random.Generator) -> Stream:
    shape = (lines.vehicles, stops)
    ride = rng.integers(90, 400, shape)
    ride = np.where(rng.random(shape) < 0.02, ride + 3600, ride)
    dwell = rng.integers(15, 60, shape)
    leave = np.cumsum(ride + dwell, axis=1)
    enter = leave - dwell
    previous = enter - ride
    vehicle = np.broadcast_to(np.arange(lines.vehicles)[:, None], shape)
    stop = (vehicle * 13 + np.arange(stops)[None, :]) % len(STOPS)
    lateness = np.cumsum(rng.normal(0, 0.35, shape), axis=1)
    timing = np.where(lateness > 1, 2, np.where(lateness < -1, 0, 1))

    def rows(at: Ints, where: Mask, what: dict[str, Coded]) -> Table:
        return table(at[where], {"vehicle": coded(vehicle[where], lines.names), **what})

    always = np.ones(shape, dtype=bool)
    stream: Stream = {}
    for name, at in (("stop_enter", enter), ("stop_leave", leave)):
        what = {"stop": coded(stop[always], STOPS), "timing": coded(timing[always], TIMINGS)}
        stream[name] = rows(at, always, what)
    for name, degrees in (("acceleration", ABRUPT), ("deceleration", ABRUPT), ("turn", SHARP)):
        rough = rng.random(shape) < lines.roughness
        degree = {"degree": coded((rng.random(shape) < 0.3)[rough], degrees)}
        begin = previous + (ride * rng.uniform(0.05, 0.7, shape)).astype(np.int64)
        stream[f"{name}_start"] = rows(begin, rough, degree)
        stream[f"{name}_end"] = rows(begin + rng.integers(2, 15, shape), rough, degree)
    for name, levels in (("temperature", TEMPERATURES), ("noise", LEVELS), ("density", LEVELS)):
        changed = rng.random(shape) < 0.15
        level = {"level": coded(rng.choice(3, shape, p=[0.15, 0.65, 0.2])[changed], levels)}
        stream[f"{name}_change"] = rows(enter + rng.integers(1, 15, shape), changed, level)
    return until(stream, int(leave[:, -1].min()))
