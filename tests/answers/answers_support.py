"""Helpers for the tests of open answers: rows by hand, and the schematic answers of a reasoner written out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from thalweg.answers.blocks import DEAD, Block
from thalweg.answers.codec import STAR
from thalweg.answers.datalog import TimedAtom
from thalweg.answers.reasoner import Reasoner
from thalweg.answers.shapes import Shape
from thalweg.language.instances import unquoted
from thalweg.language.terms import Atom, Number, Variable, variables
from thalweg.protocol import Rows
from thalweg.reference.answers import Assumption, Constant, Fact, _holds


def facts(*given: tuple[object, ...], arrival: int | None = None, op: int = 1) -> list[Rows]:
    """Rows from tuples ``(name, argument, ..., time)``; without `arrival` they arrive at their time."""
    batch = []
    for number, (name, *args, time) in enumerate(given):
        at = np.array([time], np.int64)
        came = at if arrival is None else np.array([arrival], np.int64)
        columns = tuple(pa.array([a]) for a in args)
        batch.append(Rows(str(name), np.array([op], np.int8), came, at, np.array([number]), columns))
    return batch


@dataclass(frozen=True)
class Schematic:
    """An element of S: the answer's arguments (None: any constant but the exceptions), time, evidence, hypotheses."""

    args: tuple[str | None, ...]
    time: int
    evidence: frozenset[str]
    needed: frozenset[str]
    exceptions: frozenset[tuple[str, ...]] = frozenset()


def schematic(reasoner: Reasoner, query: int, *, supported_only: bool = False) -> set[Schematic]:
    """S of a query at the reasoner's clock: all live rows of its cells."""
    found = set()
    for time, cell in reasoner.engine.cells[query].items():
        for (number, mask), block in cell.blocks.items():
            shape = reasoner.engine.shapes[query][number]
            for i in range(block.length):
                if not block.bits[i] & DEAD and (not supported_only or mask or block.bits[i]):
                    found.add(_one(reasoner, shape, time, mask, block, i))
    return found


def _one(reasoner: Reasoner, shape: Shape, time: int, mask: int, block: Block, i: int) -> Schematic:
    codes = [None if c is None or c[i] == STAR else int(c[i]) for c in block.columns]
    evidence, needed = split(shape, mask, int(block.bits[i]))
    args = tuple(
        reasoner.codec.one(s.code)
        if s.column < 0
        else None
        if codes[s.column] is None
        else reasoner.codec.one(codes[s.column])
        for s in shape.head
    )
    exceptions = set()
    if shape.open and None in args:
        for k in range(block.length):
            own = [block.columns[c][k] for c in sorted(shape.open)]
            if STAR not in own:
                exceptions.add(tuple(reasoner.codec.one(int(o)) for o in own))
    write = lambda atom: written(reasoner, shape, atom, codes, time)  # noqa: E731
    return Schematic(
        args, time, frozenset(map(write, evidence)), frozenset(map(write, needed)), frozenset(exceptions)
    )


def split(shape: Shape, mask: int, bits: int) -> tuple[list[TimedAtom], list[TimedAtom]]:
    """Premises met and missing."""
    met = [p.atom for i, p in enumerate(shape.positives) if mask >> i & 1]
    met += [n.atom for j, n in enumerate(shape.negatives) if bits >> j & 1]
    missing = [p.atom for i, p in enumerate(shape.positives) if not mask >> i & 1]
    missing += [n.atom for j, n in enumerate(shape.negatives) if not bits >> j & 1]
    return met, missing


def written(reasoner: Reasoner, shape: Shape, atom: TimedAtom, codes: list[int | None], time: int) -> str:
    parts = []
    for arg in atom.args:
        if isinstance(arg, Variable):
            code = codes[shape.names.index(arg.name)]
            parts.append(arg.name if code is None else reasoner.codec.one(code))
        else:
            parts.append(reasoner.codec.one(reasoner.codec.term(arg)))
    assert atom.time is not None
    return (
        "not " if atom.negated else ""
    ) + f"{atom.predicate[0]}({', '.join([*parts, str(time + atom.time.offset)])})"


@dataclass(frozen=True)
class GroundRow:
    """A row with every variable given a constant: the goal and the literals it still needs."""

    goal: Fact
    needed: tuple[Assumption, ...]


def ground_rows(reasoner: Reasoner, query: int, constants: Sequence[Constant], upto: int) -> Iterator[GroundRow]:
    """All instances over the constants of all rows of a query, stored or not begun, with answer times up to `upto`.

    A negated premise that was judged before its variables were bound counts as needed: it is judged anew then.
    """
    engine = reasoner.engine
    for time in range(engine.start, upto + 1):
        cell = engine.cells[query].get(time)
        for shape in engine.shapes[query]:
            if not engine.exists(shape, time):
                continue
            blocks = (
                {m: b for (n, m), b in cell.blocks.items() if n == shape.number} if cell is not None else {}
            )
            if engine.decisions._unbegun(shape, time):
                blocks = {0: engine.decisions.start(shape, time), **blocks}
            for mask, block in blocks.items():
                yield from _instances(reasoner, query, shape, time, mask, block, constants)


def _instances(
    reasoner: Reasoner, query: int, shape: Shape, time: int, mask: int, block: Block, constants: Sequence[Constant]
) -> Iterator[GroundRow]:
    codes = {c: reasoner.codec.raw(str(c)) for c in constants}
    taken = set()
    for i in range(block.length):
        if shape.open:
            own = tuple(int(block.columns[c][i]) for c in sorted(shape.open))
            fixed = tuple(
                int(col[i]) for k, col in enumerate(block.columns) if col is not None and k not in shape.open
            )
            if STAR not in own:
                taken.add((fixed, own))
    for i in range(block.length):
        if block.bits[i] & DEAD:
            continue
        choices = [
            [int(c[i])] if c is not None and c[i] != STAR else list(codes.values()) for c in block.columns
        ]
        for picked in _product(choices):
            if shape.open:
                own = tuple(picked[c] for c in sorted(shape.open))
                fixed = tuple(
                    int(col[i])
                    for k, col in enumerate(block.columns)
                    if col is not None and k not in shape.open
                )
                if (fixed, own) in taken and int(block.columns[min(shape.open)][i]) == STAR:
                    continue
            if not _background_agrees(reasoner, shape, time, block, picked):
                continue
            bits = int(block.bits[i]) & shape.ground_negatives(mask)
            _, missing = split(shape, mask, bits)
            goal = reasoner.plan.queries[query].goal
            head = [picked[s.column] if s.column >= 0 else s.code for s in shape.head]
            given = dict(
                zip(dict.fromkeys(a.name for a in goal.args if isinstance(a, Variable)), head, strict=True)
            )
            args = tuple(
                _constant(reasoner, given[a.name]) if isinstance(a, Variable) else _term(a) for a in goal.args
            )
            needed = tuple(
                Assumption(
                    Fact(
                        atom.predicate[0],
                        tuple(
                            _constant(reasoner, picked[shape.names.index(a.name)])
                            if isinstance(a, Variable)
                            else _term(a)
                            for a in atom.args
                        ),
                        time + atom.time.offset,
                    ),
                    not atom.negated,
                )
                for atom in missing
            )
            yield GroundRow(Fact(goal.predicate[0], args, time), needed)


def _background_agrees(
    reasoner: Reasoner, shape: Shape, time: int, block: Block, picked: tuple[int, ...]
) -> bool:
    """Tests and background atoms, where the row has not been through them yet."""
    binding: dict[str, Constant] = {
        n: _constant(reasoner, c) for n, c in zip(shape.names, picked, strict=True)
    }
    if shape.template.time is not None and shape.template.time.variable is not None:
        binding[shape.template.time.variable] = time
    spent = {
        shape.names[c] for c in range(len(shape.names)) if all(c in shape.spent(m) for m in [shape.full])
    }
    for test in shape.template.tests:
        names = {v.name for side in (test.left, test.right) for v in variables(side)}
        if not names & spent and not _holds(test, binding):
            return False
    for atom in shape.template.rigid:
        looked_at = [
            (i, binding[a.name] if isinstance(a, Variable) else _term(a))
            for i, a in enumerate(atom.args)
            if not (isinstance(a, Variable) and a.name in spent)
        ]
        known = [tuple(map(_term, r)) for r in reasoner.plan.background.get(atom.predicate, ())]
        if any(all(row[i] == value for i, value in looked_at) for row in known) == atom.negated:
            return False
    return True


def _product(choices: list[list[int]]) -> Iterable[tuple[int, ...]]:
    import itertools

    return itertools.product(*choices)


def _constant(reasoner: Reasoner, code: int) -> Constant:
    shown = reasoner.codec.one(code)
    try:
        value = float(shown)
    except ValueError:
        return unquoted(shown)
    return int(value) if value.is_integer() else value


def _term(term: object) -> Constant:
    assert isinstance(term, (Atom, Number))
    return term.name if isinstance(term, Atom) else term.value


def certain(reasoner: Reasoner, query: int, constants: Sequence[Constant], upto: int) -> set[Fact]:
    """The ground instances of the certain answers that are stored."""
    return {r.goal for r in ground_rows(reasoner, query, constants, upto) if not r.needed}


def ground_schematic(
    reasoner: Reasoner, query: int, constants: Sequence[Constant]
) -> set[tuple[str, frozenset[str], frozenset[str]]]:
    """S over the constants, answer times up to the clock: (goal, evidence, hypotheses) as text.

    A negation that was judged before its variables were bound counts as evidence for the constants that it holds for;
    for others the row is left out.
    """
    engine = reasoner.engine
    found = set()
    for time in range(engine.start, engine.clock + 1):
        cell = engine.cells[query].get(time)
        for shape in engine.shapes[query]:
            if not engine.exists(shape, time):
                continue
            blocks = (
                {m: b for (n, m), b in cell.blocks.items() if n == shape.number} if cell is not None else {}
            )
            if engine.decisions._unbegun(shape, time):
                blocks = {0: engine.decisions.start(shape, time), **blocks}
            for mask, block in blocks.items():
                found |= _ground_texts(reasoner, query, shape, time, mask, block, constants)
    return found


def _ground_texts(
    reasoner: Reasoner, query: int, shape: Shape, time: int, mask: int, block: Block, constants: Sequence[Constant]
) -> set[tuple[str, frozenset[str], frozenset[str]]]:
    found = set()
    own = set()
    if shape.open:
        own = {tuple(int(block.columns[c][i]) for c in sorted(shape.open)) for i in range(block.length)}
    for i in range(block.length):
        if block.bits[i] & DEAD:
            continue
        choices = [
            [int(c[i])] if c is not None and c[i] != STAR else [reasoner.codec.raw(str(x)) for x in constants]
            for c in block.columns
        ]
        for picked in _product(choices):
            starred = shape.open and int(block.columns[min(shape.open)][i]) == STAR
            if starred and tuple(picked[c] for c in sorted(shape.open)) in own:
                continue
            if not _early_negations_hold(reasoner, shape, time, mask, int(block.bits[i]), picked):
                continue
            evidence, needed = split(shape, mask, int(block.bits[i]))
            write = lambda atom: written(reasoner, shape, atom, list(picked), time)  # noqa: B023, E731
            goal = reasoner.plan.queries[query].goal
            head = TimedAtom(goal.predicate, shape.template.head, goal.time)
            found.add((write(head), frozenset(map(write, evidence)), frozenset(map(write, needed))))
    return found


def _early_negations_hold(
    reasoner: Reasoner, shape: Shape, time: int, mask: int, bits: int, picked: tuple[int, ...]
) -> bool:
    early = bits & ~shape.ground_negatives(mask)
    for j, negative in enumerate(shape.negatives):
        if early >> j & 1:
            keys = [np.array([picked[s.column] if s.column >= 0 else s.code]) for s in negative.key]
            if reasoner.engine.decisions.status(negative.query, time + negative.offset, keys, 1)[0] != 0:
                return False
    return True
