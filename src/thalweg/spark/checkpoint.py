"""Checkpoints: the settings of a pipeline, and after each batch one commit that makes state and tables valid together.

    pipeline.json            settings, written at the first start
    pipeline.next.json       settings of a changed program, until a commit makes them valid
    tables.json              where the tables are
    owner.json               who goes on with it: the process that was started last
    commits/00000012.json    the clock, the state of every shard, the tables of batch 12
    state/1-3/00000012...    what stage 1, shard 3 wrote in batch 12: a snapshot, or the rows it got
    spark/                   Spark's own checkpoint (offsets of the source)

A batch that has a commit is done, whatever happens; one that has none has left nothing that counts. The state of a
shard after batch n is its last snapshot, and since then for each batch the rows it got and the query time it
went to: rows are logged as long as that is less than writing the state anew, so that what is written
follows what changes.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from thalweg.io.errors import InputError
from thalweg.spark.files import DamagedFile, Directory
from thalweg.spark.places import Sources
from thalweg.spark.settings import FORMAT, Settings

NEXT = "pipeline.next.json"
OWNER = "owner.json"
_ANOTHER = "continue with what it was started with, or choose another checkpoint"


@dataclass(frozen=True, slots=True)
class Stored:
    """A file of the state."""

    name: str
    checksum: int
    size: int


@dataclass(frozen=True, slots=True)
class Step:
    """A batch in the life of a shard: the mark of its commit, the query time it went to, the rows it got. `stops`: the
    query times it went to before, and after how many pieces of these rows."""

    mark: str
    to: int
    rows: Stored | None = None
    stops: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Lineage:
    """How to get the state of a shard: a snapshot (None: a fresh reasoner) and the steps since. `mark` is that of
    the snapshot's batch."""

    mark: str = ""
    snapshot: Stored | None = None
    steps: tuple[Step, ...] = ()

    @property
    def last(self) -> str:
        """The mark of the state that this leads to."""
        return self.steps[-1].mark if self.steps else self.mark

    @property
    def logged(self) -> int:
        """Bytes of rows since the snapshot."""
        return sum(step.rows.size for step in self.steps if step.rows is not None)

    @property
    def size(self) -> int:
        """Bytes of state on disk."""
        return self.logged + (self.snapshot.size if self.snapshot is not None else 0)

    @property
    def files(self) -> set[str]:
        kept = {step.rows.name for step in self.steps if step.rows is not None}
        return kept | ({self.snapshot.name} if self.snapshot is not None else set())

    @staticmethod
    def of_json(told: Mapping[str, Any]) -> Lineage:
        def stored(given: Mapping[str, Any] | None) -> Stored | None:
            return None if given is None else Stored(**given)

        def step(given: Mapping[str, Any]) -> Step:
            stops = tuple((pieces, to) for pieces, to in given.get("stops", ()))
            return Step(given["mark"], given["to"], stored(given["rows"]), stops)

        steps = tuple(map(step, told["steps"]))
        return Lineage(told["mark"], stored(told["snapshot"]), steps)


@dataclass(frozen=True, slots=True)
class Moment:
    """The clock of a pipeline, the same for all shards. `latest` is the last arrival seen, `accepted` the last one of a
    row that was taken, `query_time` the last query time that was run. `quiet` is the processing
    time (microseconds) since when nothing came."""

    start: int
    query_time: int
    latest: int | None = None
    accepted: int | None = None
    quiet: int | None = None


@dataclass(frozen=True, slots=True)
class Commit:
    """What is valid after a batch. `mark` tells this attempt at the batch from others; `tables` has for each table the
    number of its rows in this batch, `files` that of its files in all batches; `totals` counts over all batches;
    `sources` are those that rows may still name. `edition` counts how often the program was changed after this batch,
    `identity` is that of the changed one."""

    batch: int
    mark: str
    moment: Moment
    shards: Mapping[str, Lineage] = field(default_factory=dict)
    tables: Mapping[str, int] = field(default_factory=dict)
    files: Mapping[str, int] = field(default_factory=dict)
    totals: Mapping[str, int] = field(default_factory=dict)
    sources: Sources = Sources(("input",))
    edition: int = 0
    identity: str | None = None

    @staticmethod
    def of_json(told: Mapping[str, Any]) -> Commit:
        shards = {key: Lineage.of_json(lineage) for key, lineage in told["shards"].items()}
        known = told["sources"]
        sources = Sources(tuple(known["labels"]), known["forgotten"], known["several"], known["offset"])
        moment = Moment(**told["moment"])
        names = ("batch", "mark", "tables", "files", "totals", "edition", "identity")
        plain = {name: told[name] for name in names}
        return Commit(**plain, moment=moment, shards=shards, sources=sources)

    @property
    def begun(self) -> bool:
        """False where no row so far had a time: rows were rejected, and nothing else."""
        return bool(self.shards)

    @property
    def state_bytes(self) -> int:
        return sum(lineage.size for lineage in self.shards.values())


def shard_key(stage: int, shard: int) -> str:
    """The name of a shard: its stage and its number."""
    return f"{stage}-{shard}"


def batch_name(batch: int) -> str:
    return f"{batch:08d}"


class Checkpoint:
    """The checkpoint in a directory."""

    def __init__(self, directory: Directory) -> None:
        self.directory = directory
        self._noted: Settings | None = None
        """The settings that were written last; a long program is not written twice."""
        self._token: str | None = None

    # ------------------------------------------------------------------ settings

    @property
    def begun(self) -> bool:
        return self.directory.exists("pipeline.json")

    def settings(self) -> Settings:
        """The settings; those of a changed program, where a commit has made them valid."""
        if self.directory.exists(NEXT):
            following, last = self._settings(NEXT), self.last()
            if last is not None and last.identity == following.identity:
                return following
        return self._settings("pipeline.json")

    def take(self) -> None:
        """Go on with this checkpoint: whoever did so before commits nothing any more."""
        self._token = uuid.uuid4().hex
        self.directory.write_json({"token": self._token}, OWNER)
        self.settle()

    def settle(self) -> None:
        """Bring a change of the program to its end, or clear away what is left of one that was not committed."""
        if self.directory.exists(NEXT):
            self.directory.write_json(self.settings().as_json(), "pipeline.json")
            self.directory.delete(NEXT)

    def refuse_taken(self) -> None:
        """Refuse to go on where another process does."""
        if self._token is not None and self.directory.read_json(OWNER) != {"token": self._token}:
            raise InputError(
                "checkpoint",
                f"another process goes on with {self.directory.address}: a second start, or thalweg migrate",
                "one at a time; nothing of the batch under way counts here",
            )

    def _settings(self, name: str) -> Settings:
        told = self.directory.read_json(name)
        try:
            if told["format"] == FORMAT:
                return Settings.of_json(told)
        except (KeyError, TypeError) as error:
            raise DamagedFile(self.directory.path(name), "cannot be read") from error
        raise InputError(
            "checkpoint",
            f"{self.directory.address} was written by another version: "
            f"its layout is {told['format']}, the one known here is {FORMAT}",
        )

    def begin(self, settings: Settings) -> Settings:
        """The settings to go on with: those of the first start, where there was one and Spark came to a batch. Others
        are refused."""
        kept = self.settings() if self.begun else None
        if kept is None or not (self.directory.names("spark", "offsets") or self._commits()):
            self.started(settings)
            return settings
        if kept.identity != settings.identity:
            raise InputError(
                "checkpoint",
                f"{self.directory.address} belongs to another {_difference(kept, settings)}",
                _ANOTHER
                + ("; a changed program takes it over: thalweg migrate" if kept.text != settings.text else ""),
            )
        _refuse_other_rows(self.directory.address, kept, settings)
        if kept.options["start"] is not None and settings.options["start"] is not None:
            was, wanted = kept.plan.schedule.start, settings.plan.schedule.start
            if was != wanted:
                raise InputError(
                    "checkpoint",
                    f"{self.directory.address} belongs to another run: it starts at {was}, not {wanted}",
                )
        return replace(
            kept,
            columns=settings.columns,
            event=settings.event,
            disorder=settings.disorder,
            max_ahead=settings.max_ahead,
        )

    def announce(self, settings: Settings) -> None:
        """Lay settings ready that the next commit will make valid."""
        self.directory.write_json(settings.as_json(), NEXT)

    @property
    def tables(self) -> Directory | None:
        """Where the tables are; None where nothing has been started yet."""
        if not self.directory.exists("tables.json"):
            return None
        return Directory(self.directory.read_json("tables.json")["directory"])

    def note_tables(self, directory: Directory) -> None:
        self.directory.write_json({"directory": directory.address}, "tables.json")

    def started(self, settings: Settings) -> None:
        """Note the settings: where the stream starts, once that is known."""
        if settings != self._noted:
            self.directory.write_json(settings.as_json(), "pipeline.json")
            self._noted = settings

    # ------------------------------------------------------------------ commits

    def last(self) -> Commit | None:
        """The last commit. A running stream may put the next one in its place while it is read."""
        names = self._commits()
        while names:
            try:
                return self._commit(names[-1])
            except DamagedFile:
                before, names = names, self._commits()
                if names == before:
                    raise
        return None

    def _commits(self) -> list[str]:
        return [name for name in self.directory.names("commits") if name.endswith(".json")]

    def _commit(self, name: str) -> Commit:
        told = self.directory.read_json("commits", name)
        try:
            return Commit.of_json(told)
        except (KeyError, TypeError) as error:
            raise DamagedFile(self.directory.path("commits", name), "cannot be read") from error

    def refuse_forgotten(self, last: Commit | None) -> None:
        """Refuse to go on where Spark does not know of the last batch: it would count from an earlier one, and what it
        then gives would be taken for what is done."""
        known = [int(name) for name in self.directory.names("spark", "offsets") if name.isdigit()]
        if last is not None and max(known, default=-1) < last.batch:
            raise DamagedFile(self.directory.path("spark", "offsets"), f"does not know of batch {last.batch}")

    def commit(self, commit: Commit, previous: Commit | None) -> None:
        """Make a batch valid, then clear away what no longer counts."""
        self.refuse_taken()
        self.directory.write_json(asdict(commit), "commits", f"{batch_name(commit.batch)}.json")
        if previous is None:
            return
        for key, lineage in previous.shards.items():
            for name in sorted(lineage.files - commit.shards[key].files):
                self.directory.delete("state", key, name)
        if previous.batch != commit.batch:
            self.directory.delete("commits", f"{batch_name(previous.batch)}.json")

    def sweep(self) -> None:
        """Clear away what attempts without a commit have left."""
        last = self.last()
        for key in self.directory.names("state"):
            kept = last.shards[key].files if last is not None and key in last.shards else set()
            for name in set(self.directory.names("state", key, passing=True)) - kept:
                self.directory.delete("state", key, name)


def located(given: str) -> Checkpoint:
    """The checkpoint in a directory, or inside the directory of the tables."""
    for place in (given, f"{given.rstrip('/')}/_checkpoint"):
        found = Checkpoint(Directory(place))
        if found.begun:
            return found
    raise InputError("checkpoint", f"{given} holds no checkpoint of a pipeline")


def _refuse_other_rows(address: str, kept: Settings, given: Settings) -> None:
    """Refuse rows whose times mean something else than those that the clock was moved by."""
    if bool(kept.columns) != bool(given.columns):
        was, wanted = ("a DataFrame", "files") if kept.columns else ("files that are followed", "a DataFrame")
        raise InputError("checkpoint", f"{address} belongs to a run over {was}, not over {wanted}", _ANOTHER)
    if kept.columns and (kept.header.arrival is None) != (given.header.arrival is None):
        has, have = ("without", "one") if kept.header.arrival is None else ("with", "none")
        told = f"{address} belongs to rows {has} a column `arrival`, and these have {have}"
        raise InputError("checkpoint", told, _ANOTHER)


def _difference(kept: Settings, given: Settings) -> str:
    if kept.text != given.text:
        return "program"
    if kept.shards != given.shards:
        return f"number of shards ({kept.shards}, not {given.shards})"
    names = [
        name for name, value in kept.options.items() if name != "start" and given.options.get(name) != value
    ]
    return f"run: {names[0].replace('_', '-')} is {kept.options[names[0]]}, not {given.options.get(names[0])}"
