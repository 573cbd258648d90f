"""The tables of a pipeline on disk: one directory per table, one partition per batch.

    changes/batch=00000012/part-0-00003.parquet      from stage 0, shard 3
    _staging/00000013/...                            of a batch that is not committed

Shards write to the staging area. When the batch is committed its directories take their places, each at once, and
replace what lies there; then the sinks are called. A crash in between is made good at the next start. Tables that say
how things stand keep only the last batch.
"""

from __future__ import annotations

import uuid
import warnings
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from thalweg.io.errors import InputError
from thalweg.io.fold import concatenate
from thalweg.io.rejects import REJECTED
from thalweg.io.sinks import STANDING, TABLES
from thalweg.io.write import plain
from thalweg.language.rules import Kind
from thalweg.language.wording import counted
from thalweg.spark.checkpoint import Commit, batch_name
from thalweg.spark.failures import told_plainly
from thalweg.spark.files import Directory, UnseenFile
from thalweg.spark.orders import LANDING, staging

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ABOUT = "_tables.json"
"""Says what lies in a directory of tables."""
OWNER = "_owner.json"
"""Says who writes there: who has started last."""
PUBLISHED = "_published.json"
"""Says which batches are there, in how many files."""

Sink = Callable[["DataFrame", int], None]
"""Takes the rows of a table in a batch, and the batch's number. It may be called again with the same number, and what
it gets then replaces what it got before."""


def standing(kind: str) -> frozenset[str]:
    """The tables that say how things stand."""
    return frozenset(STANDING[Kind(kind)])


def partition(batch: int) -> str:
    return f"batch={batch_name(batch)}"


def present(directory: Directory) -> list[str]:
    """The tables that have rows; whatever else lies in the directory is none."""
    names = [name for name in directory.names() if not name.startswith(("_", "."))]
    return [name for name in names if any(part.startswith("batch=") for part in directory.names(name))]


class LostFiles(UserWarning):
    """Files of the tables that are not in their places any more."""


@dataclass
class Outputs:
    """The tables in a directory, and the sinks that get them too."""

    directory: Directory
    kind: str
    spark: SparkSession | None = None
    sinks: Mapping[str, Sink] = field(default_factory=dict)
    _token: str | None = field(default=None, init=False)

    def clear(self, batch: int) -> None:
        """Make room for a batch."""
        self.directory.delete(*staging(batch))

    def staged(self, batch: int, tables: Mapping[str, int]) -> Counter[str]:
        """How many files of each table have been written for a batch. Refuses to go on where workers have written
        tables that are not to be seen from here."""
        found = Counter(name for name, *_ in self.directory.below(*staging(batch)))
        unseen = {name for name, rows in tables.items() if rows} - set(found)
        if unseen:
            raise UnseenFile(min(unseen), self.directory.address)
        return found

    def together(self, before: Mapping[str, int], files: Mapping[str, int]) -> dict[str, int]:
        """How many files each table has with those of another batch."""
        kept = {name: count for name, count in before.items() if name not in standing(self.kind)}
        return {name: kept.get(name, 0) + files.get(name, 0) for name in sorted({*kept, *files})}

    def rejected_once(self, batch: int) -> Counter[str]:
        """Where several shards get the same rows, leave each rejected row once; count them by reason. Rows that look
        alike are several, as many as one shard tells of; of those that are told without their text, no other tells."""
        place = (*staging(batch), "rejected")
        names = self.directory.names(*place)
        if not names:
            return Counter()
        told = [_counted(self.directory.table(*place, name), ([], "count_all")) for name in names]
        found = _counted(concatenate(told), ("count_all", "max"), ("count_all", "sum"))
        found = found.sort_by([(name, "ascending") for name in REJECTED.names])
        most, every = (found.column(f"count_all_{how}") for how in ("max", "sum"))
        times = pc.if_else(pc.is_valid(found.column("text")), most, every)
        table = found.select(REJECTED.names).take(pa.array(np.repeat(np.arange(len(times)), times)))
        self.directory.delete(*place)
        self.directory.write_table(table, *place, names[0])
        return Counter(table.column("reason").to_pylist())

    # ------------------------------------------------------------------ whose tables these are

    def replace(self) -> None:
        """Make room for a run over everything: an earlier one goes, the tables of a stream stay."""
        self._make()
        if self.directory.exists(ABOUT) and self.directory.read_json(ABOUT).get("stream"):
            raise self._taken("of a stream")
        self.directory.delete(LANDING)
        if not self.directory.exists(PUBLISHED):
            return
        self.directory.delete(PUBLISHED)
        for name in self.present():
            for part in self.directory.names(name):
                if part.startswith("batch="):
                    self.directory.delete(name, part)

    def claim(self, noted: Directory | None, last: Commit | None) -> None:
        """Make sure that these are the tables of a checkpoint: `noted` is where it says they are, `last` its last
        commit."""
        self._make()
        before = self.published()["batch"]
        if last is None:
            if before is not None and noted == self.directory:
                raise InputError(
                    "checkpoint",
                    f"the checkpoint does not know of batch {before} in {self.directory.address}: it is damaged, "
                    "or another run has written there",
                    "bring its directory `commits` back from a copy, or begin anew with another checkpoint and `out`",
                )
            if before is not None:
                raise self._taken("of another run")
        elif noted is not None and noted != self.directory and before != last.batch:
            raise InputError(
                "out",
                f"the checkpoint says that its tables are in {noted.address}, not in {self.directory.address}",
                "go on with these, or move them there",
            )
        elif before is None and self._lacks(last):
            raise InputError(
                "out",
                f"the tables of the checkpoint are not in {self.directory.address} any more",
                "put them back, or start with a new checkpoint",
            )

    def take(self) -> None:
        """Write these tables from now on: whoever did so before writes nothing any more."""
        self._token = uuid.uuid4().hex
        self.directory.write_json({"token": self._token}, OWNER)
        self.directory.delete(LANDING)

    def refuse_taken(self) -> None:
        """Refuse to go on where another run writes its tables."""
        if self._token is None:
            return
        if not self.directory.exists(OWNER) or self.directory.read_json(OWNER) != {"token": self._token}:
            raise InputError(
                "out",
                f"another run has begun to write its tables to {self.directory.address}",
                "give each run a directory of its own; nothing of the batch under way counts here",
            )

    def _lacks(self, last: Commit) -> bool:
        """True where nothing is left of what was written, not even what is there from the start."""
        return not (self.directory.exists(ABOUT) or self.present() or self.directory.names(*staging(last.batch)))

    def _make(self) -> None:
        with told_plainly():
            self.directory.make()

    def _taken(self, whose: str) -> InputError:
        return InputError("out", f"{self.directory.address} holds the tables {whose}", "choose another directory")

    # ------------------------------------------------------------------ whether they are whole

    def lost(self, last: Commit) -> dict[str, tuple[int, int]]:
        """The tables of which files are not in their places any more: how many, and how many there were. Nothing is
        told while those of the last commit, or a provisional one, are on their way there."""
        told = self.published()
        if told["files"] is None or (told["batch"], told["edition"]) != (last.batch, last.edition):
            return {}
        until = partition(last.batch if told["provisional"] is None else told["provisional"])
        there = {name: sum(path[0] <= until for path in self.directory.below(name)) for name in told["files"]}
        return {name: (count - there[name], count) for name, count in told["files"].items() if there[name] < count}

    def warn_of_lost(self, last: Commit) -> None:
        """Warn where tables are not whole. Nothing that is still to come hangs on them, and old batches may have been
        deleted on purpose."""
        lost = self.lost(last)
        if lost:
            told = ", ".join(f"{n} of the {counted(of, 'file')} of {name}" for name, (n, of) in lost.items())
            advice = "bring them back from a copy, unless they were deleted on purpose"
            warnings.warn(f"{self.directory.address} has lost {told}: {advice}", LostFiles, stacklevel=2)

    # ------------------------------------------------------------------ publishing

    def published(self) -> dict[str, Any]:
        """The last batch that is in place, and the provisional one after it. `untold` are batches that were changed
        together with the program, or taken back, of which no sinks have been told. `files` has for each table how many
        there are; None while those of a provisional batch take their places."""
        if not self.directory.exists(PUBLISHED):
            return {"batch": None, "provisional": None, "edition": 0, "untold": [], "files": None}
        found: dict[str, Any] = self.directory.read_json(PUBLISHED)
        return found

    def publish(self, commit: Commit, *, provisional: bool = False) -> None:
        """Put the tables of a batch in their places; nothing happens where they are already there. Another edition of a
        batch, after the program was changed, takes the place of the one before, and any batch that of what was
        provisional, whatever the number of that."""
        before = self.published()
        batch, tables, edition = commit.batch, commit.tables, commit.edition
        if not provisional and (before["batch"], before["edition"]) == (batch, edition):
            self._tell(before)
            return
        replaces = before["provisional"] == batch
        changed = {*before["untold"], batch} if edition else {*before["untold"]}
        if before["provisional"] is not None and (edition or not replaces):
            for name in self.present():
                self.directory.delete(name, partition(before["provisional"]))
            changed.add(before["provisional"])
        if provisional:  # a crash while they take their places leaves something that the next batch has to replace
            told = {**before, "provisional": batch, "untold": sorted(changed), "files": None}
            self.directory.write_json(told, PUBLISHED)
        staged = set(self.directory.names(*staging(batch)))
        for name in sorted(staged | set(tables) | (set(self.present()) if replaces else set())):
            self._place(name, batch, name in staged, tables.get(name, 0), replaces)
        self.directory.delete(*staging(batch))
        if not provisional:
            told = {"batch": batch, "provisional": None, "edition": edition, "untold": sorted(changed)}
        told["files"] = dict(commit.files)
        self.directory.write_json(told, PUBLISHED)
        if not provisional:
            self._tell(told)

    def _tell(self, published: dict[str, Any]) -> None:
        """Give the sinks, where there are some, what has changed since they got it."""
        if published["untold"] and self.sinks:
            for batch in published["untold"]:
                for name, sink in self.sinks.items():
                    sink(self.table(name, batch), batch)
            self.directory.write_json({**published, "untold": []}, PUBLISHED)

    def _place(self, name: str, batch: int, staged: bool, rows: int, replaces: bool) -> None:
        target = (name, partition(batch))
        if staged:
            self.directory.move((*staging(batch), name), target)
        elif rows == 0:
            self.directory.delete(*target)
        if name in standing(self.kind):
            for other in self.directory.names(name):
                if other != partition(batch):
                    self.directory.delete(name, other)
        if name in self.sinks and (rows or replaces):
            self.sinks[name](self.table(name, batch), batch)

    def present(self) -> list[str]:
        """The tables that have rows."""
        return present(self.directory)

    # ------------------------------------------------------------------ reading

    def table(self, name: str, batch: int) -> DataFrame:
        """The rows of one batch."""
        assert self.spark is not None, "sinks need a session"
        if self.directory.exists(name, partition(batch)):
            return self.spark.read.parquet(self.directory.readable(name, partition(batch)))
        return empty(self.spark, schema_of(name, self.kind))


def _counted(rejected: pa.Table, *how: tuple[Any, str]) -> pa.Table:
    """Each rejected row once, and numbers from `how` often it is there."""
    return pa.TableGroupBy(rejected, REJECTED.names, use_threads=False).aggregate(list(how))


def schema_of(name: str, kind: str) -> pa.Schema:
    """The columns of a table that every run has."""
    return TABLES[Kind(kind)].get(name, REJECTED if name == "rejected" else pa.schema([]))


def empty(spark: SparkSession, schema: pa.Schema) -> DataFrame:
    """A table without rows."""
    return spark.createDataFrame(plain(schema.empty_table()))
