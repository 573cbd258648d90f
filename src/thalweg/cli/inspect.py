"""Show what a checkpoint of a Spark pipeline holds: program, shards, clock, state, what is pending."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from thalweg.language.wording import counted, tallied

if TYPE_CHECKING:
    from thalweg.spark.checkpoint import Checkpoint, Commit
    from thalweg.spark.settings import Settings


def inspect(
    checkpoint: Annotated[str, typer.Argument(help="The directory of the checkpoint.")],
    program: Annotated[bool, typer.Option("--program", help="Print the program, and nothing else.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show what a checkpoint holds.

    CHECKPOINT is the one of a stream, or the directory of its tables where that has the checkpoint inside.
    """
    from thalweg.cli._errors import reported
    from thalweg.spark.checkpoint import located

    with reported():
        found = located(checkpoint)
        settings = found.settings()
        if program:
            typer.echo(settings.text)
            return
        told = summary(settings, found.last()) | {"lost": _lost(found, settings)}
    typer.echo(json.dumps(told, indent=1) if as_json else _text(told))


def _lost(found: Checkpoint, settings: Settings) -> dict[str, int]:
    """How many files of each table are not in their places any more. Of a stream that goes on meanwhile nothing is
    told."""
    from thalweg.spark.outputs import Outputs

    last, tables = found.last(), found.tables
    if last is None or tables is None:
        return {}
    lost = Outputs(tables, settings.kind).lost(last)
    return {name: count for name, (count, _) in lost.items()} if lost and found.last() == last else {}


def summary(settings: Settings, last: Commit | None) -> dict[str, Any]:
    """What there is to say, as plain data."""
    told: dict[str, Any] = {
        "kind": settings.kind,
        "identity": settings.identity[:12],
        "statements": len(settings.program.statements),
        "options": {
            name: value
            for name, value in settings.options.items()
            if value is not None and value is not False and name != "on_error"
        },
        "shards": settings.shards,
        "stages": [stage.key for stage in settings.stages],
    }
    if last is None:
        return {**told, "batch": None}
    moment = last.moment
    return {
        **told,
        "batch": last.batch,
        "query_time": moment.query_time if last.begun else None,
        "latest_arrival": moment.latest,
        "open": last.tables.get("open", 0),
        "totals": dict(sorted(last.totals.items())),
        "state_bytes": last.state_bytes,
        "state": {
            key: {"bytes": s.size, "batches since": len(s.steps)} for key, s in sorted(last.shards.items())
        },
    }


def _text(told: dict[str, Any]) -> str:
    """The same for people."""
    options = ", ".join(f"{name} {value}" for name, value in told["options"].items())
    lines = [
        f"program      {told['kind']}, {counted(told['statements'], 'statement')}, {told['identity']}",
        f"options      {options}",
        *(f"stage {i}      {key}" for i, key in enumerate(told["stages"])),
    ]
    if told["batch"] is None:
        return "\n".join([*lines, "no batch yet"])
    totals = tallied({name: count for name, count in told["totals"].items() if count})
    lines += [
        f"last batch   {told['batch']}",
        *(f"lost         {counted(count, 'file')} of {name}" for name, count in told["lost"].items()),
        f"clock        query time {told['query_time']}, last arrival {told['latest_arrival']}"
        if told["query_time"] is not None
        else "clock        no row has had a time yet",
        f"pending      {told['open']:,}",
        f"counted      {totals}",
        f"state        {counted(told['state_bytes'], 'byte')} in {counted(len(told['state']), 'shard')}",
    ]
    lines += [
        f"  {key:<10} {counted(state['bytes'], 'byte')}, "
        f"{counted(state['batches since'], 'batch', 'batches')} since the snapshot"
        for key, state in told["state"].items()
    ]
    return "\n".join(lines)
