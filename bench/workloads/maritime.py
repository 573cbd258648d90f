"""Critical points of vessels on their voyages, and how near some of them come to each other.

A vessel lies in port, departs slowly, cruises out, does something at sea (fish, drift, stop, loiter, tow,
search, or just sail on), cruises back and arrives. Each of these six *legs* has its kind of speed, reports
and critical events. Some vessels sail in pairs and meet at sea: tugs with their tow, pilots with their ship,
ships that meet for other reasons. Times are seconds from 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from workloads.columns import (
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

TYPES = ("cargo", "tanker", "passenger", "fishing", "pleasure", "tug", "pilot", "sar")
TYPE_SHARES = (0.26, 0.16, 0.08, 0.30, 0.12, 0.03, 0.02, 0.03)
CRUISE = np.array([12.0, 11.0, 17.0, 8.5, 7.5, 8.5, 14.0, 16.0])
CARGO, TANKER, FISHING, TUG, PILOT, SAR = 0, 1, 3, 5, 6, 7

AREAS = {"nearPorts": 20, "nearCoast": 20, "fishing": 30, "natura": 10, "anchorage": 10}
PREFIX = {
    "nearPorts": "port",
    "nearCoast": "coast",
    "fishing": "fish",
    "natura": "natura",
    "anchorage": "anchor",
}
AREA_NAMES = tuple(name for kind, count in AREAS.items() for name in numbered(PREFIX[kind], count))
OFFSET = dict(zip(AREAS, np.cumsum([0, *AREAS.values()])[:-1].tolist(), strict=True))

LEGS = 6
MOORED, DEPARTING, OUTWARD, AT_SEA, HOMEWARD, ARRIVING = range(LEGS)
MINUTES = np.array([[60, 480], [15, 35], [50, 240], [60, 240], [50, 240], [15, 35]])
REPORT_SECONDS = np.array([1200, 400, 600, 600, 600, 400])

SAIL, TRAWL, DRIFT, STOP, LOITER, TOW, SEARCH = range(7)
SEA_SPEED = np.array([0.0, 4.0, 3.8, 0.05, 2.0, 4.5, 9.0])
TURN_SECONDS = np.array([400, 150, 600, 3600, 900, 600, 200])


@dataclass(frozen=True, slots=True)
class Waters:
    """How many vessels there are, which share sails in pairs, and by when (in minutes) all have left."""

    vessels: int
    paired: float = 0.2
    seed: int = 1
    departure: int = 700

    @property
    def names(self) -> tuple[str, ...]:
        return numbered("v", self.vessels)

    @property
    def pairs(self) -> int:
        """Vessels 2i and 2i+1 are a pair, for i below this."""
        return int(self.vessels * self.paired) // 2

    def types(self) -> Ints:
        """The type of each vessel, as a position in `TYPES`."""
        rng = np.random.default_rng([self.seed, 1])
        types = rng.choice(len(TYPES), self.vessels, p=TYPE_SHARES)
        purpose = np.arange(self.pairs) % 3
        types[0 : 2 * self.pairs : 2] = np.array([TUG, PILOT, CARGO])[purpose]
        types[1 : 2 * self.pairs : 2] = np.array([CARGO, TANKER, TANKER])[purpose]
        return types.astype(np.int64)


def facts(waters: Waters) -> list[Fact]:
    """The register: types of vessels and of areas."""
    vessels: list[Fact] = [
        ("vesselType", name, TYPES[kind]) for name, kind in zip(waters.names, waters.types(), strict=True)
    ]
    areas: list[Fact] = [
        ("areaType", name, kind) for kind in AREAS for name in numbered(PREFIX[kind], AREAS[kind])
    ]
    return vessels + areas


def generate(waters: Waters, *, events: int, late: float = 0.0, relations: bool = True) -> Stream:
    """The earliest `events` rows; a share `late` of them arrives with Gamma(2, 2) hours of delay."""

    def sail(voyages: int) -> Stream:
        stream = _voyages(waters, voyages, np.random.default_rng([waters.seed, 2]))
        return stream if relations else {name: rows for name, rows in stream.items() if name != "proximity"}

    stream = filled(sail, events, 2 + events * 4 // (waters.vessels * 420))
    return delayed(stream, late, seed=waters.seed + 3) if late else stream


# --------------------------------------------------------------------------- voyages


@dataclass(frozen=True, slots=True)
class _Legs:
    """All legs of all voyages; arrays of shape (vessels, voyages, LEGS) and (vessels, voyages)."""

    start: Ints
    end: Ints
    activity: Ints
    cruise: Floats
    types: Ints


def _voyages(waters: Waters, voyages: int, rng: np.random.Generator) -> Stream:
    legs = _legs(waters, voyages, rng)
    marks = _critical(legs, rng)
    silent = _gaps(legs, rng)
    marks["gap_start"], marks["gap_end"] = (silent[0], silent[1], None), (silent[0], silent[2], None)
    marks = {name: _unless_silent(name, mark, silent) for name, mark in marks.items()}
    stream: Stream = {"velocity": _velocities(waters, legs, marks, silent, rng)}
    for name, (vessel, at, area) in marks.items():
        args = {"vessel": coded(vessel, waters.names)}
        if area is not None:
            args["area"] = coded(area, AREA_NAMES)
        stream[name] = table(at, args)
    stream["proximity"] = _proximity(waters, legs)
    return until(stream, int(legs.end[:, -1, -1].min()))


def _legs(waters: Waters, voyages: int, rng: np.random.Generator) -> _Legs:
    shape = (waters.vessels, voyages, LEGS)
    minutes = rng.uniform(MINUTES[:, 0], MINUTES[:, 1], shape)
    minutes[:, 0, MOORED] = rng.uniform(5, waters.departure, waters.vessels)
    seconds = np.rint(60 * minutes).astype(np.int64)
    types = waters.types()
    activity = _activities(types, voyages, rng)
    even, odd = slice(0, 2 * waters.pairs, 2), slice(1, 2 * waters.pairs, 2)
    seconds[odd] = seconds[even]
    meeting = np.select(
        [types[even] == TUG, types[even] == PILOT], [TOW, LOITER], rng.choice([STOP, LOITER], waters.pairs)
    )
    activity[even] = activity[odd] = meeting[:, None]
    end = np.cumsum(seconds.reshape(waters.vessels, -1), axis=1).reshape(shape)
    hurry = np.where(rng.random(shape[:2]) < 0.06, 1.5, rng.uniform(0.9, 1.1, shape[:2]))
    return _Legs(end - seconds, end, activity, CRUISE[types][:, None] * hurry, types)


def _activities(types: Ints, voyages: int, rng: np.random.Generator) -> Ints:
    shape = (len(types), voyages)
    usual = rng.choice([SAIL, DRIFT, STOP, LOITER], shape, p=[0.7, 0.1, 0.1, 0.1])
    fishing = np.where(rng.random(shape) < 0.85, TRAWL, SAIL)
    kind = types[:, None]
    return np.select([kind == FISHING, kind == SAR], [fishing, np.full(shape, SEARCH)], usual)


# --------------------------------------------------------------------------- critical events

Mark = tuple[Ints, Ints, Ints | None]
"""Vessels, times and, for areas, area codes of one kind of critical event."""


def _critical(legs: _Legs, rng: np.random.Generator) -> dict[str, Mark]:
    count, voyages = legs.activity.shape
    vessel = np.broadcast_to(np.arange(count)[:, None], (count, voyages))
    start, end = legs.start, legs.end

    def at(times: Ints, where: Mask | None = None) -> Mark:
        mask = np.ones((count, voyages), dtype=bool) if where is None else where
        return vessel[mask], times[mask], None

    def both(*marks: Mark) -> Mark:
        areas = [mark[2] for mark in marks if mark[2] is not None]
        return (
            np.concatenate([mark[0] for mark in marks]),
            np.concatenate([mark[1] for mark in marks]),
            np.concatenate(areas) if areas else None,
        )

    def area(kind: str, times: Ints, where: Mask | None = None) -> Mark:
        vessels, when, _ = at(times, where)
        return vessels, when, OFFSET[kind] + (vessels * 7 + OFFSET[kind]) % AREAS[kind]

    sea_start, sea_end = start[:, :, AT_SEA], end[:, :, AT_SEA]
    stops, slow = legs.activity == STOP, legs.activity == LOITER
    trawls, first = legs.activity == TRAWL, np.zeros((count, voyages), dtype=bool)
    first[:, 0] = True
    outward = end[:, :, OUTWARD] - start[:, :, OUTWARD]
    homeward = end[:, :, HOMEWARD] - start[:, :, HOMEWARD]
    off_coast, at_coast = start[:, :, OUTWARD] + outward // 3, end[:, :, HOMEWARD] - homeward // 3
    protected = (legs.activity == SAIL) & (rng.random((count, voyages)) < 0.2)
    speed_change = rng.random((count, voyages)) < 0.6
    return {
        "stop_start": both(at(start[:, :, MOORED] + 60), at(sea_start + 30, stops)),
        "stop_end": both(at(end[:, :, MOORED]), at(sea_end - 30, stops)),
        "slow_motion_start": both(
            at(start[:, :, DEPARTING] + 20), at(start[:, :, ARRIVING] + 20), at(sea_start + 30, slow)
        ),
        "slow_motion_end": both(
            at(end[:, :, DEPARTING]), at(end[:, :, ARRIVING] - 20), at(sea_end - 30, slow)
        ),
        "change_in_speed_start": both(
            at(start[:, :, OUTWARD] + 10),
            at(end[:, :, HOMEWARD] - 400, speed_change),
            at(sea_start - 200, ~stops),
        ),
        "change_in_speed_end": both(
            at(start[:, :, OUTWARD] + 310),
            at(end[:, :, HOMEWARD] - 100, speed_change),
            at(sea_start - 20, ~stops),
        ),
        "change_in_heading": _turns(legs, rng),
        "entersArea": both(
            area("nearPorts", start[:, :, ARRIVING]),
            area("nearCoast", at_coast),
            area("fishing", sea_start, trawls),
            area("natura", sea_start + 300, protected),
            area("nearPorts", start[:, :, MOORED] + 1, first),
            area("nearCoast", start[:, :, MOORED] + 1, first),
        ),
        "leavesArea": both(
            area("nearPorts", end[:, :, DEPARTING]),
            area("nearCoast", off_coast),
            area("fishing", sea_end, trawls),
            area("natura", sea_end - 300, protected),
        ),
    }


def _turns(legs: _Legs, rng: np.random.Generator) -> Mark:
    count, voyages = legs.activity.shape
    sailing = [OUTWARD, AT_SEA, HOMEWARD]
    every = np.full((count, voyages, len(sailing)), TURN_SECONDS[SAIL])
    every[:, :, 1] = TURN_SECONDS[legs.activity]
    times, which = spread(
        legs.start[:, :, sailing].reshape(-1), legs.end[:, :, sailing].reshape(-1), every.reshape(-1), rng
    )
    return which // (voyages * len(sailing)), times, None


# --------------------------------------------------------------------------- gaps, positions, encounters

Silence = tuple[Ints, Ints, Ints]
"""Vessel, first and last second of each communication gap, by vessel and time."""


def _gaps(legs: _Legs, rng: np.random.Generator) -> Silence:
    vessel, voyage = np.nonzero(rng.random(legs.activity.shape) < 0.12)
    leg = rng.choice([OUTWARD, AT_SEA, HOMEWARD], len(vessel))
    start, end = legs.start[vessel, voyage, leg], legs.end[vessel, voyage, leg]
    length = end - start
    return vessel, start + length // 4 + rng.integers(0, 300, len(vessel)), end - length // 5


def _silent(vessel: Ints, at: Ints, silence: Silence) -> Mask:
    """Whether the vessel is silent then; at the two ends of a gap it is heard."""
    if not len(silence[0]):
        return np.zeros(len(vessel), dtype=bool)
    span = int(max(silence[2].max(), at.max(initial=0))) + 1
    begins = silence[0] * span + silence[1]
    found = np.searchsorted(begins, vessel * span + at, side="left") - 1
    inside: Mask = (found >= 0) & (silence[0][found] == vessel) & (at < silence[2][found])
    return inside


def _unless_silent(name: str, mark: Mark, silence: Silence) -> Mark:
    if name.startswith("gap"):
        return mark
    heard = ~_silent(mark[0], mark[1], silence)
    return mark[0][heard], mark[1][heard], None if mark[2] is None else mark[2][heard]


def _velocities(
    waters: Waters, legs: _Legs, marks: dict[str, Mark], silence: Silence, rng: np.random.Generator
) -> Table:
    """A velocity with every report and every critical event, at most one per vessel and second."""
    starts, ends = legs.start.reshape(-1), legs.end.reshape(-1)
    every = np.broadcast_to(REPORT_SECONDS, legs.start.shape).reshape(-1)
    at, which = spread(starts, ends, every, rng)
    vessel = which // (len(starts) // waters.vessels)
    heard = ~_silent(vessel, at, silence)
    vessels = np.concatenate([vessel[heard], *(mark[0] for mark in marks.values())])
    times = np.concatenate([at[heard], *(mark[1] for mark in marks.values())])
    span = int(ends.max()) + 1
    keys = np.sort(vessels * span + times)
    keys = keys[np.append(True, keys[1:] != keys[:-1])]
    vessels, times = keys // span, keys % span
    leg = (
        np.searchsorted(
            (np.arange(len(starts)) // (len(starts) // waters.vessels)) * span + starts, keys, "right"
        )
        - 1
    )
    speed, course, heading = _motion(legs, np.maximum(leg, 0), rng)
    return table(
        times,
        {"vessel": coded(vessels, waters.names), "speed": speed, "course": course, "heading": heading},
    )


def _motion(legs: _Legs, leg: Ints, rng: np.random.Generator) -> tuple[Floats, Floats, Floats]:
    """Speed, course and heading of a position in each of these legs (flat positions)."""
    voyage, kind = leg // LEGS, leg % LEGS
    activity, cruise = legs.activity.reshape(-1)[voyage], legs.cruise.reshape(-1)[voyage]
    at_sea = np.where(activity == SAIL, cruise, SEA_SPEED[activity])
    typical = np.choose(
        kind,
        [np.full(len(leg), 0.04), np.full(len(leg), 2.2), cruise, at_sea, cruise, np.full(len(leg), 2.2)],
    )
    speed = np.round(typical * rng.uniform(0.85, 1.15, len(leg)), 2)
    course = np.round((leg * 37.0) % 360 + rng.uniform(-4, 4, len(leg)), 1) % 360
    aslant = np.where((kind == AT_SEA) & (activity == DRIFT), 40.0, 0.0)
    heading = np.round((course + aslant + rng.uniform(-6, 6, len(leg))) % 360, 1)
    heading[rng.random(len(leg)) < 0.1] = 511.0
    return speed, course, heading


def _proximity(waters: Waters, legs: _Legs) -> Table:
    """Pairs are close during most of their time at sea."""
    even = slice(0, 2 * waters.pairs, 2)
    start, end = legs.start[even, :, AT_SEA], legs.end[even, :, AT_SEA]
    margin = (end - start) // 10
    pair = np.broadcast_to(np.arange(waters.pairs)[:, None], start.shape).reshape(-1)
    names: npt.NDArray[np.int64] = 2 * pair
    return table(
        (start + margin).reshape(-1),
        {"one": coded(names, waters.names), "other": coded(names + 1, waters.names)},
        end=(end - margin).reshape(-1),
        value=coded(np.zeros(len(pair)), ("true",)),
    )
