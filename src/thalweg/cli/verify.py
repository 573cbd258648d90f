"""Replay a stream against the definition of the semantics and report the first difference."""

from __future__ import annotations

from typing import Annotated

import typer

from thalweg.cli._options import Background, End, Rules, Start, Step, Window

UNTIL = "--end stops earlier"
SHORTER = f"{UNTIL}, --sample N takes the rows of N entities"


def verify(
    rules: Rules,
    input: Annotated[
        list[str], typer.Option("--input", "-i", help="Events: a file, a directory, a glob, or -.")
    ],
    window: Window = None,
    step: Step = None,
    background: Background = None,
    start: Start = None,
    end: End = None,
    tick: Annotated[
        str | None, typer.Option(help="Distance of points (40), or length of a time-point (1s).")
    ] = None,
    sample: Annotated[
        int | None, typer.Option(min=1, help="Take the rows of this many entities only.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Which entities are taken.")] = 0,
    allow_gaps: Annotated[bool, typer.Option("--allow-gaps", help="Allow a window below the step.")] = False,
    recompute: Annotated[bool, typer.Option("--recompute", help="Verify computing from scratch.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but the difference.")] = False,
) -> None:
    """Replay a stream of an event description against the reference, a slow program that follows the definition word
    by word.

    It takes its time, and says on a terminal how much: give it few rows (--end) or few entities (--sample). An entity
    is a first argument, such as a vessel. Exit code 1 where the two differ.
    """
    from thalweg.cli._errors import reported
    from thalweg.cli._progress import query_times
    from thalweg.language.wording import counted
    from thalweg.plans import Options, as_program, prepare
    from thalweg.verification import refuse_other_kinds
    from thalweg.verification import verify as compare

    options = Options(window, step, start, end, tick, allow_gaps=allow_gaps, recompute=recompute)
    with reported():
        program = as_program(rules, background or ())
        refuse_other_kinds(program)
        plan = prepare(program, input, options)
        with query_times(shown=not quiet, shorter=SHORTER if sample is None else UNTIL) as report:
            verdict = compare(plan, sample=sample, seed=seed, progress=report)
    of = "" if verdict.entities is None else f" of {counted(verdict.entities, 'entity', 'entities')}"
    if verdict.difference is not None:
        typer.echo(str(verdict.difference))
        raise typer.Exit(1)
    if not quiet:
        typer.echo(
            f"no difference: {counted(verdict.rows, 'row')}{of}, {counted(verdict.query_times, 'query time')}, "
            f"{counted(verdict.intervals, 'interval')}"
        )
