"""A changed program takes over from another one.

Queries that the change does not touch keep their cells as they are. The others are evaluated again over the retained
rows, which are all that an undecided answer of the old program can rest on. What is decided is final. An answer that
rests on what was not kept is not told, and that is said; a query that rests on all that ever came is refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from thalweg.analysis.farthest import farthest, too_large
from thalweg.analysis.temporal import Signature
from thalweg.answers.codec import Codec
from thalweg.answers.loose import NEVER
from thalweg.answers.plans import Plan, QueryPlan
from thalweg.answers.retained import Depth, Kept, Unasked, depth, depth_of
from thalweg.protocol import CannotGoOn, Revision

if TYPE_CHECKING:
    from thalweg.answers.reasoner import Reasoner, State
    from thalweg.language.program import Program

_CONTENT = ("evidence", "needed", "decided_by")
"""What tells open answers apart besides the answer."""
_SAID = {("delete", "open"): "dropped", ("delete", "certain"): "withdrawn", ("insert", "open"): "opened"}


def changed(old: Reasoner, program: Program) -> Reasoner:
    """A reasoner for the program that goes on from another, with the corrections that `revise` tells."""
    kept = old._retained
    if kept is None:
        raise CannotGoOn("this reasoner does not keep its input; make it with retain=True")
    if old.clock > (limit := farthest(program)):
        raise CannotGoOn(f"the clock is at {old.clock}, which is {too_large(limit)}")
    kept.trim(old.engine.closed)
    new = type(old)(program, old.lateness, horizon=old.horizon, start=old.start, retain=True)
    new.begin(Codec(old.codec.symbols.copy()))
    new.codec.symbols.fix()
    carried = _carried(old, new)
    known = _Knowledge(old, new, kept, carried)
    _hand_over(new, old, kept, carried, known)
    new.inbox.rejected = old.inbox.rejected
    asked = new.engine.mains - set(carried)
    gone = old.engine.mains - set(carried.values())
    before = _rows(old, gone)
    if old.in_bulk and gone:
        before = pa.concat_tables([before, _rows(_stepped(old, kept), gone)])
    new.unasked = _unasked(new, old, before)
    tables = _tables(new, old, before, _rows(new, asked))
    new.engine.retire_decided()
    new._revised = Revision({**new._revision([], []).tables, **tables}, tuple(known.notes()))
    return new


# --------------------------------------------------------------------------- what stays


def _carried(old: Reasoner, new: Reasoner) -> dict[int, int]:
    """The queries whose cells are carried over, by their number in the new plan: the user's, groups that were combined,
    and those that rest on all that ever came. Others decide negated premises, and are evaluated again."""
    groups = {g.query for query in new.plan.queries for t in query.loose for g in t.groups}
    return {
        b: a
        for b, a in unaffected(old.plan, new.plan).items()
        if b in new.engine.mains or b in groups or depth(new.engine, b).endless
    }


def unaffected(old: Plan, new: Plan) -> dict[int, int]:
    """The queries that mean the same in both plans, by their number in the new one: they say the same, and those that
    decide their premises do."""
    pairs = {
        b: a
        for b, mine in enumerate(new.queries)
        for a, theirs in enumerate(old.queries)
        if _told(mine) == _told(theirs) and _background(new, mine) == _background(old, theirs)
    }
    while True:
        left = {b: a for b, a in pairs.items() if [pairs.get(q) for q in _needs(new, b)] == _needs(old, a)}
        if len(left) == len(pairs):
            return left
        pairs = left


def _told(query: QueryPlan) -> tuple[Any, ...]:
    loose = [(t.template, [(g.variable, g.premises) for g in t.groups]) for t in query.loose]
    return query.main, query.goal, query.at, query.templates, loose


def _background(plan: Plan, query: QueryPlan) -> list[Any]:
    """The background knowledge that a query reads."""
    templates = [*query.templates, *(t.template for t in query.loose)]
    read = {p.predicate for t in templates for p in t.rigid}
    return [(predicate, plan.background.get(predicate)) for predicate in sorted(read)]


def _needs(plan: Plan, number: int) -> list[int]:
    """The queries that decide the negated premises of a query, and its groups."""
    query = plan.queries[number]
    found = [plan.query_of(replace(p, negated=False)) for t in query.templates for p in t.negative]
    return found + [group.query for t in query.loose for group in t.groups]


# --------------------------------------------------------------------------- what can be known


class _Knowledge:
    """From which time on the answers of the affected queries can be known, and why not before."""

    def __init__(self, old: Reasoner, new: Reasoner, kept: Kept, carried: dict[int, int]) -> None:
        self.old, self.new, self.kept, self.carried = old, new, kept, carried
        names = {q.name: number for number, q in enumerate(old.plan.queries) if q.main}
        self.depths = {q: depth(new.engine, q, carried) for q in new.engine.mains - set(carried)}
        self.decided: dict[int, int] = {}
        for query, found in self.depths.items():
            name = new.plan.queries[query].name
            self.decided[query] = self._decided(query, name, names.get(name))
            if found.endless and (reasons := sorted(why for _, why in self._bounds(found))):
                raise CannotGoOn(f"the answers to {name} rest on all that ever came, and {reasons[0]}")

    def _decided(self, query: int, name: str, before: int | None) -> int:
        """Up to which time the answers of a query are decided; `before` is its number in the old plan."""
        engine, closed = self.old.engine, self.old.engine.closed
        if before is not None:
            return max(closed - engine.retire[before], engine.final[before])
        if name in self.old.unasked:
            return self.old.unasked[name].decided(closed)
        return closed - self.new.engine.retire[query]

    def since(self, predicate: Signature) -> int:
        """The time from which on the rows of a predicate are known."""
        return self.kept.complete_from(predicate) if self._was_read(predicate) else self.old.clock + 1

    def _was_read(self, predicate: Signature) -> bool:
        return predicate in self.old.plan.datalog.inputs

    def _bounds(self, found: Depth) -> Iterator[tuple[int, str]]:
        """Times before which an answer could rest on what is not known, with the reason."""
        for predicate, low in found.facts.items():
            shown, since = f"{predicate[0]}/{predicate[1] - 1}", self.since(predicate)
            if since > self.new.start:
                kept = f"rows of {shown} before {since} were not kept"
                yield since - low, kept if self._was_read(predicate) else f"{shown} was not read before {since}"
        for query, low in found.cells.items():
            first = self.old.engine.closed - self.old.engine.retire[self.carried[query]] + 1
            if first > self.new.start:
                yield first - low, f"what {self.new.plan.queries[query].name} said before {first} was not kept"

    def told_from(self, query: int) -> list[int]:
        """For each alternative of a query the first time whose answers are told."""
        bounds = [self._bounds(depth_of(self.new.engine, s, self.carried)) for s in self.new.engine.shapes[query]]
        return [max((first for first, _ in known), default=-NEVER) for known in bounds]

    def notes(self) -> Iterator[str]:
        """Sentences on answers that cannot be known."""
        for query, found in sorted(self.depths.items()):
            for first, why in sorted(self._bounds(found)):
                if first > self.decided[query] + 1:
                    name = self.new.plan.queries[query].name
                    yield f"answers to {name} about times before {first} may be missing: {why}"


# --------------------------------------------------------------------------- handing over


def _hand_over(
    new: Reasoner, old: Reasoner, kept: Kept, carried: dict[int, int], known: _Knowledge
) -> None:
    """Give the new reasoner the cells of the queries that stay, and the rows for the others."""
    engine = new.engine
    names = {q.name: number for number, q in enumerate(old.plan.queries) if q.main}
    for query in known.depths:
        engine.final[query] = known.decided[query]
        engine.known_from[query] = [max(first, engine.final[query] + 1) for first in known.told_from(query)]
        before = names.get(new.plan.queries[query].name)
        if before is not None:
            engine.retire[query] = max(engine.retire[query], old.engine.retire[before])
    furthest = max(engine.retire[q] - depth(engine, q).lowest for q in engine.mains)
    engine.frozen = frozenset(carried)
    for b, a in carried.items():
        engine.known_from[b], engine.final[b] = old.engine.known_from[a], old.engine.final[a]
        for time, cell in sorted(old.engine.cells[a].items()):
            engine.adopt(b, time, cell.blocks)
    _carry_loose(new, old, carried)
    retained = new._retained
    assert retained is not None
    retained.begin = kept.begin
    for predicate in new.plan.datalog.inputs:
        retained.since[predicate] = known.since(predicate)
        for part in kept.rows.get(predicate, []):
            retained.add(predicate, part)
    new.replay(retained.rows, old.engine.closed - furthest - 1, old.clock)
    for predicate in new.plan.datalog.inputs & old.inbox.pending.keys():
        new.inbox.pending[predicate] = old.inbox.pending[predicate]
    for query in known.depths.keys() & engine.gathered.keys():
        if len(engine.gathered[query].answered.keys):
            name = new.plan.queries[query].name
            raise CannotGoOn(f"the answers to {name} rest on all that ever came, and some of them are decided")
    engine.frozen = frozenset()
    engine.decisions.recall()


def _carry_loose(new: Reasoner, old: Reasoner, carried: dict[int, int]) -> None:
    for b, a in carried.items():
        if b in new.engine.gathered:
            new.engine.gathered[b].answered = old.engine.gathered[a].answered
        mine = [x for x in new.engine.loose if x.query == b]
        theirs = [x for x in old.engine.loose if x.query == a]
        for one, other in zip(mine, theirs, strict=True):
            one.blocks, one.due = dict(other.blocks), other.due


def _stepped(old: Reasoner, kept: Kept) -> Reasoner:
    """The old reasoner as if it had gone step by step: then its cells hold answers that are certain, too."""
    again = type(old)(old.program, old.lateness, horizon=old.horizon, start=old.start)
    again.begin(Codec(old.codec.symbols.copy()))
    again.engine.known_from = old.engine.known_from
    most = max(max(again.engine.retire), max(kept.reaches.values(), default=0))
    again.replay(kept.rows, old.engine.closed - most - 1, old.clock)
    return again


# --------------------------------------------------------------------------- corrections


def _rows(reasoner: Reasoner, queries: set[int]) -> pa.Table:
    """What stands of some queries, with the columns of `changes`."""
    engine = reasoner.engine
    state: list[State] = [
        (q, time, dict(cell.blocks))
        for q in sorted(queries - engine.gathered.keys())
        for time, cell in sorted(engine.cells[q].items())
    ]
    state += [(g, g.parts(engine.cells)) for q, g in sorted(engine.gathered.items()) if q in queries]
    return reasoner.writer.changes(reasoner._standing(state, engine.clock))


def _key(row: dict[str, Any]) -> tuple[Any, ...]:
    """What makes a row the same as another; of a certain answer nobody asks why."""
    told = (row["status"], row["query"], row["answer"], row["time"], row["where"])
    if row["status"] == "certain":
        return told
    return (*told, *(tuple(sorted(row[c])) if isinstance(row[c], list) else row[c] for c in _CONTENT))


def _unasked(new: Reasoner, old: Reasoner, before: pa.Table) -> dict[str, Unasked]:
    """What is left of the queries that are asked no more; `before` is what stood of those that are affected."""
    asked = {new.plan.queries[q].name for q in new.engine.mains}
    found = {name: unasked for name, unasked in old.unasked.items() if name not in asked}
    certain = [row for row in before.to_pylist() if row["status"] == "certain"]
    for number in old.engine.mains:
        name = old.plan.queries[number].name
        if name not in asked:
            told = [row for row in certain if row["query"] == name]
            found[name] = Unasked(old.engine.retire[number], old.engine.final[number], told)
    return found


def _told_before(new: Reasoner, old: Reasoner) -> Iterator[dict[str, Any]]:
    """Certain answers that were told to queries that are asked again, about times that can be known; of others nothing
    is said."""
    for number in new.engine.mains:
        unasked = old.unasked.get(new.plan.queries[number].name)
        if unasked is not None:
            first = min(new.engine.known_from[number], default=-NEVER)
            yield from (row for row in unasked.told if row["time"] is None or row["time"] >= first)


def _tables(new: Reasoner, old: Reasoner, before: pa.Table, after: pa.Table) -> dict[str, pa.Table]:
    """The differences as `changes`, and the answers that are new. Certain answers to what is no longer asked stay."""
    asked = {new.plan.queries[q].name for q in new.engine.mains}
    was = {_key(row): row for row in (*before.to_pylist(), *_told_before(new, old))}
    now = {_key(row): row for row in after.to_pylist()}
    gone = [r for key, r in was.items() if key not in now and (r["status"] == "open" or r["query"] in asked)]
    came = [row for key, row in now.items() if key not in was]
    rows = [_said(row, "delete", new.clock) for row in gone] + [_said(row, "insert", new.clock) for row in came]
    schema = new.writer.schemas["changes"]
    others = [before.schema.field(n) for n in before.schema.names if n not in schema.names]
    changes = pa.Table.from_pylist(rows, pa.schema([*schema, *others]))
    certain = [{**row, "time_known": new.clock} for row in came if row["status"] == "certain"]
    answers = pa.Table.from_pylist(certain, new.writer.schemas["answers"])
    return {"changes": changes, "answers": answers}


def _said(row: dict[str, Any], op: str, at: int) -> dict[str, Any]:
    return {**row, "at": at, "op": op, "change": _SAID.get((op, row["status"]), "certain")}
