"""The order of rows in tables: it follows from the rows, and not from how they came."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thalweg.io import order, sinks
from thalweg.io.fold import Folding
from thalweg.io.order import KEYS, OTHERS, in_order
from thalweg.io.rejects import REJECTED
from thalweg.io.sinks import TABLES, Files
from thalweg.io.write import Folder
from thalweg.language.rules import Kind
from thalweg.plans import Options, as_program, prepare
from thalweg.runs import drive

RULES = """
initiatedAt(on(X)=true, T) :- happensAt(press(X), T).
terminatedAt(on(X)=true, T) :- happensAt(release(X), T).
happensAt(both(X), T) :- happensAt(press(X), T), happensAt(release(X), T).
fi(on(X)=true, on(X)=warm, 30).
"""
NUMBERS = st.integers(-3, 3) | st.sampled_from([None, -(2**61), 2**61])
TEXTS = st.sampled_from([None, "", "a", "b", "ab", "ß", "B"])
LISTS = st.lists(st.sampled_from("ab"), max_size=2)
ANSWERS = pa.schema(
    [
        ("query", pa.string()),
        ("answer", pa.string()),
        ("time", pa.int64()),
        ("evidence", pa.list_(pa.string())),
        ("share", pa.float64()),
    ]
)


def by_hand(table: pa.Table, keys: tuple[str, ...]) -> list[dict[str, Any]]:
    """The plain-Python twin."""
    others = [name for name in table.column_names if name not in keys]
    names = [name for key in keys for name in (others if key == OTHERS else [key])]

    def place(value: Any, name: str) -> tuple[Any, ...]:
        return (1,) if value is None else (0, -value if name == "share" else value)

    return sorted(table.to_pylist(), key=lambda row: [place(row[name], name) for name in names])


@given(st.data())
def test_rows_are_sorted_by_their_keys_and_what_is_missing_comes_last(data: st.DataObject) -> None:
    kind, name, schema = data.draw(
        st.sampled_from(
            [
                *((Kind.EVENTS, name, schema) for name, schema in TABLES[Kind.EVENTS].items()),
                (Kind.ANSWERS, "open", ANSWERS),
                (Kind.LARS, "answers", TABLES[Kind.LARS]["answers"]),
            ]
        )
    )
    fields = {
        field.name: st.floats(0, 1) if pa.types.is_floating(field.type)
        else LISTS if pa.types.is_list(field.type) else NUMBERS if pa.types.is_integer(field.type) else TEXTS
        for field in schema
    }  # fmt: skip
    rows = data.draw(st.lists(st.fixed_dictionaries(fields), max_size=12))
    cut = data.draw(st.integers(0, 12))
    table = pa.concat_tables(pa.Table.from_pylist(part, schema) for part in (rows[:cut], rows[cut:]))
    assert in_order(name, table, kind).to_pylist() == by_hand(table, KEYS[kind].get(name, (OTHERS,)))


def presses() -> list[dict[str, Any]]:
    rng = Random(4)
    rows: list[dict[str, Any]] = [
        {"name": rng.choice(["press", "release"]), "time": rng.randint(1, 400), "x": f"lamp {rng.randint(1, 9)}"}
        for _ in range(400)
    ]
    for row in rows:
        row["arrival"] = row["time"] + rng.choice([0, 0, 0, 5, 90])
    rows += [{"name": "nobody", "time": t, "x": "a", "arrival": t} for t in range(1, 400, 7)]
    return sorted(rows, key=lambda row: int(row["arrival"]))


@pytest.mark.parametrize("room", [30, 1_000_000])
def test_files_do_not_hang_on_how_many_query_times_come_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, room: int
) -> None:
    monkeypatch.setattr(sinks, "Folding", partial(Folding, room=room))
    found = []
    for number, (enough, many) in enumerate([(1, 4), (50, 500_000), (1_000_000, 500_000)]):
        monkeypatch.setattr(order, "ENOUGH", enough)
        monkeypatch.setattr("thalweg.runs.MANY_ROWS", many)
        plan = prepare(as_program(RULES), presses(), Options(window=60, step=20, end=380))
        with Folder(tmp_path / str(number), "csv") as folder:
            files = Files(folder, plan.program.kind)
            drive(plan, files)
            files.finish()
        found.append({path.name: path.read_text() for path in (tmp_path / str(number)).iterdir()})
    assert set(found[0]) == {f"{name}.csv" for name in TABLES[Kind.EVENTS]}
    assert all(content.count("\n") > 3 for content in found[0].values())
    assert found[0] == found[1] == found[2]


def test_rejected_rows_wait_for_each_other(tmp_path: Path) -> None:
    shelf = order.Shelf(tmp_path / "rows", Kind.EVENTS)
    for source, row in (("b", 3), ("a", 10), ("a", 9)):
        shelf.add(pa.Table.from_pylist([{"source": source, "row": row, "reason": "too-late"}], REJECTED))
    rows = [row for piece in shelf.rows() for row in piece.to_pylist()]
    assert [(row["source"], row["row"]) for row in rows] == [("a", 9), ("a", 10), ("b", 3)]
    assert not list(tmp_path.iterdir())
