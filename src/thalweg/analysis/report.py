"""What the analysis knows about a program, as plain data for tools (`facts`) and as text for people
(`describe`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from thalweg.analysis.bodies import body_of, literals
from thalweg.analysis.checker import node_text
from thalweg.analysis.dependencies import Component, Dependencies, dependencies
from thalweg.analysis.horizon import Horizon, horizon, largest_duration
from thalweg.analysis.joins import Path
from thalweg.analysis.keys import Keys, Route, Stage, plain, reasoning_keys
from thalweg.analysis.obstacles import obstacle_of
from thalweg.analysis.roles import Entities, Entity, EntityKind, entities, named
from thalweg.analysis.shape import rule_name
from thalweg.analysis.types import Types, infer
from thalweg.analysis.wording import listed, place, text
from thalweg.language.pause import collection_paused
from thalweg.language.program import Program
from thalweg.language.rules import Affects, Boundary, Holds, HoldsFor, Kind
from thalweg.language.terms import Term, is_ground, signature
from thalweg.language.wording import counted

_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")


@dataclass(frozen=True, slots=True)
class Analysis:
    """All answers about one program."""

    program: Program
    entities: Entities
    types: Types
    dependencies: Dependencies
    keys: Keys
    horizon: Horizon


@collection_paused()
def analyse(program: Program) -> Analysis:
    """Ask every question once."""
    known = entities(program)
    found = dependencies(program, known)
    keys = reasoning_keys(program, found, known)
    return Analysis(program, known, infer(program), found, keys, horizon(program, found))


# --------------------------------------------------------------------------- as data


def facts(analysis: Analysis) -> dict[str, object]:
    """The answers as dictionaries and lists of texts and numbers."""
    return {
        "kind": analysis.program.kind.value,
        "inputs": [_entity(analysis, entity) for entity in analysis.entities.inputs],
        "outputs": [_entity(analysis, entity) for entity in analysis.entities.outputs],
        "components": [_component(component) for component in analysis.dependencies.components],
        "stages": [_stage(analysis.program, stage) for stage in analysis.keys.stages],
        "one_shard_because": obstacle_of(analysis.program, analysis.keys),
        "horizon": _horizon(analysis.horizon),
    }


def _entity(analysis: Analysis, entity: Entity) -> dict[str, object]:
    kind = str(entity.key.kind)
    shown: dict[str, object] = {
        "kind": kind,
        "name": entity.name,
        "arity": entity.arity,
        "part": [part.value for part in entity.parts],
        "arguments": argument_types(analysis.types, entity),
    }
    if entity.key.kind is EntityKind.FLUENT:
        shown["value"] = analysis.types.value(entity.name, entity.arity)
        shown["values"] = list(dict.fromkeys(text(value) for value in _named(analysis, entity) if is_ground(value)))
    return shown


def argument_types(types: Types, entity: Entity) -> list[str]:
    """The type of each argument, as declared or as inferred."""
    kind = str(entity.key.kind)
    return [types.shown(kind, entity.name, entity.arity, index) for index in range(entity.arity)]


def _component(component: Component) -> dict[str, object]:
    return {
        "layer": component.layer,
        "members": [_name(node_text(node)) for node in component.members],
        "cyclic": component.cyclic,
        "delayed": component.delayed,
    }


def _stage(program: Program, stage: Stage) -> dict[str, object]:
    obstacle = stage.obstacle
    return {
        "members": [_name(node_text(node)) for node in stage.members],
        "key_width": stage.width,
        "routes": [
            {
                "name": _name(node_text(route.node)),
                "positions": [list(path) for path in route.positions],
                "parts": list(route.parts),
            }
            for route in stage.routes
        ],
        "prevented_by": None
        if obstacle is None
        else {"rule": place(program.statements[obstacle.rule].span), "reason": obstacle.reason},
    }


def _horizon(found: Horizon) -> dict[str, object]:
    return {
        "window": found.window,
        "largest_delay": found.largest_delay,
        "bounded": found.bounded,
        "inputs": [
            {
                "name": _name(node_text(kept.node)),
                "ticks": kept.ticks,
                "why": kept.why,
                "readers": [_name(node_text(node)) for node in kept.readers],
            }
            for kept in found.inputs
        ],
    }


def _name(quoted: str) -> str:
    return quoted.strip("`")


# --------------------------------------------------------------------------- as text


def describe(analysis: Analysis) -> str:
    """The answers as text, one section per question."""
    sections = [
        _section("Input", list(_table(analysis, analysis.entities.inputs))),
        _section("Output", list(_table(analysis, analysis.entities.outputs))),
        _section("Layers", list(_layers(analysis.dependencies))),
        _section("Reasoning key", list(_key_lines(analysis))),
        _section("Input is kept", list(_kept(analysis)) if _says_anything(analysis) else []),
    ]
    return "\n".join(section for section in sections if section)


def _says_anything(analysis: Analysis) -> bool:
    """False of background knowledge by itself, and of an empty file."""
    return bool(analysis.entities.inputs or analysis.entities.outputs)


def _section(title: str, lines: Sequence[str]) -> str:
    return "\n".join([title, *(f"  {line}" for line in lines)]) if lines else ""


def _table(analysis: Analysis, listed_entities: Sequence[Entity]) -> Iterator[str]:
    layers = analysis.dependencies.layers
    depth = {plain(node): max(layer, 0) for node, layer in sorted(layers.items(), key=lambda item: item[1])}
    rows = []
    for entity in listed_entities:
        types = ", ".join(argument_types(analysis.types, entity))
        value = _values(analysis, entity) if entity.key.kind is EntityKind.FLUENT else ""
        parts = " and ".join(part.value for part in entity.parts)
        layer = next((n for node, n in depth.items() if node[:3] == _key(entity)), 0)
        rows.append((f"{entity.name}({types}){value}" if types else f"{entity.name}{value}", parts, layer))
    width = min(max((len(name) for name, _, _ in rows), default=0), 64)
    for name, parts, layer in rows:
        yield f"{name:<{width}}  {parts}" + (f", layer {layer}" if layer else "")


def _key(entity: Entity) -> tuple[str, str, int]:
    return str(entity.key.kind), entity.name, entity.arity


def _values(analysis: Analysis, entity: Entity) -> str:
    """The values of a fluent, where rules name them; ``terminatedAt(gap(V)=_, T)`` brings none, and where input is read
    like that, it may have others too."""
    values = [text(value) for value in _named(analysis, entity)]
    constants = list(dict.fromkeys(name for name in values if name != "_"))
    if any(name[0].isupper() or name[0] == "_" for name in constants) or not constants:
        return "=" + analysis.types.value(entity.name, entity.arity)
    others = len(constants) > 6 or ("_" in values and not entity.values)
    return "=" + "|".join(constants[:6]) + ("|..." if others else "")


def _named(analysis: Analysis, entity: Entity) -> list[Term]:
    """The values that rules give a fluent or, where it is input, ask of it."""
    if entity.values:
        return [value for value, _ in entity.values]
    found: list[Term] = []
    for index in entity.uses:
        for literal, _, _ in literals(body_of(analysis.program.statements[index])):
            match literal:
                case Holds(pair) | Boundary(_, pair) | HoldsFor(pair) | Affects(_, pair) if (
                    named(pair.fluent) and signature(pair.fluent) == (entity.name, entity.arity)
                ):
                    found.append(pair.value)
                case _:
                    pass
    return found


def _layers(found: Dependencies) -> Iterator[str]:
    by_layer: dict[int, list[str]] = {}
    for component in found.components:
        flags = [flag for flag, on in (("cyclic", component.cyclic), ("delayed", component.delayed)) if on]
        names = ", ".join(_name(node_text(node)) for node in component.members)
        if len(component.members) > 1:
            names = "{" + names + "}"
        by_layer.setdefault(component.layer, []).append(names + (f" ({', '.join(flags)})" if flags else ""))
    for layer, members in sorted(by_layer.items()):
        yield f"{layer}: " + ", ".join(members)


def _key_lines(analysis: Analysis) -> Iterator[str]:
    stages = analysis.keys.stages
    for number, stage in enumerate(stages, 1):
        prefix = f"stage {number}: " if len(stages) > 1 else ""
        members = listed(list(dict.fromkeys(_name(node_text(plain(node))) for node in stage.members)))
        if stage.width == 0:
            yield f"{prefix}one shard for {members}"
            if stage.obstacle is not None:
                statement = analysis.program.statements[stage.obstacle.rule]
                reason = f"{stage.obstacle.reason}: {rule_name(statement)} at {place(statement.span)}"
                yield f"  because {reason}"
            continue
        yield f"{prefix}{members}, split by {_positions(stage)}"
        everywhere = [_name(node_text(route.node)) for route in stage.routes if not route.parts]
        if everywhere:
            yield f"  sent to every shard: {listed(everywhere)}"
    whole = obstacle_of(analysis.program, analysis.keys)
    if whole is not None and any(stage.width for stage in stages):
        yield f"all of it is one shard all the same: {whole}"


def _positions(stage: Stage) -> str:
    """``the first argument of e/1 and f/2, the second of g/2``."""
    own = {plain(node) for node in stage.members}
    groups: dict[tuple[Path, ...], list[str]] = {}
    for route in stage.routes:
        if len(route.parts) == stage.width and (
            stage.width == 1 or route.node in own or _guards(route, stage)
        ):
            groups.setdefault(route.positions, []).append(_name(node_text(route.node)))
    texts = []
    for positions, names in groups.items():
        words = " and ".join(_ordinal(path) for path in positions)
        noun = "argument" if len(positions) == 1 else "arguments"
        texts.append(f"the {words} {noun} of {listed(names)}")
    return "; ".join(texts)


def _guards(route: Route, stage: Stage) -> bool:
    return len(route.parts) == stage.width


def _ordinal(path: Path) -> str:
    words = [_ORDINALS[index] if index < len(_ORDINALS) else f"{index + 1}th" for index in reversed(path)]
    return " of the ".join(words)


def _kept(analysis: Analysis) -> Iterator[str]:
    found, program = analysis.horizon, analysis.program
    if program.kind is Kind.EVENTS:
        yield "rows: while they lie in the window"
        if found.largest_delay:
            yield f"countdowns: up to {counted(found.largest_delay, 'time-point')}"
        elif found.largest_delay is None:
            yield "countdowns: as long as background rules say"
        longest = largest_duration(program)
        if longest:
            yield f"whole intervals: where a duration is measured (up to {counted(longest, 'time-point')} in the rules)"
    else:
        for kept in found.inputs:
            ticks = "without end" if kept.ticks is None else counted(kept.ticks, "time-point")
            yield f"{_name(node_text(kept.node))}: {ticks}, {kept.why}"
    for index in found.unbounded:
        statement = program.statements[index]
        yield f"memory is not bounded: {rule_name(statement)} at {place(statement.span)}"
