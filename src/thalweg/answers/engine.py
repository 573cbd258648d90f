"""The online part on codes: cells of partial answers by query and answer time, stepped along the clock.

State at clock t with lateness L: the facts that have arrived, and the closed time t-L up to which absence is final.
Per step: retracted facts take back what hung on them, new facts meet the rows that expect them, rows whose premise
can no longer come are dropped by whole blocks (they are indexed by the time that premise is due), rows that only
negated atoms speak about begin, negated premises are decided along the T-stratification, and what can no longer
matter is forgotten.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

import numpy as np

from thalweg.analysis.temporal import Signature
from thalweg.answers.blocks import Block, Facts, advance, concatenated, meet, moved, start_block
from thalweg.answers.codec import Codec
from thalweg.answers.gathered import Gathered, Parts
from thalweg.answers.loose import NEVER, Loose, certain_facts
from thalweg.answers.negation import Decisions
from thalweg.answers.plans import Plan
from thalweg.answers.shapes import Shape, compile_plan
from thalweg.answers.standing import Standing, Waiting

Place = tuple[Signature, int]
"""A predicate at a time."""
BlockKey = tuple[int, ...]
"""Number of the shape in its query, and mask."""
Blocks = Mapping[BlockKey, Block]
Item = TypeVar("Item")


@dataclass(slots=True)
class Cell:
    """The partial and certain answers of one query at one answer time. `version` counts changes."""

    blocks: dict[BlockKey, Block] = field(default_factory=dict)
    version: int = 0


@dataclass(frozen=True, slots=True)
class Touched:
    """What a step did to a cell of a main query."""

    clock: int
    query: int
    time: int
    before: Blocks
    after: Blocks


@dataclass(frozen=True, slots=True)
class Regathered:
    """What a step did to a query whose answers come from several cells."""

    clock: int
    gathered: Gathered
    before: Parts
    after: Parts


class Closing(NamedTuple):
    """Up to which time facts were complete before, and up to which they are afterwards."""

    before: int
    after: int


def _can_start(shape: Shape, time: int, number: int, span: Closing) -> bool:
    """A new row can begin with this premise: it was possible, and no earlier premise is out of reach now."""
    return (
        shape.first is not None
        and time + shape.first > span.before
        and all(time + p.offset > span.after for p in shape.positives[:number])
    )


class Engine:
    """Steps the clock. `log` collects what happened to the main queries until the caller takes it."""

    def __init__(
        self, plan: Plan, codec: Codec, lateness: int, start: int, horizon: int | None = None
    ) -> None:
        self.plan = plan
        self.codec = codec
        self.lateness = lateness
        self.start = start
        self.clock = start - 1
        self.closed = start - 1 - lateness
        self.shapes = compile_plan(plan, codec)
        self.cells: list[dict[int, Cell]] = [{} for _ in plan.queries]
        self.facts: dict[Place, Facts] = {}
        self.log: list[Touched | Regathered] = []
        self.waiting = Waiting()
        self.mains = {i for i, q in enumerate(plan.queries) if q.main}
        self.loose = [
            Loose(plan, codec, number, len(query.templates) + i, template, horizon)
            for number, query in enumerate(plan.queries)
            for i, template in enumerate(query.loose)
            if not template.is_single
        ]
        self.gathered = {
            number: Gathered(plan, codec, number, self.shapes, self.loose, horizon)
            for number, query in enumerate(plan.queries)
            if query.loose
        }
        self.cells_of = {query: g for g in self.gathered.values() for query in g.cells}
        """Which queries' cells give the answers of others, too."""
        self.known_from = [[-NEVER] * len(query.templates) for query in plan.queries]
        """For each alternative the first time whose answers are told; those before it were decided, or could not be
        known, when the program was changed."""
        self.final = [-NEVER] * len(plan.queries)
        """For each query the time up to which its answers were decided when the program was changed."""
        self.frozen: frozenset[int] = frozenset()
        """Queries whose cells stay as they are while others catch up."""
        self.combined = {group for x in self.loose for group in x.groups}
        self.watched = self.mains | self.combined | self.cells_of.keys()
        self.retire = retirements(plan)
        self.readers: dict[Signature, list[tuple[Shape, int]]] = {}
        self.dependents: dict[int, list[tuple[int, int]]] = {}
        for shape in (s for shapes in self.shapes for s in shapes):
            for i, premise in enumerate(shape.positives):
                self.readers.setdefault(premise.predicate, []).append((shape, i))
            for negative in shape.negatives:
                self.dependents.setdefault(negative.query, []).append((shape.query, negative.offset))
        self.seeded = [s for shapes in self.shapes for s in shapes if self._anticipates(s)]
        negatives = [n for shapes in self.shapes for s in shapes for n in s.negatives]
        self.reach = len(plan.queries) * max((abs(n.offset) for n in negatives), default=0)
        self.decisions = Decisions(self)
        self.pending: set[tuple[int, int]] = set()
        self._due: dict[int, list[tuple[int, int, BlockKey]]] = {}
        self._due_heap: list[int] = []
        self._retiring: dict[int, list[tuple[int, int]]] = {}
        self._retiring_heap: list[int] = []
        self._before: dict[tuple[int, int], Blocks] = {}

    def _anticipates(self, shape: Shape) -> bool:
        """True when a row can gain evidence before its first positive premise: a negated one is decided earlier."""
        if shape.first is None:
            return True
        return any(n.offset + self._soonest(n.query) < shape.first for n in shape.negatives)

    def _soonest(self, query: int) -> int:
        """A lower bound of how long after its time an atom can be known to be false."""
        offsets = [s.first if s.first is not None else -NEVER for s in self.shapes[query]]
        return min(offsets, default=-NEVER)

    def next_step(self) -> int:
        """The next clock time at which something happens without new facts."""
        if self.seeded or self.pending:
            return self.clock + 1
        due = min([self._due_heap[0] if self._due_heap else NEVER, *(loose.due for loose in self.loose)])
        return max(self.clock + 1, due + self.lateness)

    # -- one step

    def step(self, clock: int, inserted: Mapping[Place, Facts], retracted: Mapping[Place, Facts]) -> None:
        """Move the clock to `clock`; `inserted` are new facts, `retracted` known ones to be taken back."""
        self._before.clear()
        was_closed, self.clock = self.closed, clock
        if retracted:
            self._retract(retracted)
        for case, numbers in self._cases(inserted).items():
            shape, time = case
            self._insert(
                shape, time, [(i, inserted[self._place(shape, i, time)]) for i in numbers], was_closed
            )
        if self.lateness:
            self._remember(inserted)
        self.closed = clock - self.lateness
        self._close()
        for shape in self.seeded:
            if shape.query not in self.frozen:
                self._seed(shape, clock)
        self._decide()
        touched = [
            Touched(
                clock, query, time, before, dict(cell.blocks) if (cell := self.cells[query].get(time)) else {}
            )
            for (query, time), before in self._before.items()
        ]
        self.log += [t for t in touched if t.query in self.mains and t.query not in self.gathered]
        if self.gathered:
            self._gather(touched)
        self._forget()

    def _gather(self, touched: list[Touched]) -> None:
        """Hand what became certain in groups, and what no longer is, to the answers that combine groups; note which
        queries whose answers come from several cells have changed."""
        before = {query: gathered.combined() for query, gathered in self.gathered.items()}
        new, lost = _differences(self.shapes, [t for t in touched if t.query in self.combined], self.plan)
        changed = {loose.query for loose in self.loose if loose.step(new, lost, self.closed)}
        for query, gathered in self.gathered.items():
            cells = {(t.query, t.time): t.before for t in touched if t.query in gathered.cells}
            if cells or query in changed:
                after = gathered.parts(self.cells)
                self.log.append(Regathered(self.clock, gathered, after.before(cells, before[query]), after))

    def skip(self, clock: int) -> None:
        """Move the clock over steps at which nothing happens."""
        if clock > self.clock:
            self.clock = clock
            self.closed = clock - self.lateness
            self._forget()

    def _place(self, shape: Shape, number: int, time: int) -> Place:
        premise = shape.positives[number]
        return premise.predicate, time + premise.offset

    def _cases(self, facts: Mapping[Place, Facts]) -> dict[tuple[Shape, int], list[int]]:
        """Which premises of which shapes, at which answer times, the facts can meet."""
        found: dict[tuple[Shape, int], list[int]] = {}
        for predicate, at in facts:
            for shape, i in self.readers.get(predicate, ()):
                time = at - shape.positives[i].offset
                if shape.query not in self.frozen and self.exists(shape, time):
                    found.setdefault((shape, time), []).append(i)
        for numbers in found.values():
            numbers.sort()
        return found

    def exists(self, shape: Shape, time: int) -> bool:
        """True when the shape has an answer at this time at all: none of its atoms lies before the start."""
        wanted = self.plan.queries[shape.query].at
        if time < self.known_from[shape.query][shape.number]:
            return False
        return time + shape.floor >= self.start and (wanted is None or wanted == time)

    # -- facts meet rows

    def _insert(self, shape: Shape, time: int, arrived: list[tuple[int, Facts]], was_closed: int) -> None:
        span = Closing(was_closed, self.clock - self.lateness)
        cell = self.cells[shape.query].get(time)
        blocks: dict[int, Block] = {}
        if cell is not None:
            blocks = {mask: b for (number, mask), b in cell.blocks.items() if number == shape.number}
        elif not _can_start(shape, time, arrived[0][0], span):
            return
        changed = False
        for i, facts in arrived:
            if not facts.selection(shape.positives[i]).length:
                continue
            changed |= self._meet(shape, time, i, facts, blocks, span, arrived)
        if changed:
            self._store(shape, time, blocks)

    def _meet(
        self,
        shape: Shape,
        time: int,
        i: int,
        facts: Facts,
        blocks: dict[int, Block],
        span: Closing,
        arrived: list[tuple[int, Facts]],
    ) -> bool:
        gained: dict[int, list[Block]] = {}
        if 0 not in blocks and _can_start(shape, time, i, span):
            met = moved(shape, 0, start_block(shape), i, facts)
            gained[1 << i] = [advance(shape, -1, 1 << i, met, time, self.codec)]
        complete = time + shape.positives[i].offset <= span.after
        for mask, block in list(blocks.items()):
            if mask >> i & 1:
                continue
            met, rest = (
                (moved(shape, mask, block, i, facts), None) if complete else meet(shape, mask, block, i, facts)
            )
            if not met.length:
                continue
            if rest is None or not rest.length:
                del blocks[mask]
            elif rest is not block:
                blocks[mask] = rest
            gained.setdefault(mask | 1 << i, []).append(
                advance(shape, mask, mask | 1 << i, met, time, self.codec)
            )
        for mask, parts in gained.items():
            block = concatenated(parts) if len(parts) > 1 else parts[0]
            if self.lateness:
                block = self._without_known(shape, time, mask, block, i, arrived)
            if block.length:
                blocks[mask] = concatenated([blocks[mask], block]) if mask in blocks else block
        return bool(gained)

    def _without_known(
        self, shape: Shape, time: int, mask: int, block: Block, i: int, arrived: list[tuple[int, Facts]]
    ) -> Block:
        """Drop rows with a ground missing premise that has arrived already: another row has it as evidence."""
        bound = shape.bound(mask)
        fresh = dict(arrived)
        for j, premise in enumerate(shape.positives):
            if mask >> j & 1 or not premise.variables <= bound or not block.length:
                continue
            for facts in (self.facts.get(self._place(shape, j, time)), fresh.get(j) if j < i else None):
                if facts is not None and block.length:
                    _, rest = meet(shape, mask, block, j, facts)
                    block = rest if rest is not None else block.take(np.zeros(block.length, np.bool_))
        return block

    # -- cells

    def _touch(self, query: int, time: int) -> Cell:
        cell = self.cells[query].get(time)
        self.leave(query, time, cell)
        if cell is None:
            cell = self.cells[query][time] = Cell()
            self._schedule(self._retiring, self._retiring_heap, time + self.retire[query], (query, time))
        if query in self.watched and (query, time) not in self._before:
            self._before[query, time] = dict(cell.blocks)
        cell.version += 1
        return cell

    def leave(self, query: int, time: int, cell: Cell | None) -> None:
        """To be called before a cell changes: tables that wait to be read keep what it was."""
        if query in self.mains:
            self.waiting.leave(query, time, None if cell is None else cell.blocks)

    def standing(self) -> Standing:
        """The cells of the main queries as they are now, to be read when one likes."""
        found = Standing(self._present)
        self.waiting.add(found)
        return found

    def _present(self) -> Iterator[tuple[int, int, Blocks]]:
        for query in sorted(self.mains - self.gathered.keys()):
            for time, cell in self.cells[query].items():
                yield query, time, cell.blocks

    def _store(self, shape: Shape, time: int, blocks: Mapping[int, Block]) -> None:
        """Replace the blocks of a shape in a cell."""
        cell = self._touch(shape.query, time)
        for key in [k for k in cell.blocks if k[0] == shape.number and k[1] not in blocks]:
            del cell.blocks[key]
        for mask, block in blocks.items():
            if block.length:
                self.put(cell, shape, time, mask, block)

    def put(self, cell: Cell, shape: Shape, time: int, mask: int, block: Block) -> None:
        """Store one block; it is looked at again when its next premise is due, or while negations are pending."""
        key = (shape.number, mask)
        if key not in cell.blocks:
            due = shape.due(mask)
            if due is not None:
                self._schedule(self._due, self._due_heap, time + due, (shape.query, time, key))
        cell.blocks[key] = block
        if shape.negatives:
            self.pending.add((shape.query, time))

    @staticmethod
    def _schedule(agenda: dict[int, list[Item]], heap: list[int], at: int, what: Item) -> None:
        if at not in agenda:
            agenda[at] = []
            heapq.heappush(heap, at)
        agenda[at].append(what)

    def _close(self) -> None:
        """Drop the blocks whose next premise was due by now and did not come."""
        while self._due_heap and self._due_heap[0] <= self.closed:
            for query, time, key in self._due.pop(heapq.heappop(self._due_heap)):
                cell = self.cells[query].get(time)
                if cell is not None and key in cell.blocks:
                    del self._touch(query, time).blocks[key]

    def _seed(self, shape: Shape, time: int) -> None:
        """Begin the row that only negated premises speak about so far."""
        if not self.exists(shape, time) or (shape.first is not None and time + shape.first <= self.closed):
            return
        cell = self.cells[shape.query].get(time)
        if cell is not None and (shape.number, 0) in cell.blocks:
            return
        block = advance(shape, -1, 0, start_block(shape), time, self.codec)
        if block.length:
            self.put(self._touch(shape.query, time), shape, time, 0, block)

    def keep(self, shape: Shape, time: int, mask: int, block: Block) -> None:
        """Store rows that wait for a premise."""
        self.put(self._touch(shape.query, time), shape, time, mask, block)

    def adopt(self, query: int, time: int, blocks: Mapping[BlockKey, Block]) -> None:
        """Put back a cell from a snapshot."""
        cell = self._touch(query, time)
        for (number, mask), block in blocks.items():
            self.put(cell, self.shapes[query][number], time, mask, block)

    def _forget(self) -> None:
        while self._retiring_heap and self._retiring_heap[0] <= self.closed:
            for query, time in self._retiring.pop(heapq.heappop(self._retiring_heap)):
                self._drop(query, time)
        for gathered in self.gathered.values():
            gathered.forget(self.closed)
        if self.facts and self.lateness:
            keep = self.plan.fact_keep
            for place in [p for p in self.facts if p[1] + max(0, keep.get(p[0], 0)) <= self.closed]:
                del self.facts[place]

    def _drop(self, query: int, time: int) -> None:
        cell = self.cells[query].pop(time, None)
        self.leave(query, time, cell)
        if cell is not None and query in self.cells_of:
            self.cells_of[query].retire(query, time, cell.blocks)
        self.pending.discard((query, time))

    def retire_decided(self) -> None:
        """Forget at once the cells that were kept for longer than the plan asks."""
        self.retire = retirements(self.plan)
        for query, time in [(q, t) for q, cells in enumerate(self.cells) for t in cells]:
            if time + self.retire[query] <= self.closed:
                self._drop(query, time)

    # -- negation

    def _decide(self) -> None:
        """Judge negated premises, those they depend on first."""
        visited: set[tuple[int, int]] = set()
        for root in sorted(p for p in self.pending if p[0] not in self.frozen):
            stack = [(root, False)]
            while stack:
                node, expanded = stack.pop()
                if expanded:
                    self._judge(*node)
                elif node not in visited:
                    visited.add(node)
                    stack.append((node, True))
                    stack += [
                        (d, False)
                        for d in self._needs(*node)
                        if d in self.pending and d not in visited and d[0] not in self.frozen
                    ]

    def _needs(self, query: int, time: int) -> list[tuple[int, int]]:
        return [(n.query, time + n.offset) for s in self.shapes[query] for n in s.negatives]

    def _judge(self, query: int, time: int) -> None:
        cell = self.cells[query].get(time)
        if cell is None:
            self.pending.discard((query, time))
            return
        waiting = False
        for (number, mask), block in list(cell.blocks.items()):
            shape = self.shapes[query][number]
            if not shape.negatives:
                continue
            judged = self.decisions.judge(shape, time, mask, block)
            if judged is not block:
                cell = self._touch(query, time)
                if judged.length:
                    cell.blocks[number, mask] = judged
                else:
                    del cell.blocks[number, mask]
            waiting |= self.decisions.is_waiting(shape, mask, judged)
        if not waiting:
            self.pending.discard((query, time))

    # -- retraction

    def _remember(self, inserted: Mapping[Place, Facts]) -> None:
        for place, facts in inserted.items():
            known = self.facts.get(place)
            self.facts[place] = facts if known is None else _joined(known, facts)

    def _retract(self, retracted: Mapping[Place, Facts]) -> None:
        """Take facts back: every cell that they could reach is made anew from the facts that remain."""
        for place, gone in retracted.items():
            known = self.facts[place]
            rest = known.take(~gone.contains(known))
            if rest.length:
                self.facts[place] = rest
            else:
                del self.facts[place]
        affected = {(shape.query, time) for shape, time in self._cases(retracted)}
        waiting = list(affected)
        latest = max((time for cells in self.cells for time in cells), default=self.clock) + self.reach
        while waiting:
            query, time = waiting.pop()
            for other, offset in self.dependents.get(query, ()):
                cell = (other, time - offset)
                if cell not in affected and cell[1] <= latest:
                    affected.add(cell)
                    waiting.append(cell)
        for query, time in sorted(affected):
            if time in self.cells[query] and query not in self.frozen:
                self._rebuild(query, time)

    def _rebuild(self, query: int, time: int) -> None:
        self._touch(query, time).blocks.clear()
        for shape in self.shapes[query]:
            known = [(i, self.facts.get(self._place(shape, i, time))) for i in range(len(shape.positives))]
            arrived = [(i, facts) for i, facts in known if facts is not None]
            blocks: dict[int, Block] = {}
            if arrived and self.exists(shape, time):
                remembered, self.facts = self.facts, {}
                for i, facts in arrived:
                    self._meet(shape, time, i, facts, blocks, Closing(-NEVER, self.closed), arrived)
                self.facts = remembered
            if shape in self.seeded and time < self.clock:
                self._seed(shape, time)
            closing = [m for m in blocks if (due := shape.due(m)) is not None and time + due <= self.closed]
            for mask in closing:
                del blocks[mask]
            cell = self.cells[query][time]
            for mask, block in blocks.items():
                self.put(cell, shape, time, mask, block)


def _differences(
    shapes: list[list[Shape]], touched: list[Touched], plan: Plan
) -> tuple[dict[int, Facts], dict[int, Facts]]:
    """Certain answers of groups that came and that went, by query, with their times."""
    came: dict[int, Facts] = {}
    went: dict[int, Facts] = {}
    for t in touched:
        shape = shapes[t.query][0]
        with_time = plan.queries[t.query].at is None
        sides = [
            certain_facts(shape, t.time, b, with_time)
            if (b := blocks.get((0, shape.full))) is not None
            else None
            for blocks in (t.before, t.after)
        ]
        for here, there, found in ((sides[1], sides[0], came), (sides[0], sides[1], went)):
            if here is not None and here.length:
                fresh = here if there is None or not there.length else here.take(~there.contains(here))
                if fresh.length:
                    found[t.query] = _joined(found[t.query], fresh) if t.query in found else fresh
    return came, went


def retirements(plan: Plan) -> list[int]:
    """For how long after its time the cell of each query is looked at."""
    return [max(q.delay, q.keep, 0) for q in plan.queries]


def _joined(known: Facts, new: Facts) -> Facts:
    args = [np.concatenate([a, b]) for a, b in zip(known.args, new.args, strict=True)]
    return Facts(args, known.length + new.length if known.args else 1)
