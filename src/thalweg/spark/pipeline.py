"""One batch after the other: look at it, move the clock, let the shards reason, commit.

How rows get to the shards is the engine's business; when a batch is valid, and what the clock says, is decided here.
"""

from __future__ import annotations

import time
import uuid
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from thalweg.plans import first_query
from thalweg.reasons import TOO_FAR_AHEAD, UNREADABLE
from thalweg.runs import RowRejected
from thalweg.spark.checkpoint import Checkpoint, Commit, Lineage, Moment, shard_key
from thalweg.spark.failures import told_plainly
from thalweg.spark.orders import Note, Order, most_unsorted
from thalweg.spark.outputs import Outputs, standing
from thalweg.spark.places import Sources
from thalweg.spark.routing import overlapping
from thalweg.spark.settings import Settings
from thalweg.spark.survey import Survey

MOST_GOES = 3
"""How often a run over everything is begun again at most: two are enough, but where the rows are others each time, as
with the current time in them."""


@dataclass(frozen=True, slots=True)
class BatchReport:
    """What a batch did. Where readers of files have looked at the rows, `waiting` of them are about times after the
    last query time, and `names` are those of the rows that were taken."""

    batch: int
    moment: Moment
    rows: int
    accepted: int
    unread: int
    waiting: int
    names: tuple[str, ...]
    rejected: dict[str, int]
    tables: dict[str, int]
    revised: int
    restored: int
    state_bytes: int
    seconds: dict[str, float] = field(default_factory=dict)


class Engine(Protocol):
    """Brings the rows of a batch to the shards. What a batch is, only the engine knows."""

    sorts: bool
    """True where it can bring rows in the order of arrival."""

    def numbered(
        self, df: Any, settings: Settings, batch: int, before: Sources | None
    ) -> tuple[Any, Sources]:
        """The rows of a batch with the columns that are read, and row numbers; and the sources that these stand for.
        `before`: the sources of earlier batches."""

    def release(self) -> None:
        """What was kept of the last batch may go."""

    def follows(self, rows: Any) -> bool:
        """True where a first look would cost more than letting each shard see in its own rows how far it can go."""

    def survey(self, rows: Any, settings: Settings, clock: int | None) -> Survey:
        """A first look at the rows."""

    def run(self, rows: Any, order: Order) -> list[Note]:
        """Carry out the order in every shard of every stage; without rows (None) only the clock moves."""


class Pipeline:
    """Runs batches. Without a checkpoint it keeps no state: one batch is all there is."""

    def __init__(
        self,
        settings: Settings,
        outputs: Outputs,
        engine: Engine,
        checkpoint: Checkpoint | None = None,
    ) -> None:
        self.settings = settings
        self.outputs = outputs
        self.engine = engine
        self.checkpoint = checkpoint
        self.last: Commit | None = None
        self.provisional: Commit | None = None
        """What would be valid if the input ended here; the next batch takes its place."""
        if checkpoint is not None:
            self.settings = checkpoint.begin(settings)
            outputs.claim(checkpoint.tables, checkpoint.last())
            checkpoint.take()
            outputs.take()
            self.last = checkpoint.last()
            checkpoint.note_tables(outputs.directory)
            checkpoint.sweep()
            if self.last is not None:
                outputs.publish(self.last)
                outputs.warn_of_lost(self.last)

    # ------------------------------------------------------------------ a batch of a stream

    def batch(
        self, df: Any, batch: int, *, now: int | None = None, idle: int | None = None
    ) -> BatchReport | None:
        """Take a batch; None where it has been taken before, or where it changes nothing. `now` is the time on the
        wall, which moves the clock when nothing has come for as long as `idle` (both in microseconds)."""
        if self.last is not None and batch <= self.last.batch:
            return None
        try:
            return self._batch(df, batch, now, idle)
        finally:
            self.engine.release()

    def _batch(self, df: Any, batch: int, now: int | None, idle: int | None) -> BatchReport | None:
        began = time.perf_counter()
        before = self.last.sources if self.last is not None else None
        rows, sources = self.engine.numbered(df, self.settings, batch, before)
        if idle is None and self._may_follow and self.engine.follows(rows):
            return self._followed(rows, sources, batch)
        seen = self._survey(rows, self.last.moment.latest if self.last is not None else None)
        looked = time.perf_counter() - began
        moment = self._moment(seen)
        if moment is None:
            return self._untimed(rows, sources, batch, seen) if seen.rows else None
        if seen.rows:
            moment = replace(moment, quiet=now)
        else:
            if idle is not None and moment.quiet is None:  # the last rows came without a look at the wall
                moment = replace(moment, quiet=now)
            moment = self._pushed(moment, now, idle)
            if self.last is not None and moment == self.last.moment:
                return None
        report = self._run(rows if seen.rows else None, sources, batch, moment, seen)
        report.seconds["survey"] = looked
        return report

    def _survey(self, rows: Any, clock: int | None) -> Survey:
        with told_plainly():
            return self.engine.survey(rows, self.settings, clock)

    @property
    def _begun(self) -> Commit | None:
        """The last commit, where the clock has started."""
        return self.last if self.last is not None and self.last.begun else None

    def _untimed(self, rows: Any, sources: Sources, batch: int, seen: Survey) -> BatchReport:
        """Reject the rows of a batch none of which has a time, where none had one before: the stream starts later."""
        began = time.perf_counter()
        order = replace(
            self._order(batch, uuid.uuid4().hex, 0, None, sources, passing=True), settings=self.settings.starting(0)
        )
        return self._concluded(order, Moment(0, 0), seen.rows, self._job(rows, order), began)

    def _moment(self, seen: Survey) -> Moment | None:
        """The clock with what the batch brings; None where nothing has begun."""
        if self._begun is not None:
            before = self._begun.moment
        elif seen.first is None:
            return None
        else:
            before = self._start(seen)
        return self._moved(before, seen.latest)

    def _moved(self, before: Moment, arrival: int | None) -> Moment:
        """The clock when a row has arrived."""
        known = [time for time in (before.latest, arrival) if time is not None]
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
            plan = self.settings.plan
            self.settings = self.settings.starting(first_query(plan.program.kind, seen.first, plan.schedule.step))
        else:
            self.settings = self.settings.starting(self.settings.plan.schedule.start)
        if self.checkpoint is not None:
            self.checkpoint.started(self.settings)
        start = self.settings.plan.schedule.start
        return Moment(start, start)

    def _run(self, rows: Any, sources: Sources, batch: int, moment: Moment, seen: Survey) -> BatchReport:
        """Run a batch and commit it."""
        began = time.perf_counter()
        known = moment.latest
        before = self._begun.moment if self._begun else Moment(moment.start, moment.start)
        if rows is not None:  # one that is very far away may be that of a row that cannot be read
            to = self.settings.plan.schedule.believed(before.query_time, moment.query_time)
            moment = replace(moment, query_time=to)
        while True:
            self._check_distance(before.query_time, moment.query_time)
            order = self._order(batch, uuid.uuid4().hex, moment.query_time, known, sources)
            notes = self._job(rows, order)
            reached = replace(self._moved(before, _latest(notes)), quiet=moment.quiet)
            if rows is None or reached.query_time == moment.query_time:
                return self._concluded(order, moment, seen.rows, notes, began)
            moment = reached  # the last row was one that could not be read: time has not gone that far

    def _concluded(
        self, order: Order, moment: Moment, rows: int, notes: list[Note], began: float
    ) -> BatchReport:
        """Commit a batch that has been run."""
        reasoned = time.perf_counter()
        commit = self._commit(order, moment, rows, notes)
        self.outputs.refuse_taken()
        if self.checkpoint is not None:
            self.checkpoint.commit(commit, self.last)
        before, self.last, self.provisional = self.last, commit, None
        self.outputs.publish(commit)
        seconds = {
            "reason": reasoned - began,
            "commit": time.perf_counter() - reasoned,
            **_stage_seconds(notes),
        }
        return _report(commit, before, notes, seconds)

    # ------------------------------------------------------------------ without a first look

    @property
    def _may_follow(self) -> bool:
        """True where a batch needs no first look: each shard finds in its own rows how far it can go, and those
        that are left behind by others follow. Not where the first row decides on the start, where a wrong clock is to
        be found out, or where other stages wait for what a shard finds."""
        return (
            self.settings.max_ahead is None
            and len(self.settings.stages) == 1
            and not overlapping(self.settings)
            and (self._begun is not None or self.settings.options["start"] is not None)
        )

    def _followed(self, rows: Any, sources: Sources, batch: int) -> BatchReport | None:
        """Run a batch that nobody has looked at, and commit it; None where there was nothing in it."""
        began = time.perf_counter()
        before = self._begun.moment if self._begun is not None else self._start(Survey(0, None, None))
        order = self._order(batch, uuid.uuid4().hex, before.query_time, None, sources)
        order = replace(order, follows=True)
        notes = self._job(rows, order)
        size = sum(note.rows for note in notes)
        if not size:
            self.outputs.clear(batch)
            return None
        moment = self._moved(before, _latest(notes))
        self._check_distance(before.query_time, moment.query_time)
        if any(note.to < moment.query_time for note in notes):
            notes = self._caught_up(order, notes, moment.query_time)
        return self._concluded(order, moment, size, notes, began)

    def _caught_up(self, order: Order, notes: list[Note], to: int) -> list[Note]:
        """Let the shards that others have left behind go on to the same query time."""
        reached = {shard_key(n.stage, n.shard): Lineage.of_json(n.lineage) for n in notes if n.lineage}
        further = replace(
            order, mark=uuid.uuid4().hex, to=to, follows=False, again=True, lineages={**order.lineages, **reached}
        )
        with told_plainly():
            later = {note.shard: note for note in self.engine.run(None, further)}
        return [_both(note, later[note.shard], standing(self.settings.kind)) for note in notes]

    def _order(
        self, batch: int, mark: str, to: int, limit: int | None, sources: Sources, *, passing: bool = False
    ) -> Order:
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
            sources=sources,
        )

    def _check_distance(self, now: int, to: int) -> None:
        advice = "is that time right? limit how far the clock may jump (max_ahead), or choose a larger step"
        self.settings.plan.schedule.refuse_too_many(now, to, advice)

    def _refuse_taken(self) -> None:
        """Refuse to go on where another run does, with the checkpoint or with the tables."""
        if self.checkpoint is not None:
            self.checkpoint.refuse_taken()
        self.outputs.refuse_taken()

    def _job(self, rows: Any, order: Order) -> list[Note]:
        """All stages, each with all of its shards; without rows, only the clock moves."""
        self._refuse_taken()
        self.outputs.clear(order.batch)
        try:
            with told_plainly():
                notes = self.engine.run(rows, order)
        except Exception:
            self._refuse_taken()  # whoever has begun to write here has cleared away what had landed
            raise
        expected = {(i, shard) for i, stage in enumerate(self.settings.stages) for shard in range(stage.shards)}
        found = [(note.stage, note.shard) for note in notes if note.stage >= 0]
        if sorted(found) != sorted(expected):
            raise RuntimeError(f"shards were run that should not, or not run that should: {sorted(found)}")
        return notes

    def _commit(self, order: Order, moment: Moment, rows: int, notes: list[Note]) -> Commit:
        """What is valid after the batch."""
        tables = _summed(note.tables for note in notes)
        files = self.outputs.staged(order.batch, tables)
        rejected = _summed(note.rejected for note in notes)
        if overlapping(self.settings):
            rejected = self.outputs.rejected_once(order.batch)
            tables["rejected"] = rejected.total()
            files["rejected"] = min(1, rejected.total())
        self._stop_at_the_first(notes)
        latest = [time for time in (_latest(notes), moment.accepted) if time is not None]
        totals = Counter(self.last.totals if self.last is not None else {})
        totals.update({f"rejected {reason}": count for reason, count in rejected.items()})
        totals.update(_read(notes, rows, rejected))
        totals["revised"] += sum(note.revised for note in notes)
        return Commit(
            order.batch,
            order.mark,
            replace(moment, accepted=max(latest, default=None)),
            {shard_key(n.stage, n.shard): Lineage.of_json(n.lineage) for n in notes if n.lineage},
            dict(tables),
            self.outputs.together(self.last.files if self.last is not None else {}, files),
            dict(totals),
            order.sources,
        )

    def _stop_at_the_first(self, notes: list[Note]) -> None:
        """Where the run was told so, a row that cannot be read ends it; late rows are no such rows."""
        bad = [note.first_rejected for note in notes if note.first_rejected and note.first_rejected["text"]]
        if bad and self.settings.options["on_error"] == "stop":
            first = min(bad, key=lambda row: row["row"])
            place = f"{first['source']}:{first['row']}"
            raise RowRejected(first["reason"], f"{place}: {first['detail']}", f"the row is: {first['text']}")

    # ------------------------------------------------------------------ the end of the input

    def whole(self, df: Any) -> BatchReport | None:
        """Run all there is as one batch, to the query time at or after the last arrival. None: there is nothing."""
        try:
            return self._whole(df)
        finally:
            self.engine.release()

    def _whole(self, df: Any) -> BatchReport | None:
        rows, sources = self.engine.numbered(df, self.settings, 0, None)
        seen = self._survey(rows, None)
        schedule = self.settings.plan.schedule
        if not seen.rows and schedule.end is None:
            return None
        before = self._start(replace(seen, first=seen.first if seen.first is not None else 0))
        schedule = self.settings.plan.schedule
        last = schedule.end if schedule.end is not None else seen.latest
        to = schedule.start if last is None else schedule.at_or_after(last)
        if schedule.end is None:
            to = schedule.believed(schedule.start, to)
        ordered = self.engine.sorts and seen.rows > most_unsorted(self.settings)
        goes = 0
        while True:
            moment = replace(before, latest=seen.latest, query_time=to)
            self._check_distance(moment.start, to)
            order = replace(self._order(0, uuid.uuid4().hex, to, seen.latest, sources), ordered=ordered)
            notes = self._job(rows if seen.rows else None, order)
            # The last row may have been one that could not be read: then time has not gone that far.
            accepted = _latest(notes)
            reached = schedule.start if accepted is None else schedule.at_or_after(accepted)
            goes += 1
            if schedule.end is not None or reached == to or goes == MOST_GOES:
                break
            to = reached
        commit = self._commit(order, moment, seen.rows, notes)
        self.outputs.publish(commit)
        return _report(commit, None, notes, _stage_seconds(notes))

    def close(self) -> BatchReport | None:
        """Run the query times up to the one at or after the last arrival, as at the end of the input. The result is
        provisional: the next batch takes its place. None: there is nothing to run."""
        if self.last is None or not self.last.begun:
            return None
        schedule, moment = self.settings.plan.schedule, self.last.moment
        last = schedule.end if schedule.end is not None else moment.accepted
        to = moment.query_time if last is None else schedule.at_or_after(last)
        if to <= moment.query_time:
            return None
        self._check_distance(moment.query_time, to)
        batch = self.last.batch + 1
        order = self._order(batch, uuid.uuid4().hex, to, None, self.last.sources, passing=True)
        notes = self._job(None, order)
        commit = replace(self._commit(order, replace(moment, query_time=to), 0, notes), shards=self.last.shards)
        self._refuse_taken()
        self.outputs.publish(commit, provisional=True)
        self.provisional = commit
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
        accepted=new["accepted"],
        unread=new["unread"],
        waiting=sum(note.waiting for note in notes),
        names=tuple(sorted({name for note in notes for name in note.names})),
        rejected=rejected,
        tables=dict(commit.tables),
        revised=new["revised"],
        restored=sum(note.restored for note in notes),
        state_bytes=commit.state_bytes,
        seconds=seconds,
    )


def _both(first: Note, then: Note, replaced: frozenset[str]) -> Note:
    """What a shard did in two goes; of the tables that say how things stand the last ones count."""
    tables = {**_summed((first.tables, then.tables)), **{n: then.tables[n] for n in replaced if n in then.tables}}
    return replace(
        then,
        rows=first.rows,
        unread=first.unread,
        latest=first.latest,
        rejected=dict(_summed((first.rejected, then.rejected))),
        tables=tables,
        revised=first.revised + then.revised,
        first_rejected=first.first_rejected or then.first_rejected,
        restored=first.restored + then.restored,
        seconds=first.seconds + then.seconds,
    )


def _read(notes: list[Note], rows: int, rejected: Counter[str]) -> dict[str, int]:
    """Rows that came, that could be read, and that lie after the end. Readers of files have counted them."""
    readers = [note for note in notes if note.stage < 0]
    rows = sum(note.rows for note in readers) if readers else rows
    unread = sum(note.unread for note in readers or [note for note in notes if note.stage == 0])
    refused = sum(count for reason, count in rejected.items() if reason in UNREADABLE or reason == TOO_FAR_AHEAD)
    return {"rows": rows, "accepted": rows - refused - unread, "unread": unread}


def _latest(notes: list[Note]) -> int | None:
    """The last arrival of a row that was taken."""
    return max((note.latest for note in notes if note.latest is not None), default=None)


def _stage_seconds(notes: list[Note]) -> dict[str, float]:
    """For each stage the time of its slowest shard."""
    found: dict[str, float] = {}
    for note in notes:
        key = f"stage {note.stage}"
        found[key] = max(found.get(key, 0.0), note.seconds)
    return found


def _summed(counts: Iterable[dict[str, int]]) -> Counter[str]:
    total: Counter[str] = Counter()
    for each in counts:
        total.update(each)
    return total
