"""Committees that deliberate over the motions on their agendas, again and again.

Every motion goes through *deliberations*: somebody proposes it, somebody seconds it, the members vote, the
chair closes the ballot and declares the outcome. A non-compliance rate says how often each rule of the house
is broken: motions nobody seconds, members who second their own motion, vote twice or not at all, chairs who
close too early or never, declare the wrong outcome or none.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workloads.columns import Coded, Floats, Ints, Mask, Stream, coded, filled, numbered, table, until
from workloads.files import Fact

SECONDING, OPEN, CLOSABLE, VOTING, DECLARING, LAPSE, SANCTION = 50, 20, 60, 100, 30, 120, 80
DEADLINES: dict[str, int] = {
    "seconding": SECONDING,
    "open": OPEN,
    "closable": CLOSABLE,
    "voting": VOTING,
    "declaring": DECLARING,
    "lapse": LAPSE,
    "sanction": SANCTION,
}
CHOICES = ("aye", "nay")
RESULTS = ("carried", "not_carried")
NEVER = np.iinfo(np.int64).max // 4


@dataclass(frozen=True, slots=True)
class House:
    """How many agents there are, in committees of `seats`, and how many motions their agendas list.

    Seat 0 of a committee is the chair, seats 1 to 3 may propose, 2 to 4 may second, all but the chair vote.
    """

    agents: int
    motions: int
    seats: int = 10

    def __post_init__(self) -> None:
        if self.seats < 5 or self.agents < self.seats:
            raise ValueError("a committee needs at least five seats, and there must be agents to fill one")

    @property
    def committees(self) -> int:
        return self.agents // self.seats

    @property
    def agent_names(self) -> tuple[str, ...]:
        return numbered("a", self.committees * self.seats)

    @property
    def motion_names(self) -> tuple[str, ...]:
        return numbered("m", self.motions)

    def sitting(self, motion: Ints, seat: Ints) -> Coded:
        """The agents in these seats of the committees that these motions belong to."""
        return coded((motion % self.committees) * self.seats + seat, self.agent_names)


def facts(house: House) -> list[Fact]:
    """Who holds which role in which committee, and which motion is on whose agenda."""
    roles = {
        "chair": range(1),
        "proposer": range(1, 4),
        "seconder": range(2, 5),
        "voter": range(1, house.seats),
    }
    roster: list[Fact] = [
        ("role_of", house.agent_names[committee * house.seats + seat], role, f"k{committee}")
        for committee in range(house.committees)
        for role, seats in roles.items()
        for seat in seats
    ]
    agenda: list[Fact] = [
        ("agenda", name, f"k{motion % house.committees}") for motion, name in enumerate(house.motion_names)
    ]
    return roster + agenda


def generate(house: House, *, events: int, non_compliance: float = 0.05, seed: int = 1) -> Stream:
    """The earliest `events` acts of the house."""

    def deliberate(rounds: int) -> Stream:
        return _deliberations(house, rounds, non_compliance, np.random.default_rng(seed))

    return filled(deliberate, events, events * 5 // (4 * house.motions * (house.seats + 2)) + 3)


@dataclass(frozen=True, slots=True)
class _Course:
    """The course of each deliberation, one entry per (motion, round); `NEVER` where a step does not come."""

    motion: Ints
    mover: Ints
    proposed: Ints
    seconder: Ints
    seconded: Ints
    closed: Ints
    declared: Ints
    counted: Ints


def _deliberations(house: House, rounds: int, rate: float, rng: np.random.Generator) -> Stream:
    course = _course(house, rounds, rate, rng)
    which, seat, cast, choice = _votes(house, course, rate, rng)
    carried = _carried(house, course, which, seat, cast, choice)
    wrong = rng.random(len(course.motion)) < rate
    motions = house.motion_names
    proposals = _proposals(course, rate, rng)
    chair = np.zeros(len(course.motion), dtype=np.int64)
    seconded, closed, declared = (t < NEVER for t in (course.seconded, course.closed, course.declared))
    result = np.where(carried ^ wrong, 0, 1)

    def act(name: str, motion: Ints, seats: Ints, at: Ints, what: dict[str, Coded]) -> Stream:
        return {
            name: table(at, {"agent": house.sitting(motion, seats), "motion": coded(motion, motions), **what})
        }

    acts = (
        act("propose", *proposals, {})
        | act("second", *_where(seconded, course.motion, course.seconder, course.seconded), {})
        | act("vote", course.motion[which], seat, cast, {"choice": coded(choice, CHOICES)})
        | act("close_ballot", *_where(closed, course.motion, chair, course.closed), {})
        | act(
            "declare",
            *_where(declared, course.motion, chair, course.declared),
            {"result": coded(result[declared], RESULTS)},
        )
    )
    last = course.proposed.reshape(house.motions, rounds)[:, -1]
    return until(acts, int(last.min()))


def _where(mask: Mask, motion: Ints, seat: Ints, at: Ints) -> tuple[Ints, Ints, Ints]:
    return motion[mask], seat[mask], at[mask]


def _course(house: House, rounds: int, rate: float, rng: np.random.Generator) -> _Course:
    shape = (house.motions, rounds)
    mover = rng.integers(1, 4, shape)
    own = (rng.random(shape) < rate) & (mover >= 2)
    other = 2 + (mover - 2 + rng.integers(1, 3, shape)) % 3
    idle = rng.integers(5, 40, shape)
    to_second = np.where(rng.random(shape) < rate, NEVER, rng.integers(1, 40, shape))
    in_time = rng.integers(OPEN + 25, OPEN + CLOSABLE - 5, shape)
    to_close = np.where(rng.random(shape) < rate, rng.integers(4, OPEN - 1, shape), in_time)
    to_close = np.where(rng.random(shape) < rate, NEVER, to_close)
    to_declare = np.where(rng.random(shape) < rate, NEVER, rng.integers(1, DECLARING - 4, shape))

    seconded = to_second < NEVER
    voting = np.where(seconded, np.minimum(to_close, VOTING), 0)
    declaring = np.where(seconded, np.minimum(to_declare, DECLARING), 0)
    length = idle + np.where(seconded, to_second + voting + declaring, 2 * SECONDING) + 2
    offset = rng.integers(0, 120, (house.motions, 1))
    started = offset + np.cumsum(length, axis=1) - length
    proposed = started + idle
    opened = np.where(seconded, proposed + to_second, NEVER)
    closed = np.where(seconded & (to_close < NEVER), opened + to_close, NEVER)
    counted = opened + voting
    declared = np.where(seconded & (to_declare < NEVER), counted + to_declare, NEVER)
    motion = np.broadcast_to(np.arange(house.motions)[:, None], shape)
    flat = (motion, mover, proposed, np.where(own, mover, other), opened, closed, declared, counted)
    return _Course(*(np.ascontiguousarray(a.reshape(-1), dtype=np.int64) for a in flat))


def _proposals(course: _Course, rate: float, rng: np.random.Generator) -> tuple[Ints, Ints, Ints]:
    """The proposals that start deliberations, some renewals, and some that come while the vote is on."""
    count = len(course.motion)
    renewed = (rng.random(count) < rate) & (course.seconded >= NEVER)
    stray = (rng.random(count) < rate) & (course.seconded < NEVER)
    renewal = course.proposed + rng.integers(5, SECONDING - 5, count)
    late = np.where(stray, course.seconded, 0) + rng.integers(1, 4, count)
    seats = rng.integers(1, 4, count)
    return (
        np.concatenate([course.motion, course.motion[renewed], course.motion[stray]]),
        np.concatenate([course.mover, course.mover[renewed], seats[stray]]),
        np.concatenate([course.proposed, renewal[renewed], late[stray]]),
    )


def _votes(
    house: House, course: _Course, rate: float, rng: np.random.Generator
) -> tuple[Ints, Ints, Ints, Ints]:
    """Deliberation, seat, time and choice of every vote: one per voter, sometimes none or two."""
    called = np.flatnonzero(course.seconded < NEVER)
    shape = (len(called), house.seats - 1)
    which = np.broadcast_to(called[:, None], shape)
    seat = np.broadcast_to(np.arange(1, house.seats)[None, :], shape)
    cast = course.seconded[called][:, None] + rng.integers(1, OPEN + 22, shape)
    leaning: Floats = rng.random(shape[0])
    choice = (rng.random(shape) > leaning[:, None]).astype(np.int64)
    takes_part = rng.random(shape) >= rate
    twice = takes_part & (rng.random(shape) < rate)
    again = cast + rng.integers(1, 8, shape)

    def both(one: Ints, two: Ints) -> Ints:
        return np.concatenate([one[takes_part], two[twice]]).astype(np.int64)

    return both(which, which), both(seat, seat), both(cast, again), both(choice, 1 - choice)


def _carried(house: House, course: _Course, which: Ints, seat: Ints, cast: Ints, choice: Ints) -> Mask:
    """Whether the ayes outnumber the nays among each voter's last vote before the ballot closed."""
    valid = np.flatnonzero(cast < course.counted[which])
    order = valid[np.lexsort((cast[valid], seat[valid], which[valid]))]
    voter = which[order] * house.seats + seat[order]
    last = np.append(voter[1:] != voter[:-1], True) if len(order) else np.zeros(0, dtype=bool)
    final = order[last]
    balance = np.bincount(which[final], weights=1.0 - 2.0 * choice[final], minlength=len(course.motion))
    outcome: Mask = balance > 0
    return outcome
