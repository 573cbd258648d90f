"""A pipeline as its last batch left it, whatever programs it was given since.

    before/<mark>/origin.json        settings and tables of then; the mark is that of the changed program's commit
    before/<mark>/1-3/...            the state of stage 1, shard 3

Changes of the program without a batch between them are one change: each begins here, and what the one before has added
to the tables is taken out again. So the former rules find what they left. The next batch puts an end to that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from thalweg.spark.checkpoint import Checkpoint, Commit, Stored, shard_key
from thalweg.spark.files import Directory
from thalweg.spark.orders import Order
from thalweg.spark.settings import Settings
from thalweg.spark.shard import Shard
from thalweg.spark.task import restored, store

BEFORE = "before"
ABOUT = "origin.json"


@dataclass(frozen=True, slots=True)
class Origin:
    """The settings and the sizes of the tables. `states` are the files with the states of shards, below `mark`; None
    where the program was not changed since, and the last commit has them."""

    settings: Settings
    tables: Mapping[str, int]
    mark: str
    states: Mapping[str, Stored] | None = None

    @property
    def is_earlier(self) -> bool:
        """True where the program was changed since."""
        return self.states is not None

    def shard(self, order: Order, number: int) -> Shard:
        """A shard as it was; the order is for the last commit."""
        if self.states is None:
            return restored(order, number)
        assert order.state is not None
        key = shard_key(order.stage, number)
        state, shard = self.states[key], Shard(self.settings, order.stage, number, lasting=True)
        shard.restore(order.state.read_checked(state.checksum, BEFORE, self.mark, key, state.name))
        shard.sources = order.sources
        return shard


def origin_of(checked: Checkpoint, last: Commit) -> Origin:
    """Where a changed program begins."""
    if not checked.directory.exists(BEFORE, last.mark, ABOUT):
        return Origin(checked.settings(), last.tables, last.mark)
    told = checked.directory.read_json(BEFORE, last.mark, ABOUT)
    states = {key: Stored(**stored) for key, stored in told["states"].items()}
    return Origin(Settings.of_json(told["settings"]), told["tables"], last.mark, states)


def keep_state(directory: Directory, mark: str, key: str, pieces: Sequence[bytes], batch: int) -> Stored:
    """Keep the state of a shard below a mark."""
    return store(directory, pieces, (BEFORE, mark, key), batch, "state")


def keep(directory: Directory, mark: str, origin: Origin, states: Mapping[str, Stored]) -> None:
    """Keep an origin whose states lie below a mark."""
    told = {"settings": origin.settings.as_json(), "tables": dict(origin.tables)}
    told["states"] = {key: asdict(stored) for key, stored in states.items()}
    directory.write_json(told, BEFORE, mark, ABOUT)


def forget(directory: Directory, but: str = "") -> None:
    """Forget what was kept, but for what lies below a mark."""
    for mark in directory.names(BEFORE):
        if mark != but:
            directory.delete(BEFORE, mark)
