"""Hidden fluents that hold once an effect has met an instance.

Where events drive the effect rules of a fluent, and who was met before plays no part in them, the hidden fluent gets
copies of them. Then it is evaluated before the fluent, once, and not round by round together with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from thalweg.analysis.order import reached
from thalweg.events.bounds import TRUE, viewed
from thalweg.events.forms import (
    DelayRule,
    EdgeAt,
    EffectAt,
    EventAt,
    Flat,
    HoldsAt,
    Normal,
    PointRule,
    PostponeRule,
    literals,
)
from thalweg.language.rules import Effect
from thalweg.language.terms import NOWHERE, Term, Variable


@dataclass(frozen=True, slots=True)
class Meeting:
    """The hidden fluent `name` holds of the instances of `fluent` after any effect on them."""

    name: str
    fluent: str


def settle(normal: Normal, meetings: Sequence[Meeting]) -> None:
    """Add the rules of the hidden fluents, all others being there."""
    left = list(meetings)
    for meeting in meetings:
        rules = [p for p in _effects(normal, meeting.fluent) if not _says_nothing_new(p, meeting.name)]
        below = reached({name for p in rules for name in _relations(p.body)}, _reads(normal, left))
        delayed = any(d.fluent == meeting.fluent for d in normal.delays)
        if delayed or not all(map(_by_event, rules)) or not below.isdisjoint({meeting.name, meeting.fluent}):
            normal.points += _watching(meeting, normal.fluents[meeting.fluent])
        else:
            normal.points += [_after(meeting.name, p.args, p.body, p.time, p.lag) for p in rules]
        left.remove(meeting)


def _effects(normal: Normal, fluent: str) -> list[PointRule]:
    """The rules of a fluent that others see as effects."""
    return [
        p
        for p in normal.points
        if p.relation == fluent and p.effect is not None and not p.greets and not p.displaces
    ]


def _says_nothing_new(p: PointRule, name: str) -> bool:
    """Does the rule speak about instances that were met before?"""
    return HoldsAt(name, p.args, TRUE) in p.body


def _by_event(p: PointRule) -> bool:
    """Does an event drive the rule? A hidden fluent sees more starts than others do: those of what holds from the very
    beginning."""
    return any(isinstance(x, EventAt) and not x.negated for x in p.body)


def _watching(meeting: Meeting, arity: int) -> Iterator[PointRule]:
    """Rules that read the effects themselves."""
    args, value = tuple(Variable(f"A{i}") for i in range(arity)), Variable("_#V")
    for effect, every in ((Effect.INITIATES, False), (Effect.TERMINATES, False), (Effect.TERMINATES, True)):
        yield _after(meeting.name, args, (EffectAt(effect, meeting.fluent, args, value, every=every),), "_#T", 0)


def _after(name: str, args: tuple[Term, ...], body: tuple[Flat, ...], time: str, lag: int) -> PointRule:
    return PointRule(Effect.INITIATES, name, args, TRUE, time, body, -1, NOWHERE, lag=lag)


# --------------------------------------------------------------------------- what hangs on what


def _relations(body: Sequence[Flat]) -> Iterator[str]:
    """The events and fluents that a body reads."""
    for x in literals(body):
        match x:
            case EventAt(relation, _, _):
                yield relation
            case HoldsAt() | EdgeAt() | EffectAt():
                yield viewed(x.fluent)
            case _:
                pass


def _reads(normal: Normal, meetings: Sequence[Meeting]) -> dict[str, set[str]]:
    """What each event and fluent reads. An event and a fluent of one name count as one."""
    found: dict[str, set[str]] = {}
    for p in normal.points:
        found.setdefault(p.relation, set()).update(_relations(p.body))
    for s in normal.spans:
        found.setdefault(viewed(s.fluent), set()).update(_relations((*(x for _, x in s.inputs), *s.gates, *s.tests)))
    delays: list[DelayRule | PostponeRule] = [*normal.delays, *normal.postpones]
    for rule in delays:
        found.setdefault(rule.fluent, set()).update(_relations(rule.body))
    for meeting in meetings:
        found.setdefault(meeting.name, set()).add(meeting.fluent)
    return found
