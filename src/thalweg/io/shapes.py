"""Which input rows a program expects: for each name and number of arguments, what a row consists of.

    event    time, arguments
    fluent   start, end, value, arguments
    points   time, value, arguments

In Temporal Datalog the last argument of an atom is its time, which a row carries as its time; in LARS, atoms
that rules derive or that the program has as facts may arrive as input too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

import pyarrow as pa

from thalweg.analysis.roles import Entity, Part, entities
from thalweg.analysis.types import Types, infer
from thalweg.io.errors import DID_YOU_MEAN, did_you_mean
from thalweg.language.program import Program
from thalweg.language.rules import Kind


class Layout(StrEnum):
    """What a row says about time and value."""

    EVENT = "event"
    INTERVAL = "interval"
    POINT = "point"


class Type(StrEnum):
    """What stands in an argument position."""

    SYMBOL = "symbol"
    INT = "int"
    FLOAT = "float"
    NUMBER = "number"


@dataclass(frozen=True, slots=True)
class Field:
    """An argument or a value: its name, where the program declares one, and its type."""

    name: str | None
    type: Type


@dataclass(frozen=True, slots=True)
class Shape:
    """The rows of one name and arity. `value` is None for events."""

    name: str
    layout: Layout
    fields: tuple[Field, ...]
    value: Field | None = None

    @property
    def arity(self) -> int:
        return len(self.fields)

    def label(self, position: int) -> str:
        """How messages call an argument: by its declared name, or by its place."""
        return self.fields[position].name or f"argument {position + 1}"


@dataclass(frozen=True, slots=True)
class Shapes:
    """Every shape a program expects, by name and arity, and the names that it computes itself."""

    by_name: Mapping[str, Mapping[int, Shape]]
    derived: frozenset[str] = frozenset()
    inputs: tuple[str, ...] = ()
    """The names that rules read and do not compute, in their order."""

    def __contains__(self, name: str) -> bool:
        return name in self.by_name

    def __iter__(self) -> Iterator[Shape]:
        return (shape for arities in self.by_name.values() for shape in arities.values())

    def unknown(self, names: pa.Array) -> pa.Array:
        """Why rows of these names are not read. Guesses what was meant for the first hundred of them."""
        encoded = names.dictionary_encode(null_encoding="encode")
        words = encoded.dictionary.to_pylist()
        reasons = [self._unknown(word, guess=place < 100) for place, word in enumerate(words)]
        return pa.array(reasons, pa.string()).take(encoded.indices)

    def _unknown(self, name: str | None, guess: bool) -> str:
        if not name:
            return _EMPTY
        if name in self.derived:
            return f"{name}{_COMPUTED}"
        return f"{_UNREAD}{name}{did_you_mean(name, self.by_name) if guess else ''}"

    def wrong_arity(self, name: str) -> str:
        """How many arguments rows of this name take."""
        arities = sorted(self.by_name[name])
        return f"{name} takes {' or '.join(map(str, arities))} argument{'' if arities == [1] else 's'}"


_EMPTY = "the name is empty"
_COMPUTED = " is computed by the rules, it cannot be input"
_UNREAD = "no rule reads "


def name_in(detail: str) -> str:
    """The name that a row was rejected for, by what `Shapes.unknown` says of it.

    >>> name_in("no rule reads velocty; did you mean velocity?"), name_in("the name is empty")
    ('velocty', '')
    """
    if detail == _EMPTY:
        return ""
    if detail.endswith(_COMPUTED):
        return detail.removesuffix(_COMPUTED)
    name = detail.removeprefix(_UNREAD)
    return name.rpartition(DID_YOU_MEAN)[0] or name if name.endswith("?") else name


_LAYOUTS = {
    Part.INPUT_EVENT: Layout.EVENT,
    Part.INPUT_PREDICATE: Layout.EVENT,
    Part.INPUT_FLUENT: Layout.INTERVAL,
    Part.POINTS_FLUENT: Layout.POINT,
}


def shapes(program: Program) -> Shapes:
    """The input rows that the program expects."""
    types = infer(program)
    found: dict[str, dict[int, Shape]] = {}
    derived = set()
    told = entities(program)
    for entity in told:
        layout = _layout(entity, program.kind)
        if layout is None:
            if program.kind is not Kind.LARS:
                derived.add(entity.name)
            continue
        shape = _shape(entity, layout, program.kind, types)
        found.setdefault(shape.name, {})[shape.arity] = shape
    inputs = tuple(dict.fromkeys(entity.name for entity in told if entity.part in _LAYOUTS))
    return Shapes(found, frozenset(derived - found.keys()), inputs)


def _layout(entity: Entity, kind: Kind) -> Layout | None:
    """What rows of the entity look like; None where it is no input."""
    if entity.also_input(kind):
        return Layout.EVENT
    return _LAYOUTS.get(entity.part)


def _shape(entity: Entity, layout: Layout, kind: Kind, types: Types) -> Shape:
    arity = entity.arity - 1 if kind is Kind.ANSWERS else entity.arity
    declared = entity.declared.arguments if entity.declared is not None else ()
    names = [a.name if a.name != "_" else None for a in declared] or [None] * entity.arity
    fields = tuple(
        Field(names[i], Type(types.shown(entity.key.kind, entity.name, entity.arity, i)))
        for i in range(arity)
    )
    value = None if layout is Layout.EVENT else Field("value", Type(types.value(entity.name, entity.arity)))
    return Shape(entity.name, layout, fields, value)
