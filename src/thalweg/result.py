"""What a run returns: tables of the caller's kind, a summary, and something readable in a notebook.

Inside, everything is Arrow. The columns of every table are documented in docs/tables.md.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from thalweg.io.instances import columns_of
from thalweg.language.program import Program
from thalweg.language.rules import Kind
from thalweg.language.wording import breadth, counted, padded, tallied, visible
from thalweg.reasons import UNKNOWN_NAME

if TYPE_CHECKING:
    from thalweg.explain.answers import Asked
    from thalweg.explain.lars import Answered
    from thalweg.explain.tree import Node
    from thalweg.explain.what_if import Difference
    from thalweg.explain.world import Known
    from thalweg.io.times import Clock
    from thalweg.plans import Options
    from thalweg.protocol import Rows
    from thalweg.show.timeline import Picture

SHOWN = 20
_TOLD = ("opened", "certain", "dropped", "withdrawn")
_READ = ["at", "change", "answer", "evidence", "needed", "decided_by"]
_READ_WHERE = ["at", "change", "answer", "where", "evidence", "needed", "decided_by"]
_READ_AGAIN = frozenset({"_about", "_answers_known", "_asked_about"})
_MAIN = {Kind.EVENTS: "timeline", Kind.ANSWERS: "changes", Kind.LARS: "answers"}


NAMES = 5
"""So many names without rows a summary tells."""
TOLD = 3
"""So many names that no rule reads."""


@dataclass(frozen=True, slots=True)
class Summary:
    """What a run read, how far it went, and how long it took. `unread` rows lie after the end that was asked
    for; `waiting` rows have arrived and are about times after the last query time. Of the names in `absent` there were
    no rows, though rules read them; `unknown` are the most frequent names that rules do not read, with their rows."""

    kind: Kind
    sources: tuple[str, ...]
    rows: int
    accepted: int
    rejected: Mapping[str, int]
    unread: int
    query_times: int
    first_query_time: int | None
    last_query_time: int | None
    seconds: float
    tables: Mapping[str, int] = field(default_factory=dict)
    waiting: int = 0
    absent: tuple[str, ...] = ()
    unknown: Mapping[str, int] = field(default_factory=dict)

    @property
    def rate(self) -> float:
        """Rows per second, reading and writing included."""
        return self.rows / self.seconds if self.seconds else 0.0

    def as_dict(self) -> dict[str, Any]:
        return {**asdict(self), "rate": round(self.rate, 1)}

    def __str__(self) -> str:
        return self.said(str)

    def _named(self, rows: int) -> str:
        """Which names these rows have, most of them."""
        names = [f"{visible(name) or 'no name'} {count:,}" for name, count in self.unknown.items()]
        others = rows - sum(self.unknown.values())
        names += [f"others {others:,}"] if names and others else []
        return f" ({', '.join(names)})" if names else ""

    def said(self, written: Callable[[int], str]) -> str:
        """The summary in a few lines, its times written by the function."""
        lines = [
            f"{counted(self.rows, 'row')} from {', '.join(self.sources[:3])}"
            f"{' ...' if len(self.sources) > 3 else ''}"
        ]
        if self.rejected:
            reasons = ", ".join(
                f"{count:,} {reason}{self._named(count) if reason == UNKNOWN_NAME else ''}"
                for reason, count in sorted(self.rejected.items())
            )
            lines.append(f"{sum(self.rejected.values()):,} rejected: {reasons}")
        if self.unread:
            lines.append(f"{self.unread:,} not read: they arrive after the end")
        if self.waiting:
            lines.append(f"{self.waiting:,} not yet due at the last query time; --end goes further")
        if self.first_query_time is not None and self.last_query_time is not None:
            span = written(self.last_query_time)
            if self.query_times > 1:
                span = f"{written(self.first_query_time)} to {span}"
            what = "query time" if self.kind is Kind.EVENTS else "time-point"
            lines.append(f"{counted(self.query_times, what)}, {span}")
        if self.tables:
            lines.append(tallied(self.tables))
        if self.absent:
            more = f" and {len(self.absent) - NAMES:,} more" if len(self.absent) > NAMES else ""
            lines.append(f"no rows of {', '.join(map(visible, self.absent[:NAMES]))}{more}")
        lines.append(f"{self.seconds:.2f} s, {counted(round(self.rate), 'row')}/s")
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Origin:
    """What a result was computed from, so that it can be asked about: the events as they were given, and how they
    were run."""

    events: Any
    options: Options


def kind_of(events: Any) -> str:
    """Which library the caller's tables are of; ``arrow`` for paths and everything else."""
    if isinstance(events, Mapping):
        events = next(iter(events.values()), None)
    library = type(events).__module__.split(".")[0].removeprefix("_")
    return library if library in ("pandas", "polars", "duckdb") else "arrow"


class Result:
    """The tables of a run, in the caller's kind, by name: ``result["timeline"]``, ``"changes"``, ``"open"``,
    ``"events"``, ``"rejected"``, and for other kinds of program ``"answers"``, ``"labels"``. `timeline` draws them."""

    def __init__(
        self,
        program: Program,
        tables: Mapping[str, pa.Table],
        summary: Summary,
        kind: str = "arrow",
        origin: Origin | None = None,
    ) -> None:
        self.program = program
        self.origin = origin
        self.arrow = dict(tables)
        self.kind = kind
        sizes = {name: table.num_rows for name, table in tables.items()}
        self._summary = Summary(**{**{f: getattr(summary, f) for f in Summary.__slots__}, "tables": sizes})

    def __getitem__(self, name: str) -> Any:
        return self._given(self._table(name))

    def _table(self, name: str) -> pa.Table:
        if name not in self.arrow:
            raise KeyError(f"this result has no table {name!r}; it has {', '.join(self.arrow)}")
        return self.arrow[name]

    def __contains__(self, name: object) -> bool:
        return name in self.arrow

    def __iter__(self) -> Iterator[str]:
        """The names of the tables."""
        return iter(self.arrow)

    def __len__(self) -> int:
        return len(self.arrow)

    def __getstate__(self) -> dict[str, Any]:
        """What is pickled: the tables and where they come from, not what explanations have read since."""
        return {name: value for name, value in self.__dict__.items() if name not in _READ_AGAIN}

    def __getattr__(self, name: str) -> Any:
        hint = f'; the table is result["{name}"]' if name in self.__dict__.get("arrow", {}) else ""
        raise AttributeError(f"a result has no attribute {name!r}{hint}", name=name, obj=self)

    def _ipython_key_completions_(self) -> list[str]:
        return list(self.arrow)

    def summary(self) -> Summary:
        """What was read, how far the run went, how long it took, and how large each table is."""
        return self._summary

    def dated(self, name: str = "timeline") -> Any:
        """A table with its time-points as timestamps (UTC), by the length of a time-point."""
        from thalweg.io.dates import dated

        return self._given(dated(self._table(name), self._clock()))

    @property
    def is_dated(self) -> bool:
        """True when time-points are dates to people: the program says how long one lasts, and they lie in our days."""
        from thalweg.io.dates import is_dated

        return is_dated(self.program.tick_seconds, self._summary.first_query_time)

    def _clock(self) -> Clock:
        from thalweg.plans import clock_of

        return clock_of(self.program, None if self.origin is None else self.origin.options.tick)

    def table(self, name: str, of: str | None = None) -> Any:
        """The rows of one fluent or derived event with its arguments as typed columns of their own.

        `of` is the table to take them from: the timeline for fluents, events for derived events, or
        ``"changes"``, ``"open"``, ``"event_changes"``.
        """
        return self._given(columns_of(self.program, self.arrow, name, of))

    def _given(self, table: pa.Table) -> Any:
        match self.kind:
            case "pandas":
                import pandas

                # an interval without an end must not turn the ends of others into floats
                whole = {pa.int64(): pandas.Int64Dtype()}
                return table.to_pandas(types_mapper=whole.get)
            case "polars":
                import polars

                return polars.from_arrow(table)
            case "duckdb":
                import duckdb

                return duckdb.from_arrow(table)
            case _:
                return table

    def input_rows(self) -> list[Rows]:
        """The input that counts, read again: what is known, not rejected and not retracted at the end. Nothing where it
        cannot be read twice (standard input)."""
        if self.input_is_spent() or self._summary.last_query_time is None:
            return []
        return self._known().given.counting()

    def input_is_spent(self) -> bool:
        """True when the input cannot be read a second time."""
        return self.origin is None or _is_spent(self.origin.events)

    # ------------------------------------------------------------------ explained

    def why(self, question: str, *, minimal: bool = False) -> Node:
        """Why something holds or happens: ``result.why("status(m1)=voting @ 130")``. With `minimal`, a set of input
        rows that is enough for it and of which each is needed."""
        from thalweg.explain import answers, ask, lars, what_if

        if minimal:
            known = self._known()
            return self._read(what_if.minimal(known, ask.asked_of_what_holds(known, question)))
        if self.program.kind is Kind.LARS:
            return self._read(lars.why(self._answered(), question))
        if self.program.kind is Kind.ANSWERS:
            return self._read(answers.why(self._asked(), question))
        return self._read(ask.why(self._known(), question))

    def why_not(self, question: str) -> Node:
        """Why something does not hold or happen: what ended it, and which rules came closest."""
        from thalweg.explain import answers, ask, lars

        if self.program.kind is Kind.LARS:
            return self._read(lars.why_not(self._answered(), question))
        if self.program.kind is Kind.ANSWERS:
            return self._read(answers.why_not(self._asked(), question))
        return self._read(ask.why_not(self._known(), question))

    def why_changed(self, change: Mapping[str, Any] | str) -> Node:
        """Why a row of `changes` is there, given as a dictionary; or why a pair changed at a query time, given as
        ``"on(lamp) @ 15"``: what was found or withdrawn, because of which row, and how things are now."""
        from thalweg.explain import ask

        known = self._known()
        if isinstance(change, str):
            return self._read(ask.changes(known, self.arrow["changes"], change))
        return self._read(ask.why_changed(known, change))

    def what_if(self, *, insert: Any = (), retract: Any = ()) -> Difference:
        """What would be different with rows added or left out: ``result.what_if(retract=["press(lamp) @ 5"])``. Rows
        are texts like this, or events in any form that `run` takes."""
        from thalweg.explain.what_if import what_if

        return what_if(self, self._known(), insert=insert, retract=retract)

    def holds(self, question: str) -> bool:
        """True when what the question names holds, or happens."""
        from thalweg.explain import answers, ask, lars

        if self.program.kind is Kind.LARS:
            return lars.holds(self._answered(), question)
        if self.program.kind is Kind.ANSWERS:
            return answers.holds(self._asked(), question)
        return ask.holds(self._known(), question)

    def said(self, *, dates: bool | None = None) -> str:
        """The summary in a few lines; its times are dates where they are that to people, or where it is wished."""
        return self._summary.said(self.moment if (self.is_dated if dates is None else dates) else str)

    def moment(self, point: int) -> str:
        """A time-point as a date."""
        from thalweg.io.dates import written

        return written(point, self._clock())

    def _read(self, tree: Node) -> Node:
        """A tree as people read it: with dates, where time-points are dates to people."""
        from thalweg.explain.tree import with_dates

        return with_dates(tree, self.moment) if self.is_dated else tree

    def about(self, known: Known) -> None:
        """Use this as what explanations need."""
        self._about = known

    def _known(self) -> Known:
        """What explanations need, kept from the first question on."""
        from thalweg.explain.ask import known_of

        if "_about" not in self.__dict__:
            self._about = known_of(self)
        return self._about

    def _answered(self) -> Answered:
        """The same for LARS."""
        from thalweg.explain.lars import Answered

        if "_answers_known" not in self.__dict__:
            self._answers_known = Answered(self)
        return self._answers_known

    def _asked(self) -> Asked:
        """The same for open answers."""
        from thalweg.explain.answers import Asked

        if "_asked_about" not in self.__dict__:
            self._asked_about = Asked(self)
        return self._asked_about

    # ------------------------------------------------------------------ shown

    def timeline(
        self, *, only: Sequence[str] | str = (), title: str = "", explained: int = 2_000, inputs: bool = True
    ) -> Picture:
        """The timelines as a picture, to be shown in a notebook or saved (.html, .svg, .png, .txt). `only` keeps the
        lanes that match a pattern; in a page the first `explained` intervals carry their explanation."""
        from thalweg.show.timeline import picture

        return picture(self, only=only, title=title, explained=explained, inputs=inputs)

    def main(self) -> tuple[str, pa.Table]:
        """The table that answers what was asked, as people read it: the timeline; of open answers, what opened,
        became certain and was dropped; of LARS, the answers, or all answer streams where they were asked for."""
        name = "models" if "models" in self.arrow else _MAIN[self.program.kind]
        table = self.arrow.get(name, pa.table({}))
        if self.program.kind is Kind.ANSWERS and table.column_names:
            told = pc.is_in(table.column("change").cast(pa.string()), pa.array(_TOLD))
            table = table.filter(told)
            said = _READ if table.column("where").null_count == table.num_rows else _READ_WHERE
            table = table.select(said)
        return name, table

    def answer(self, name: str | None = None, *, dates: bool) -> pa.Table:
        """The same table, or another one, on request with dates instead of time-points."""
        from thalweg.io.dates import dated_text

        table = self.main()[1] if name is None else self.arrow[name]
        return dated_text(table, self._clock()) if dates else table

    def _as_read(self, table: pa.Table) -> pa.Table:
        """Rows of a table as people read them: with dates, where time-points are dates to people."""
        from thalweg.io.dates import dated_text

        return dated_text(table, self._clock()) if self.is_dated else table

    def __repr__(self) -> str:
        name, table = self.main()
        return f"{self.said()}\n\n{name}:\n{as_text(table, SHOWN, self._as_read)}"

    def _repr_html_(self) -> str:
        lines = "<br>".join(html.escape(line) for line in self.said().splitlines())
        parts = [f"<p>{lines}</p>"]
        if self.arrow.get("timeline", pa.table({})).num_rows:
            parts.append(self.timeline(inputs=False)._repr_html_())
        for name, table in (self.main(), *((n, self.arrow.get(n)) for n in ("open", "rejected"))):
            if table is not None and table.num_rows and name == "open" and self.program.kind is Kind.ANSWERS:
                from thalweg.answers.card import cards

                parts.append(f"<h4>open</h4>{cards(table)._repr_html_()}")
            elif table is not None and table.num_rows:
                parts.append(f"<h4>{html.escape(name)}</h4>{as_html(table, SHOWN, self._as_read)}")
        return "".join(parts)


def _is_spent(events: Any) -> bool:
    """True for standard input, which can be read only once."""
    if isinstance(events, str):
        return events == "-"
    return isinstance(events, list | tuple) and any(map(_is_spent, events))


def cell(value: Any) -> str:
    """A value as people read it; nothing for no value."""
    if isinstance(value, list):
        return "; ".join(map(cell, value))
    return "" if value is None else visible(str(value))


def as_text(table: pa.Table, limit: int, read: Callable[[pa.Table], pa.Table] = lambda rows: rows) -> str:
    """The first rows of a table, in columns; `read` makes of them what is shown."""
    rows = [
        table.column_names,
        *([cell(v) for v in row.values()] for row in read(table.slice(0, limit)).to_pylist()),
    ]
    widths = [max(breadth(row[i]) for row in rows) for i in range(len(table.column_names))]
    lines = [
        "  ".join(padded(text, width) for text, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]
    if table.num_rows > limit:
        lines.append(f"... {counted(table.num_rows - limit, 'more row')}")
    return "\n".join(lines)


def as_html(table: pa.Table, limit: int, read: Callable[[pa.Table], pa.Table] = lambda rows: rows) -> str:
    """The first rows of a table, as an HTML table; `read` makes of them what is shown."""
    head = "".join(f"<th>{html.escape(name)}</th>" for name in table.column_names)
    rows = "".join(
        "<tr>" + "".join(f"<td>{html.escape(cell(value))}</td>" for value in row.values()) + "</tr>"
        for row in read(table.slice(0, limit)).to_pylist()
    )
    more = f"<p>... {counted(table.num_rows - limit, 'more row')}</p>" if table.num_rows > limit else ""
    return f"<table><tr>{head}</tr>{rows}</table>{more}"
