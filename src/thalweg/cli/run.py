"""Run a program over events: timeline, changes and rejected rows, on the terminal or as files."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from thalweg.cli._options import Background, End, Horizon, Lateness, Query, Rules, Start, Step, Tick, Window
from thalweg.language.wording import counted, visible

if TYPE_CHECKING:
    import pyarrow as pa

    from thalweg.io.write import Folder
    from thalweg.language.program import Program
    from thalweg.plans import Options
    from thalweg.result import Origin, Result, Summary
    from thalweg.runs import Progress, Sink

SHOWN = 40
EXPLAINED = 2_000
ENGINES = ("embedded", "spark")


@dataclass(frozen=True, slots=True)
class Drawing:
    """The pictures that are wanted."""

    paths: tuple[Path, ...]
    explained: int
    on_terminal: bool


@dataclass(frozen=True, slots=True)
class Work:
    """A run that is ready: `drive` gives everything it finds to a sink, and says how far it is."""

    program: Program
    origin: Origin
    drive: Callable[[Sink, Callable[[Progress], None] | None], Summary]


@dataclass(frozen=True, slots=True)
class Both:
    """A sink that gives everything to two others."""

    one: Sink
    other: Sink

    def add(self, name: str, table: pa.Table) -> None:
        self.one.add(name, table)
        self.other.add(name, table)

    def settle(self, reach: int) -> None:
        self.one.settle(reach)
        self.other.settle(reach)


def run(
    rules: Rules,
    input: Annotated[
        list[str],
        typer.Option("--input", "-i", help="Events: a file, a directory, a glob, or - for standard input."),
    ],
    window: Window = None,
    step: Step = None,
    background: Background = None,
    start: Start = None,
    end: End = None,
    tick: Tick = None,
    out: Annotated[Path | None, typer.Option(help="Directory for the tables.")] = None,
    format: Annotated[str, typer.Option(help="Format of the tables: parquet, csv or jsonl.")] = "parquet",
    per_fluent: Annotated[
        bool, typer.Option("--per-fluent", help="Write also a table per fluent, its arguments as columns.")
    ] = False,
    on_error: Annotated[str, typer.Option(help="A bad row: reject it, or stop.")] = "reject",
    allow_gaps: Annotated[bool, typer.Option("--allow-gaps", help="Allow a window below the step.")] = False,
    recompute: Annotated[
        bool, typer.Option("--recompute", help="Compute every window from scratch.")
    ] = False,
    lateness: Lateness = None,
    horizon: Horizon = None,
    query: Query = None,
    models: Annotated[str | None, typer.Option(help="LARS: how many answer streams, or all.")] = None,
    labels: Annotated[
        bool,
        typer.Option("--labels", help="LARS: also until when each window atom and head lasts at the end."),
    ] = False,
    html: Annotated[
        list[Path] | None,
        typer.Option(
            "--html", "--picture", help="Draw the timelines; the ending says how: .html .svg .png .txt"
        ),
    ] = None,
    explained: Annotated[
        int | None,
        typer.Option(min=0, help="How many intervals of the picture carry their explanation; 2000 without it."),
    ] = None,
    dates: Annotated[
        bool, typer.Option("--dates", help="Print dates instead of time-points; on a terminal done anyway.")
    ] = False,
    chart: Annotated[bool, typer.Option("--chart", help="Draw the timelines on the terminal.")] = False,
    engine: Annotated[str, typer.Option(help="Where to run: embedded, or spark.")] = "embedded",
    master: Annotated[str | None, typer.Option(help="Spark: the master, local[*] without it.")] = None,
    shards: Annotated[int | None, typer.Option(help="Spark: reasoners side by side.")] = None,
    follow: Annotated[
        bool,
        typer.Option(
            "--follow", help="Spark: read every file that appears in the directories, until stopped."
        ),
    ] = False,
    checkpoint: Annotated[
        Path | None, typer.Option(help="Follow: where the state is kept; OUT/_checkpoint without it.")
    ] = None,
    trigger: Annotated[
        str | None,
        typer.Option(help="Follow: how often, such as '10 seconds'; available: what is there, and end."),
    ] = None,
    files_per_batch: Annotated[int | None, typer.Option(help="Follow: files taken at a time.")] = None,
    disorder: Annotated[
        str, typer.Option(help="Follow: how far rows may be out of the order of arrival.")
    ] = "0",
    max_ahead: Annotated[
        str | None,
        typer.Option(
            help="Follow: reject rows that arrive by more than this after everything known (at first: the earliest "
            "row after --start)."
        ),
    ] = None,
    metrics_port: Annotated[
        int | None, typer.Option(help="Follow: where Prometheus finds the numbers.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print the answer and say nothing else.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the summary and all tables as JSON; with --out, the summary.")
    ] = False,
) -> None:
    """Run a program over events.

    Without --out the timeline goes to the terminal, in a pipe as tab-separated text. With it, timeline,
    changes, events, open and rejected are written to a directory, all or nothing. On Spark the same is
    written; with --follow, batch by batch (docs/spark.md).
    """
    from thalweg.cli._errors import reported
    from thalweg.io.write import Folder
    from thalweg.plans import Options, as_program

    options = Options.among(locals())
    with reported():
        _check_engine(engine, {"master": master, "shards": shards, "follow": follow})
        only_followed = {
            "checkpoint": checkpoint,
            "trigger": trigger,
            "files_per_batch": files_per_batch,
            "disorder": disorder if disorder != "0" else None,
            "max_ahead": max_ahead,
            "metrics_port": metrics_port,
        }
        program = as_program(rules, background or ())
        _check_printed(out, dates=dates, chart=chart, as_json=as_json)
        if follow:
            _check_followed(format, html, chart or per_fluent or explained is not None)
            from thalweg.cli._follow import followed

            followed(
                program, input, options, out, master, shards, only_followed, quiet=quiet, as_json=as_json
            )
            return
        _check_unfollowed(only_followed)
        _check_tables(program, out, format, per_fluent=per_fluent)
        drawing = None
        if html or chart:
            drawing = Drawing(tuple(html or ()), EXPLAINED if explained is None else explained, chart)
        work = _work(program, input, options, engine, master, shards)
        _check_pictures(program, html or (), explained, chart=chart)
        if out is not None:
            folder = Folder(out, format)
            _to_files(work, folder, drawing, per_fluent=per_fluent, quiet=quiet, as_json=as_json)
        else:
            _to_terminal(work, drawing, dates=dates, quiet=quiet, as_json=as_json)


def _check_tables(program: Program, out: Path | None, form: str, *, per_fluent: bool) -> None:
    from thalweg.io.errors import InputError
    from thalweg.language.rules import Kind

    if per_fluent and program.kind is not Kind.EVENTS:
        raise InputError("per-fluent", f"there are no fluents in a program of kind {program.kind}")
    if out is None and (form != "parquet" or per_fluent):
        raise InputError("out", "--format and --per-fluent are about the tables of --out", "add --out DIR")


def _check_printed(out: Path | None, *, dates: bool, chart: bool, as_json: bool) -> None:
    from thalweg.io.errors import InputError

    if dates and (out is not None or as_json):
        where = "--json" if as_json else "--out"
        raise InputError("dates", f"{where} has time-points, and --dates is about what is printed for people")
    if chart and as_json:
        raise InputError("chart", "--chart and --json are two things to print", "choose one")


def _check_engine(engine: str, only_spark: dict[str, Any]) -> None:
    from thalweg.io.errors import InputError, did_you_mean

    if engine not in ENGINES:
        hint = f"there are {' and '.join(ENGINES)}"
        raise InputError("engine", f"there is no engine {engine}{did_you_mean(engine, ENGINES)}", hint)
    for name, given in only_spark.items():
        if engine != "spark" and given:
            raise InputError(name, f"--{name} has a meaning only on Spark", "add --engine spark")


def _check_followed(format: str, html: Sequence[Path] | None, more: bool) -> None:
    from thalweg.io.errors import InputError

    if html or more or format != "parquet":
        raise InputError(
            "follow",
            "what is found while following is written as Parquet, batch by batch, and nothing else",
            "draw or convert it afterwards, or run without --follow",
        )


def _check_unfollowed(only_followed: dict[str, Any]) -> None:
    from thalweg.io.errors import InputError

    for name, given in only_followed.items():
        if given is not None:
            raise InputError(name, f"--{name.replace('_', '-')} has a meaning only with --follow")


def _work(
    program: Program, inputs: list[str], options: Options, engine: str, master: str | None, shards: int | None
) -> Work:
    """The run, by the engine that was chosen."""
    from thalweg._memory import keep_freed_memory
    from thalweg.plans import prepare, with_query
    from thalweg.result import Origin
    from thalweg.runs import drive

    origin = Origin(inputs, options)
    if engine == "spark":
        from thalweg.spark.cli import drive as drive_on_spark

        return Work(
            with_query(program, options.query),
            origin,
            lambda sink, report: drive_on_spark(
                program, inputs, options, sink, master=master, shards=shards, progress=report
            ),
        )
    keep_freed_memory()
    plan = prepare(program, inputs, options)
    return Work(plan.program, origin, lambda sink, report: drive(plan, sink, report))


def _check_pictures(program: Program, paths: Sequence[Path], explained: int | None, *, chart: bool) -> None:
    """Refuse before the run what could not be drawn after it."""
    from thalweg.io.errors import InputError
    from thalweg.language.rules import Kind
    from thalweg.show.timeline import ENDINGS, SUFFIXES

    if explained is not None and not paths:
        raise InputError("explained", "--explained is about a picture", "add --html FILE")
    for path in paths:
        if path.suffix.lower() not in ENDINGS:
            raise InputError("html", f"cannot draw timelines as {path.name}", SUFFIXES)
        if not path.absolute().parent.is_dir():
            raise InputError("html", f"there is no directory {path.parent}")
        if path.is_dir():
            raise InputError("html", f"{path} is a directory, not a file to draw into")
    if (paths or chart) and program.kind is not Kind.EVENTS:
        raise InputError("html", f"there are no timelines to draw for a program of kind {program.kind}")


def _draw(result: Result, drawing: Drawing, *, quiet: bool) -> None:
    from thalweg.io.errors import InputError

    picture = result.timeline(explained=drawing.explained)
    for path in drawing.paths:
        try:
            picture.save(path)
        except OSError as error:
            raise InputError("html", f"cannot write {path}: {error.strerror}") from error
        if not quiet:
            typer.echo(f"picture: {path}", err=True)
    if drawing.on_terminal:
        typer.echo(picture.text(width=shutil.get_terminal_size((100, 40)).columns))


def _to_files(
    work: Work,
    folder: Folder,
    drawing: Drawing | None,
    *,
    per_fluent: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    from dataclasses import replace

    from thalweg.cli._progress import progress
    from thalweg.io.instances import Instances
    from thalweg.io.sinks import Files, Memory
    from thalweg.io.write import SUMMARY
    from thalweg.result import Result

    instances = Instances(work.program) if per_fluent else None
    with folder, progress(shown=not quiet and not as_json) as report:
        files = Files(folder, work.program.kind, instances)
        memory = Memory(work.program.kind) if drawing else None
        summary = work.drive(Both(files, memory) if memory else files, report)
        files.finish()
        summary = replace(summary, tables=files.sizes)
        folder.note(SUMMARY, summary.as_dict())
    if drawing and memory:
        _draw(
            Result(work.program, memory.tables(), summary, origin=work.origin),
            drawing,
            quiet=quiet or as_json,
        )
    if as_json:
        typer.echo(json.dumps(summary.as_dict()))
    elif not quiet:
        typer.echo(f"{summary}\nwritten to {folder.target}", err=True)


def _to_terminal(work: Work, drawing: Drawing | None, *, dates: bool, quiet: bool, as_json: bool) -> None:
    from thalweg.cli._progress import progress
    from thalweg.io.sinks import Memory
    from thalweg.result import Result

    memory = Memory(work.program.kind)
    with progress(shown=not quiet and not as_json) as report:
        summary = work.drive(memory, report)
    result = Result(work.program, memory.tables(), summary, origin=work.origin)
    if drawing:
        _draw(result, drawing, quiet=quiet or as_json)
    if as_json:
        tables = {name: table.to_pylist() for name, table in result.arrow.items()}
        typer.echo(json.dumps({"summary": result.summary().as_dict(), **tables}, default=str))
    elif drawing and drawing.on_terminal:
        if not quiet:
            typer.echo(_said(result, dates=dates or result.is_dated), err=True)
    elif sys.stdout.isatty():
        _show(result, dates=dates or result.is_dated, quiet=quiet)
    else:
        _print(result, dates=dates, quiet=quiet)


def _print(result: Result, *, dates: bool, quiet: bool) -> None:
    """For a pipe: the whole table, tab-separated (labels, where they are asked for, after an empty line); what is said
    about it goes to standard error."""
    from thalweg.io.write import tab_separated

    for place, table in enumerate(_asked_for(result, dates=dates)):
        sys.stdout.write("\n" if place else "")
        for piece in tab_separated(table):
            sys.stdout.write(piece)
    if not quiet:
        typer.echo(_said(result, dates=dates), err=True)


def _asked_for(result: Result, *, dates: bool) -> list[pa.Table]:
    """The table that answers the question, and labels where they are asked for."""
    names = [None, *(["labels"] if "labels" in result.arrow else [])]
    return [result.answer(name, dates=dates) for name in names]


def _show(result: Result, *, dates: bool, quiet: bool) -> None:
    """For a person: the first rows, and where to find the rest."""
    from rich.console import Console
    from rich.table import Table

    from thalweg.result import cell

    console = Console(highlight=False, markup=False, emoji=False)
    for table in _asked_for(result, dates=dates):
        if not table.num_rows:
            continue
        shown = Table(box=None, header_style="bold", pad_edge=False)
        for name in table.column_names:
            shown.add_column(name, overflow="fold")  # nothing of a name or a date is left out where it is narrow
        for row in table.slice(0, SHOWN).to_pylist():
            shown.add_row(*(cell(value) for value in row.values()))
        console.print(shown)
        if table.num_rows > SHOWN:
            console.print(
                f"... {counted(table.num_rows - SHOWN, 'more row')}; --out DIR writes all", style="dim"
            )
    if not quiet:
        console.print(_said(result, dates=dates))


def _without_answer(result: Result) -> list[str]:
    """LARS: where there is no answer stream, and which loop is to blame."""
    rows = result.arrow["no_answer"].to_pylist() if "no_answer" in result.arrow else []
    verb = {"insert": "no answer stream from", "delete": "an answer stream again from"}
    lines = []
    for row in rows[:5]:
        span = f"{row['from']} on" if row["to"] is None else f"{row['from']} to {row['to']}"
        lines.append(f"{verb[row['op']]} {span}: loop of {row['loop']}")
    return [*lines, f"... {counted(len(rows) - 5, 'more row')} of no_answer"] if len(rows) > 5 else lines


def _detail(row: dict[str, Any], result: Result, *, dates: bool) -> str:
    """Why a row was rejected. What came too early or too late is told from when on rows count."""
    from thalweg.reasons import BEFORE_START, TOO_LATE

    detail: str = row["detail"]
    if not dates or row["reason"] not in (BEFORE_START, TOO_LATE):
        return detail
    said, _, point = detail.rpartition(" ")
    return f"{said} {result.moment(int(point))}" if point.lstrip("-").isdecimal() else detail


def _said(result: Result, *, dates: bool) -> str:
    """The summary, with the first rejected rows."""
    lines = [result.said(dates=dates), *_without_answer(result)]
    rejected: list[dict[str, Any]] = result.arrow["rejected"].slice(0, 5).to_pylist()
    lines += [
        visible(f"rejected {row['source']}:{row['row']}: {_detail(row, result, dates=dates)}") for row in rejected
    ]
    more = result.arrow["rejected"].num_rows - len(rejected)
    if more > 0:
        lines.append(f"... {counted(more, 'more rejected row')}; --out DIR writes all")
    return "\n".join(lines)
