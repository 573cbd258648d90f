"""Arrow tables of answers: `answers`, `open`, `changes`, with premises written out. Built only when looked at.

Columns (variables of the queries are columns of type string under their own names):

- answers: query, time_known, answer, time, variables, where, evidence
- open: query, as_of, answer, time, variables, where, evidence, needed, decided_by, share
- changes: at, query, op, status, change, answer, time, variables, where, evidence, needed, decided_by

`time` is the answer's time. `where` lists the exceptions of an answer that holds for every constant but some.
`decided_by` is the latest clock time at which an open answer will be decided; null where there is no deadline.
`share` is the share of premises already met. Adding (`op` insert) and taking away (delete) the rows of `changes` by
status gives `answers` and `open`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from thalweg.analysis.temporal import Time
from thalweg.answers.blocks import Block, concatenated
from thalweg.answers.bounds import order
from thalweg.answers.changes import LABELS
from thalweg.answers.codec import STAR, Bools, Codec
from thalweg.answers.datalog import Test, TimedAtom, as_written
from thalweg.answers.groups import Group, time_values
from thalweg.answers.loose import LooseShape
from thalweg.answers.plans import Plan
from thalweg.answers.shapes import Negative, Shape, Slot
from thalweg.answers.stars import exceptions, head_keys, open_places, starred_rows
from thalweg.answers.ties import repeated
from thalweg.language.terms import Variable
from thalweg.protocol import Ints

EXCEPTIONS_SHOWN = 20
ANYTHING = "_"
"""How a place is written that a row says nothing about."""


def variables_of(plan: Plan) -> list[str]:
    """The object variables of the main queries, in order of appearance."""
    goals = [q.goal for q in plan.queries if q.main]
    return list(dict.fromkeys(a.name for goal in goals for a in goal.args if isinstance(a, Variable)))


def schemas(plan: Plan) -> dict[str, pa.Schema]:
    """The schema of every table of a revision."""
    bindings = [
        ("answer", pa.string()),
        ("time", pa.int64()),
        *((v, pa.string()) for v in variables_of(plan)),
    ]
    bindings.append(("where", pa.string()))
    listed = pa.list_(pa.string())
    waiting = [("evidence", listed), ("needed", listed), ("decided_by", pa.int64())]
    return {
        "answers": pa.schema(
            [("query", pa.string()), ("time_known", pa.int64()), *bindings, ("evidence", listed)]
        ),
        "open": pa.schema(
            [("query", pa.string()), ("as_of", pa.int64()), *bindings, *waiting, ("share", pa.float64())]
        ),
        "changes": pa.schema(
            [
                ("at", pa.int64()),
                ("query", pa.string()),
                ("op", pa.string()),
                ("status", pa.string()),
                ("change", pa.string()),
                *bindings,
                *waiting,
            ]
        ),
    }


@dataclass(frozen=True, slots=True)
class Shown:
    """Rows to be written out: the clock time, the answers' times, and for changes the operation and its label."""

    group: Group
    rows: Block
    at: Ints
    time: Ints
    op: Ints
    label: Ints
    source: Block
    """The block that the rows were taken from, for the exceptions of stars."""


def merged(shown: Iterable[Shown]) -> list[Shown]:
    """Rows of one group together, whatever cells they come from; rows with stars keep their block."""
    groups: dict[tuple[object, ...], list[Shown]] = {}
    for one in shown:
        bound = tuple(c is None for c in one.rows.columns)
        apart = id(one.source) if one.group.shape.open or one.source.witness else 0
        groups.setdefault((id(one.group.shape), one.group.mask, one.group.bits, bound, apart), []).append(one)
    return [_together(parts) for parts in groups.values()]


def _together(parts: list[Shown]) -> Shown:
    if len(parts) == 1:
        return parts[0]
    at, time, op, label = (
        np.concatenate([getattr(p, name) for p in parts]) for name in ("at", "time", "op", "label")
    )
    rows = concatenated([p.rows for p in parts])
    return Shown(parts[0].group, rows, at, time, op, label, parts[0].source)


class Lazy(Mapping[str, pa.Table]):
    """Tables that are built when first read."""

    def __init__(self, makers: dict[str, Callable[[], pa.Table]]) -> None:
        self._makers = makers
        self._made: dict[str, pa.Table] = {}

    def __getitem__(self, name: str) -> pa.Table:
        if name not in self._made:
            self._made[name] = self._makers[name]()
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)


class Writer:
    """Turns rows into tables."""

    def __init__(self, plan: Plan, codec: Codec, lateness: int) -> None:
        self.plan = plan
        self.codec = codec
        self.lateness = lateness
        self.schemas = schemas(plan)
        self.variables = variables_of(plan)

    def answers(self, shown: Iterable[Shown]) -> pa.Table:
        """The certain answers among the rows."""
        certain = merged(s for s in shown if s.group.is_certain and s.rows.length)
        parts = [self._columns(s, "answers") | {"time_known": pa.array(s.at)} for s in certain]
        return self._table("answers", parts, ["time_known", "query", "time", "answer"])

    def open(self, shown: Iterable[Shown]) -> pa.Table:
        """The open answers among the rows, those with the largest share of met premises first."""
        parts = []
        for s in merged(s for s in shown if not s.group.is_certain and s.rows.length):
            met, missing = len(s.group.evidence()), len(s.group.needed())
            share = np.full(s.rows.length, met / (met + missing))
            parts.append(self._columns(s, "open") | {"as_of": pa.array(s.at), "share": pa.array(share)})
        table = self._table("open", parts, ["query", "time", "answer"])
        return (
            table.take(pc.sort_indices(table, sort_keys=[("share", "descending")])) if len(table) else table
        )

    def changes(self, shown: Iterable[Shown]) -> pa.Table:
        """All rows with what happened to them."""
        labels = pa.array(LABELS)
        parts = []
        for s in merged(s for s in shown if s.rows.length):
            status = pa.repeat("certain" if s.group.is_certain else "open", s.rows.length)
            came = pc.if_else(pa.array(s.op > 0), "insert", "delete")
            happened = {"at": pa.array(s.at), "op": came, "status": status}
            parts.append(self._columns(s, "changes") | happened | {"change": labels.take(pa.array(s.label))})
        return self._table("changes", parts, ["at", "query", "time", "answer", "op"])

    def _table(self, name: str, parts: list[dict[str, pa.Array]], order: list[str]) -> pa.Table:
        schema = self.schemas[name]
        tables = [pa.table([part[f.name] for f in schema], schema=schema) for part in parts]
        if not tables:
            return schema.empty_table()
        table = pa.concat_tables(tables)
        return table.take(pc.sort_indices(table, sort_keys=[(column, "ascending") for column in order]))

    # -- columns

    def _columns(self, s: Shown, table: str) -> dict[str, pa.Array]:
        """The columns of a table that follow from the rows alone."""
        query = self.plan.queries[s.group.shape.query]
        n = s.rows.length
        makers: dict[str, Callable[[], pa.Array]] = {
            "query": lambda: pa.repeat(query.name, n),
            "answer": lambda: self._atom(s, replace(query.goal, args=s.group.shape.template.head)),
            "time": lambda: self._times(s),
            "where": lambda: self._where(s),
            "evidence": lambda: self._listed(s, [self._atom(s, a) for a in s.group.evidence()], met=True),
            "needed": lambda: self._needed(s),
            "decided_by": lambda: self._deadline(s),
        }
        found = {name: makers[name]() for name in self.schemas[table].names if name in makers}
        names = [a.name for a in query.goal.args if isinstance(a, Variable)]
        given = dict(zip(dict.fromkeys(names), head_keys(s.group.shape, s.rows).T, strict=False))
        for variable in self.variables:
            codes = given.get(variable)
            if codes is None:
                found[variable] = pa.nulls(n, pa.string())
            else:
                starred = codes == STAR
                texts = self.codec.texts(np.ascontiguousarray(codes))
                found[variable] = pc.if_else(pa.array(starred), None, texts) if starred.any() else texts
        return found

    def _needed(self, s: Shown) -> pa.Array:
        atoms = [self._atom(s, a) for a in (*s.group.needed(), *s.group.background())]
        return self._listed(s, [*atoms, *(self._test(s, t) for t in s.group.tests())], met=False)

    def _times(self, s: Shown) -> pa.Array:
        """The answers' times; none where an answer waits for the premises that give it one."""
        shape = s.group.shape
        time = shape.template.time
        if time is None:
            return pa.nulls(s.rows.length, pa.int64())
        column = shape.time_column(time)
        if column is not None and s.rows.columns[column] is None:
            return pa.nulls(s.rows.length, pa.int64())
        return pa.array(s.time)

    def _listed(self, s: Shown, texts: list[pa.Array], *, met: bool) -> pa.Array:
        """Premises that are the same are listed once."""
        n, k = s.rows.length, len(texts)
        if not k:
            return pa.array([[]] * n, pa.list_(pa.string()))
        order = (np.arange(k)[None, :] * n + np.arange(n)[:, None]).ravel()
        edges = np.arange(0, n * k + 1, k, dtype=np.int32)
        again = list(repeated(s.group, s.rows, met=met))
        if any(same.any() for _, same in again):
            listed = np.ones((n, k), np.bool_)
            for place, same in again:
                listed[same, place] = False
            order = order[listed.ravel()]
            edges[1:] = np.cumsum(listed.sum(axis=1))
        return pa.ListArray.from_arrays(pa.array(edges), pa.concat_arrays(texts).take(pa.array(order)))

    def _test(self, s: Shown, test: Test) -> pa.Array:
        """A comparison with the values that are known."""
        parts: list[pa.Array | pa.Scalar] = []
        for piece in re.split(r"\b([A-Z_]\w*)\b", str(test)):
            time = s.group.shape.template.time
            if piece in s.group.shape.names:
                parts.append(self._argument(s, s.group.shape, piece))
            elif time is not None and piece == time.variable:
                parts.append(pc.cast(pa.array(s.time), pa.string()))
            else:
                parts.append(pa.scalar(piece))
        return self._filled(s, pc.binary_join_element_wise(*parts, ""))

    def _filled(self, s: Shown, written: pa.Array | pa.Scalar) -> pa.Array:
        return (
            written
            if isinstance(written, pa.Array)
            else pa.array([written.as_py()] * s.rows.length, pa.string())
        )

    def _atom(self, s: Shown, atom: TimedAtom) -> pa.Array:
        """An atom written out for every row; what is not bound keeps its variable's name."""
        shape = s.group.shape
        parts: list[pa.Array | pa.Scalar] = []
        for arg in atom.args:
            if isinstance(arg, Variable):
                parts.append(self._argument(s, shape, arg.name))
            else:
                parts.append(pa.scalar(self.codec.one(self.codec.term(arg))))
        if atom.time is not None:
            parts.append(self._stamp(s, shape, atom.time))
        written, parts = as_written(atom.predicate[0], parts, pa.scalar)
        name = ("not " if atom.negated else "") + written
        if not parts:
            return pa.array([name] * s.rows.length, pa.string())
        inside = pc.binary_join_element_wise(*parts, ", ") if len(parts) > 1 else parts[0]
        whole = pc.binary_join_element_wise(pa.scalar(name + "("), inside, pa.scalar(")"), "")
        return (
            whole if isinstance(whole, pa.Array) else pa.array([whole.as_py()] * s.rows.length, pa.string())
        )

    def _stamp(self, s: Shown, shape: Shape, time: Time) -> pa.Array | pa.Scalar:
        """A time written out: a column of its own, the answer's time, or a number."""
        column = shape.time_column(time)
        if column is not None:
            if s.rows.columns[column] is None:
                return pa.scalar(str(time))
            return pc.cast(pa.array(time_values(s.rows, column) + time.offset), pa.string())
        stamp = np.full(len(s.time), time.offset) if time.variable is None else s.time + time.offset
        return pc.cast(pa.array(stamp), pa.string())

    def _argument(self, s: Shown, shape: Shape, name: str) -> pa.Array | pa.Scalar:
        column = s.rows.columns[shape.names.index(name)]
        if column is None:
            return pa.scalar(name)
        written = self.codec.texts(column)
        return pc.if_else(pa.array(column == STAR), pa.scalar(name), written) if shape.open else written

    def _deadline(self, s: Shown) -> pa.Array:
        latest = None
        shape = s.group.shape
        if isinstance(shape, LooseShape):
            return self._loose_deadline(shape, s)
        for premise in s.group.needed():
            assert premise.time is not None
            due = premise.time.offset
            if premise.negated:
                due += self.plan.queries[self.plan.query_of(replace(premise, negated=False))].delay
            latest = due if latest is None else max(latest, due)
        if latest is None:
            return pa.nulls(s.rows.length, pa.int64())
        (column,) = shape.clock or (None,)
        times = s.time if column is None else time_values(s.rows, column)
        return pa.array(times + latest + self.lateness)

    def _loose_deadline(self, shape: LooseShape, s: Shown) -> pa.Array:
        """By when all missing groups have come, where the comparisons say it."""
        if s.group.is_certain:
            return pa.nulls(s.rows.length, pa.int64())
        known = order(shape.template.tests, shape.template.time_variables())
        latest = np.max(shape.ends(s.group.mask, s.rows, known, self.codec), axis=0)
        ends = np.where(np.isfinite(latest), latest, 0).astype(np.int64) + self.lateness
        return pa.array(ends, mask=~np.isfinite(latest))

    def _where(self, s: Shown) -> pa.Array:
        """Exceptions of rows with a star, and of rows that a negation has not been judged for one by one."""
        shape, n = s.group.shape, s.rows.length
        starred = starred_rows(shape, s.rows)
        listed = self._exceptions(s, starred) if starred.any() else [None] * n
        early = s.group.bits & ~shape.ground_negatives(s.group.mask)
        if isinstance(shape, LooseShape) or not (any(listed) or early):
            return pa.nulls(n, pa.string())
        found = []
        for i in range(n):
            parts = [listed[i], self._early_exceptions(s, early, i) if early else None]
            found.append(", ".join(part for part in parts if part) or None)
        return pa.array(found, pa.string())

    def _early_exceptions(self, s: Shown, early: int, row: int) -> str | None:
        """Constants for which a negation that holds in general does not hold, or is not known yet."""
        shape = s.group.shape
        shown: list[str] = []
        for j, negative in enumerate(shape.negatives):
            if not early >> j & 1:
                continue
            loose = [slot.column for slot in negative.key if _is_loose(s.rows, slot, row)]
            found = set()
            for other, mask, block in s.source.witness.get(j, ()):
                found |= self._named(other, mask, block, negative, s.rows, row)
            places = [shape.names[c] for c in dict.fromkeys(loose)]
            shown += [exceptions_text(list(names), values) for names, values in _by_names(places, found)]
        return ", ".join(shown) or None

    def _named(
        self, other: Shape, mask: int, block: Block, negative: Negative, rows: Block, row: int
    ) -> set[tuple[str, ...]]:
        keys = head_keys(other, block).copy()
        keep = block.statuses(other, mask) > 0
        asked: dict[int, list[int]] = {}
        for k, slot in enumerate(negative.key):
            if _is_loose(rows, slot, row):
                asked.setdefault(slot.column, []).append(k)
                continue
            column = rows.columns[slot.column] if slot.column >= 0 else None
            code = slot.code if column is None else column[row]
            for tied, head in enumerate(other.head):
                if head.column >= 0 and head.column == other.head[k].column:
                    keys[keys[:, tied] == STAR, tied] = code
            keep &= keys[:, k] == code
        for first, *others in asked.values():
            for k in others:
                known = (keys[:, first] != STAR) & (keys[:, k] != STAR)
                keep &= ~known | (keys[:, first] == keys[:, k])
                keys[:, first] = np.where(keys[:, first] == STAR, keys[:, k], keys[:, first])
        columns = [keys[keep, places[0]] for places in asked.values()]
        texts = [self.codec.texts(c).to_pylist() for c in columns]
        return {t for t in zip(*texts, strict=True) if set(t) != {ANYTHING}}

    def _exceptions(self, s: Shown, starred: Bools) -> list[str | None]:
        """For each row with a star, the constants that have rows of their own next to it."""
        shape = s.group.shape
        names = [shape.names[c] for c in open_places(shape)]
        written: list[str | None] = []
        for star, excepted in zip(starred.tolist(), exceptions(shape, s.source, s.rows), strict=True):
            texts = sorted(tuple(self.codec.one(code) for code in codes) for codes in excepted)
            written.append(exceptions_text(names, texts) if star and texts else None)
        return written


def _by_names(
    places: list[str], found: set[tuple[str, ...]]
) -> list[tuple[tuple[str, ...], list[tuple[str, ...]]]]:
    """Exceptions by the variables that they speak of: one known in part excludes whatever has that part."""
    groups: dict[tuple[str, ...], set[tuple[str, ...]]] = {}
    for values in found:
        known = [(n, v) for n, v in zip(places, values, strict=True) if v != ANYTHING]
        groups.setdefault(tuple(n for n, _ in known), set()).add(tuple(v for _, v in known))
    return [(names, sorted(values)) for names, values in sorted(groups.items())]


def _is_loose(rows: Block, slot: Slot, row: int) -> bool:
    """True when a row says nothing about a place of a key, or speaks about everybody there."""
    if slot.column < 0:
        return False
    column = rows.columns[slot.column]
    return column is None or column[row] == STAR


def exceptions_text(names: list[str], found: list[tuple[str, ...]]) -> str:
    """``X != john, X != gus``; long lists are cut and counted."""
    if len(names) == 1:
        shown = [f"{names[0]} != {values[0]}" for values in found[:EXCEPTIONS_SHOWN]]
    else:
        left = f"({', '.join(names)})"
        shown = [f"{left} != ({', '.join(values)})" for values in found[:EXCEPTIONS_SHOWN]]
    if len(found) > EXCEPTIONS_SHOWN:
        shown.append(f"and {len(found) - EXCEPTIONS_SHOWN} more")
    return ", ".join(shown)
