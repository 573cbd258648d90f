"""Scenes before a camera: two people come, meet, do something together and part.

What they do is one of three scripts: walk on side by side, fight, or one of them puts something down, after
which both leave. Everything is seen every 40 ms and arrives as points. Times are milliseconds from 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workloads.columns import Column, Ints, Mask, Stream, Table, coded, filled, numbered, table
from workloads.files import Fact

FRAME = 40
STROLL, FIGHT, DROP = range(3)
APPROACH, MEET, TOGETHER, PART = range(4)
FRAMES = np.array([[25, 75], [30, 100], [70, 150], [100, 400]])
LINGER = 60
"""How many frames before the end of `TOGETHER` somebody who puts something down does so."""
WALK_OFF = 50
"""How many frames people are still seen once they part; what they put down is seen until the end."""


@dataclass(frozen=True, slots=True)
class Scenes:
    """How many scenes there are, one starting every few seconds; scene i has people 2i and 2i+1."""

    count: int
    seed: int = 1

    @property
    def people(self) -> tuple[str, ...]:
        return numbered("p", 2 * self.count)

    @property
    def objects(self) -> tuple[str, ...]:
        return numbered("bag", self.count)


def facts(scenes: Scenes) -> list[Fact]:
    """Who is a person and what is an object."""
    people: list[Fact] = [("person", name) for name in scenes.people]
    objects: list[Fact] = [("object", name) for name in scenes.objects]
    return people + objects


def generate(*, events: int, seed: int = 1) -> tuple[Scenes, Stream]:
    """As many scenes as the earliest `events` rows need, and these rows."""
    made: list[Scenes] = []

    def play(count: int) -> Stream:
        made.append(Scenes(count, seed))
        return scenes_of(made[-1])

    stream = filled(play, events, events // 700 + 1)
    return made[-1], stream


def scenes_of(scenes: Scenes) -> Stream:
    """Everything that is seen in these scenes."""
    rng = np.random.default_rng(scenes.seed)
    shape = (scenes.count, len(FRAMES))
    frames = rng.integers(FRAMES[:, 0], FRAMES[:, 1], shape)
    begin = np.cumsum(rng.integers(50, 150, scenes.count))
    last = begin[:, None] + np.cumsum(frames, axis=1)
    first = last - frames
    script = rng.choice(3, scenes.count, p=[0.5, 0.2, 0.3])
    still = rng.random(scenes.count) < 0.4
    bags_gone = last[:, PART].copy()
    last[:, PART] = first[:, PART] + WALK_OFF
    stage = _Stage(scenes, first, last)
    stroll, fight, drop = (script == kind for kind in (STROLL, FIGHT, DROP))
    everybody = np.ones(scenes.count, dtype=bool)
    put = last[:, TOGETHER] - LINGER
    return {
        "walking": stage.seen(
            (APPROACH, everybody, 2), (TOGETHER, stroll, 2), (PART, ~fight, 2), (PART, fight, 1)
        ),
        "running": stage.seen((PART, fight, 0)),
        "active": stage.seen(
            (MEET, everybody, 1), (MEET, ~still, 0), (TOGETHER, fight, 1), (TOGETHER, drop, 2)
        ),
        "inactive": stage.seen((MEET, still, 0)),
        "abrupt": stage.seen((TOGETHER, fight, 0)),
        "near": stage.pairs((MEET, everybody), (TOGETHER, everybody), bags=(drop, put, last[:, TOGETHER])),
        "touching": stage.pairs((TOGETHER, fight)),
        "appear": stage.moments(first[:, APPROACH], put, drop),
        "disappear": stage.moments(last[:, PART], bags_gone, drop),
    }


@dataclass(frozen=True, slots=True)
class _Stage:
    """First and last frame (exclusive) of each part of each scene."""

    scenes: Scenes
    first: Ints
    last: Ints

    def seen(self, *parts: tuple[int, Mask, int]) -> Table:
        """Points of one person's behaviour: in which part, of which scenes, by whom (0, 1, or 2 for both)."""
        times, who = [], []
        for part, where, actor in parts:
            at, scene = _frames(self.first[:, part], self.last[:, part], where)
            for person in (0, 1) if actor == 2 else (actor,):
                times.append(at)
                who.append(2 * scene + person)
        return _points(np.concatenate(times), {"who": coded(np.concatenate(who), self.scenes.people)})

    def pairs(self, *parts: tuple[int, Mask], bags: tuple[Mask, Ints, Ints] | None = None) -> Table:
        """Points at which the two are near each other; with `bags`, the first and what was put down too."""
        ranges = [(self.first[:, part], self.last[:, part], where) for part, where in parts]
        found = [_frames(*each) for each in ranges]
        at = np.concatenate([times for times, _ in found])
        scene = np.concatenate([which for _, which in found])
        one, other = 2 * scene, 2 * scene + 1
        if bags is not None:
            where, put, left = bags
            bag_at, bag_scene = _frames(put, left, where)
            at = np.concatenate([at, bag_at])
            one = np.concatenate([one, 2 * bag_scene])
            other = np.concatenate([other, len(self.scenes.people) + bag_scene])
        names = self.scenes.people + self.scenes.objects
        return _points(at, {"one": coded(one, names), "other": coded(other, names)})

    def moments(self, people: Ints, bags: Ints, where: Mask) -> Table:
        """One event per person and per object that was put down."""
        scene = np.arange(self.scenes.count)
        who = np.concatenate([2 * scene, 2 * scene + 1, len(self.scenes.people) + scene[where]])
        at = FRAME * np.concatenate([people, people, bags[where]])
        return table(at, {"who": coded(who, self.scenes.people + self.scenes.objects)})


def _frames(first: Ints, last: Ints, where: Mask) -> tuple[Ints, Ints]:
    """Every frame of the ranges of the chosen scenes, in milliseconds, with its scene."""
    scene = np.flatnonzero(where)
    counts = last[scene] - first[scene]
    which = np.repeat(scene, counts)
    nth = np.arange(len(which)) - np.repeat(np.cumsum(counts) - counts, counts)
    return FRAME * (first[which] + nth), which


def _points(at: Ints, args: dict[str, Column]) -> Table:
    return table(at, args, value=coded(np.zeros(len(at)), ("true",)))
