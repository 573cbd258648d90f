"""One batch through all stages: look, shuffle, reason, commit.

The stages of a batch are one Spark job. Stage after stage, rows and the messages of earlier stages are shuffled to
their shards; a shuffle ends only when all of its rows are there, so a stage starts when the one before it has
gone to the batch's query time. Only notes of what was done come back to the driver.
"""

from __future__ import annotations

import json
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import pyarrow as pa

from thalweg.io.errors import InputError
from thalweg.runs import TOO_MANY, RowRejected
from thalweg.spark.checkpoint import Checkpoint, Commit, Lineage, Moment, shard_key
from thalweg.spark.outputs import Outputs
from thalweg.spark.routing import MESSAGE_SCHEMA, numbered, overlapping, shuffled
from thalweg.spark.settings import Settings, first_query
from thalweg.spark.survey import Survey, survey
from thalweg.spark.task import Note, Order, run_order

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

SORTED_ABOVE = 4_000_000
"""Rows per shard from which a batch is sorted by arrival, so that memory follows the window and not the batch."""


@dataclass(frozen=True, slots=True)
class BatchReport:
    """What a batch did."""

    batch: int
    moment: Moment
    rows: int
    rejected: dict[str, int]
    tables: dict[str, int]
    revised: int
    restored: int
    state_bytes: int
    seconds: dict[str, float] = field(default_factory=dict)


class Pipeline:
    """Runs batches. Without a checkpoint it keeps no state: one batch is all there is."""

    def __init__(
        self,
        settings: Settings,
        outputs: Outputs,
        checkpoint: Checkpoint | None = None,
        *,
        row: str | None = None,
    ) -> None:
        self.settings = settings
        self.outputs = outputs
        self.checkpoint = checkpoint
        self.row = row
        self.last: Commit | None = None
        if checkpoint is not None:
            self.settings = checkpoint.begin(settings)
            checkpoint.sweep()
            self.last = checkpoint.last()
            if self.last is not None:
                outputs.publish(self.last.batch, self.last.tables)

    # ------------------------------------------------------------------ a batch of a stream

    def batch(
        self, df: DataFrame, batch: int, *, now: int | None = None, idle: int | None = None
    ) -> BatchReport | None:
        """Take a batch; None where it has been taken before, or where it changes nothing. `now` is the time on the
        wall, which moves the clock when nothing has come for as long as `idle` (both in microseconds)."""
        if self.last is not None and batch <= self.last.batch:
            return None
        began = time.perf_counter()
        rows = numbered(df, self.settings, self.row, batch)
        seen = survey(rows, self.settings, self.last.moment.latest if self.last is not None else None)
        looked = time.perf_counter() - began
        moment = self._moment(seen)
        if moment is None:
            return None
        if seen.rows:
            moment = replace(moment, quiet=now if now is not None else moment.quiet)
        else:
            moment = self._pushed(moment, now, idle)
            if self.last is not None and moment.query_time == self.last.moment.query_time:
                return None
        report = self._run(rows, batch, moment, seen)
        report.seconds["survey"] = looked
        return report

    def _moment(self, seen: Survey) -> Moment | None:
        """The clock with what the batch brings; None where nothing has begun."""
        if self.last is not None:
            before = self.last.moment
        elif seen.first is None:
            return None
        else:
            before = self._start(seen)
        known = [time for time in (before.latest, seen.latest) if time is not None]
        latest = max(known, default=None)
        if latest is None:
            return before
        to = self.settings.plan.schedule.at_or_before(latest - self.settings.disorder - 1)
        return replace(before, latest=latest, query_time=max(before.query_time, to))

    def _pushed(self, moment: Moment, now: int | None, idle: int | None) -> Moment:
        """The clock after a silence: as far on as the time on the wall."""
        if (
            now is None
            or idle is None
            or moment.quiet is None
            or moment.latest is None
            or now - moment.quiet < idle
        ):
            return moment
        plan = self.settings.plan
        to = plan.schedule.at_or_before(moment.latest + (now - moment.quiet) // plan.clock.micros)
        return replace(moment, query_time=max(moment.query_time, to))

    def _start(self, seen: Survey) -> Moment:
        """Where the stream starts: where it was told to, or before the first batch."""
        if self.settings.options["start"] is None:
            assert seen.first is not None
            self.settings = self.settings.starting(first_query(self.settings, seen.first))
        else:
            self.settings = self.settings.starting(self.settings.plan.schedule.start)
        if self.checkpoint is not None:
            self.checkpoint.started(self.settings)
        start = self.settings.plan.schedule.start
        return Moment(start, start)

    def _run(
        self, rows: DataFrame, batch: int, moment: Moment, seen: Survey, *, ordered: bool = False
    ) -> BatchReport:
        """Run a batch and commit it."""
        began = time.perf_counter()
        mark = uuid.uuid4().hex
        self._check_distance(self.last.moment.query_time if self.last else moment.start, moment.query_time)
        order = self._order(batch, mark, moment.query_time, seen.latest)
        notes = self._job(rows, replace(order, ordered=ordered))
        reasoned = time.perf_counter()
        commit = self._commit(order, moment, seen.rows, notes)
        if self.checkpoint is not None:
            self.checkpoint.commit(commit, self.last)
        before, self.last = self.last, commit
        self.outputs.publish(batch, commit.tables)
        seconds = {
            "reason": reasoned - began,
            "commit": time.perf_counter() - reasoned,
            **_stage_seconds(notes),
        }
        return _report(commit, before, notes, seconds)

    def _order(self, batch: int, mark: str, to: int, limit: int | None, passing: bool = False) -> Order:
        return Order(
            settings=self.settings,
            stage=0,
            batch=batch,
            mark=mark,
            to=to,
            out=self.outputs.directory,
            lineages=dict(self.last.shards) if self.last is not None else {},
            state=self.checkpoint.directory if self.checkpoint is not None else None,
            passing=passing,
            limit=limit,
        )

    def _check_distance(self, now: int, to: int) -> None:
        if (to - now) // self.settings.plan.schedule.step > TOO_MANY:
            raise InputError(
                "step",
                f"there are more than {TOO_MANY:,} query times between {now} and the next row, at {to}",
                "is a time of one row wrong? limit how far the clock may jump (max_ahead), or choose a larger step",
            )

    def _job(self, rows: DataFrame, order: Order) -> list[Note]:
        """All stages as one Spark job."""
        self.outputs.clear(order.batch)
        messages: DataFrame | None = None
        for stage in range(len(self.settings.stages)):
            given = shuffled(rows, self.settings, stage, messages)
            if order.ordered:
                given = given.sortWithinPartitions(*self._arrival())
            messages = given.mapInArrow(_shard_function(replace(order, stage=stage)), MESSAGE_SCHEMA)
        assert messages is not None
        found = messages.where("kind = 'note'").select("content").toArrow().column(0)
        return [Note(**json.loads(content.as_py())) for content in found]

    def _arrival(self) -> list[str]:
        header = self.settings.header
        return [f"`{name}`" for name in (header.arrival or header.time or header.start,) if name is not None]

    def _commit(self, order: Order, moment: Moment, rows: int, notes: list[Note]) -> Commit:
        """What is valid after the batch."""
        tables = _summed(note.tables for note in notes)
        rejected = _summed(note.rejected for note in notes)
        if overlapping(self.settings):
            rejected = self.outputs.rejected_once(order.batch)
            tables["rejected"] = rejected.total()
        self._stop_at_the_first(notes)
        latest = [note.latest for note in notes if note.latest is not None]
        if moment.accepted is not None:
            latest.append(moment.accepted)
        totals = Counter(self.last.totals if self.last is not None else {})
        totals.update({f"rejected {reason}": count for reason, count in rejected.items()})
        totals.update({"rows": rows, "revised": sum(note.revised for note in notes)})
        return Commit(
            order.batch,
            order.mark,
            replace(moment, accepted=max(latest, default=None)),
            {shard_key(n.stage, n.shard): Lineage.of_json(n.lineage) for n in notes if n.lineage},
            dict(tables),
            dict(totals),
        )

    def _stop_at_the_first(self, notes: list[Note]) -> None:
        """Where the run was told so, a row that cannot be read ends it; late rows are no such rows."""
        bad = [note.first_rejected for note in notes if note.first_rejected and note.first_rejected["text"]]
        if bad and self.settings.options["on_error"] == "stop":
            first = min(bad, key=lambda row: row["row"])
            place = f"{first['source']}:{first['row']}"
            raise RowRejected(first["reason"], f"{place}: {first['detail']}", f"the row is: {first['text']}")

    # ------------------------------------------------------------------ the end of the input

    def whole(self, df: DataFrame) -> BatchReport | None:
        """Run all there is as one batch, to the query time at or after the last arrival. None: there is nothing."""
        rows = numbered(df, self.settings, self.row, 0)
        seen = survey(rows, self.settings, None)
        end = self.settings.plan.schedule.end
        if seen.first is None and end is None:
            return None
        before = self._start(replace(seen, first=seen.first if seen.first is not None else 0))
        ordered = seen.rows > SORTED_ABOVE * self.settings.stages[0].shards
        last = end if end is not None else seen.latest
        while last is not None:
            to = self.settings.plan.schedule.at_or_after(last)
            report = self._run(
                rows, 0, replace(before, latest=seen.latest, query_time=to), seen, ordered=ordered
            )
            accepted = report.moment.accepted
            if end is not None or accepted is None or self.settings.plan.schedule.at_or_after(accepted) == to:
                return report
            last, self.last = accepted, None
        return None

    def close(self, df: DataFrame) -> BatchReport | None:
        """Run the query times up to the one at or after the last arrival, as at the end of the input. The result is
        provisional: the next batch takes its place. None: there is nothing to run. `df` has the input's columns."""
        if self.last is None:
            return None
        schedule, moment = self.settings.plan.schedule, self.last.moment
        last = schedule.end if schedule.end is not None else moment.accepted
        to = moment.query_time if last is None else schedule.at_or_after(last)
        if to <= moment.query_time:
            return None
        self._check_distance(moment.query_time, to)
        batch = self.last.batch + 1
        order = self._order(batch, uuid.uuid4().hex, to, None, passing=True)
        notes = self._job(numbered(df.limit(0), self.settings, self.row, batch), order)
        commit = self._commit(order, replace(moment, query_time=to), 0, notes)
        self.outputs.publish(batch, commit.tables, provisional=True)
        return _report(commit, self.last, notes, _stage_seconds(notes))


def _report(
    commit: Commit, before: Commit | None, notes: list[Note], seconds: dict[str, float]
) -> BatchReport:
    known = before.totals if before is not None else {}
    new = {name: count - known.get(name, 0) for name, count in commit.totals.items()}
    rejected = {
        name.removeprefix("rejected "): n for name, n in new.items() if name.startswith("rejected ") and n
    }
    return BatchReport(
        batch=commit.batch,
        moment=commit.moment,
        rows=new["rows"],
        rejected=rejected,
        tables=dict(commit.tables),
        revised=new["revised"],
        restored=sum(note.restored for note in notes),
        state_bytes=commit.state_bytes,
        seconds=seconds,
    )


def _stage_seconds(notes: list[Note]) -> dict[str, float]:
    """For each stage the time of its slowest shard."""
    found: dict[str, float] = {}
    for note in notes:
        key = f"stage {note.stage}"
        found[key] = max(found.get(key, 0.0), note.seconds)
    return found


def _shard_function(order: Order) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return run_order(order, batches)

    return run


def _summed(counts: Iterable[dict[str, int]]) -> Counter[str]:
    total: Counter[str] = Counter()
    for each in counts:
        total.update(each)
    return total
