"""Tables as files: complete or not at all, readable by others, replaced but never by accident."""

from __future__ import annotations

import json
import resource
import signal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from thalweg.io.errors import InputError
from thalweg.io.write import SUMMARY, Folder

TABLE = pa.table(
    {
        "fluent": pa.array(["f(a)", 'say "hi"', "f(ü)", None]).dictionary_encode(),
        "start": [1, 2, 3, 4],
        "end": [None, 5, 6, 7],
        "cause": ["x,y", "line\nbreak", None, ""],
    }
)


def test_a_parquet_folder_holds_every_piece_of_a_table(tmp_path: Path) -> None:
    with Folder(tmp_path / "out", "parquet") as folder:
        folder.write("timeline", TABLE.slice(0, 2))
        folder.write("timeline", TABLE.slice(2))
    assert pq.read_table(tmp_path / "out" / "timeline.parquet").to_pylist() == TABLE.to_pylist()


def test_json_lines_are_json(tmp_path: Path) -> None:
    with Folder(tmp_path / "out", "jsonl") as folder:
        folder.write("timeline", TABLE)
    lines = (tmp_path / "out" / "timeline.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in lines] == TABLE.to_pylist()


def test_csv_has_a_header_and_empty_fields_for_what_is_missing(tmp_path: Path) -> None:
    with Folder(tmp_path / "out", "csv") as folder:
        folder.write("timeline", TABLE.slice(0, 1))
    assert (
        tmp_path / "out" / "timeline.csv"
    ).read_text() == '"fluent","start","end","cause"\n"f(a)",1,,"x,y"\n'


@pytest.mark.parametrize("form", ["parquet", "csv", "jsonl"])
def test_an_empty_table_is_written_too(tmp_path: Path, form: str) -> None:
    with Folder(tmp_path / "out", form) as folder:
        folder.write("timeline", TABLE.slice(0, 0))
    assert (tmp_path / "out" / f"timeline.{form}").exists()


def test_a_failure_leaves_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), Folder(tmp_path / "out", "parquet") as folder:
        folder.write("timeline", TABLE)
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []


def test_a_failure_leaves_an_earlier_result_as_it_was(tmp_path: Path) -> None:
    with Folder(tmp_path / "out", "parquet") as folder:
        folder.write("timeline", TABLE)
        folder.note(SUMMARY, {})
    with pytest.raises(RuntimeError), Folder(tmp_path / "out", "parquet") as folder:
        folder.write("timeline", TABLE.slice(0, 1))
        raise RuntimeError
    assert pq.read_table(tmp_path / "out" / "timeline.parquet").num_rows == 4
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


def test_an_earlier_result_is_replaced_as_a_whole(tmp_path: Path) -> None:
    with Folder(tmp_path / "out", "csv") as folder:
        folder.write("changes", TABLE)
        folder.note(SUMMARY, {})
    with Folder(tmp_path / "out", "parquet") as folder:
        folder.write("timeline", TABLE)
    assert [p.name for p in (tmp_path / "out").iterdir()] == ["timeline.parquet"]
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


def test_a_directory_with_other_files_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.tex").write_text("three years of work")
    with pytest.raises(InputError, match=r"holds other files, such as thesis\.tex"):
        Folder(tmp_path / "out", "parquet")
    assert (tmp_path / "out" / "thesis.tex").exists()


def test_a_directory_with_tables_that_no_run_has_written_is_left_alone(tmp_path: Path) -> None:
    """Somebody's events, named as the output by mistake."""
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "events.csv").write_text("press|1|1|lamp\n")
    with pytest.raises(InputError, match=r"holds other files, such as events\.csv"):
        Folder(tmp_path / "data", "parquet")
    assert (tmp_path / "data" / "events.csv").exists()


def test_an_empty_directory_may_be_filled(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    with Folder(tmp_path / "out", "csv") as folder:
        folder.write("timeline", TABLE)
    assert (tmp_path / "out" / "timeline.csv").exists()


def test_a_target_that_is_a_file_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("")
    with pytest.raises(InputError, match="is no directory"):
        Folder(tmp_path / "out", "parquet")


def test_an_unknown_format_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="format xlsx is none of parquet, csv, jsonl"):
        Folder(tmp_path / "out", "xlsx")


def test_rows_of_several_groups_keep_their_texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A table of many words, cut into row groups: each group names only its own words."""
    monkeypatch.setattr("thalweg.io.write.ROW_GROUP", 1000)
    words = [f"f({i})" for i in range(3000)]
    table = pa.table({"fluent": pa.array(words[::-1]).dictionary_encode(), "start": range(3000)})
    with Folder(tmp_path / "out", "parquet") as folder:
        folder.write("timeline", table)
    written = pq.ParquetFile(tmp_path / "out" / "timeline.parquet")
    assert written.read().to_pylist() == table.to_pylist()
    assert written.num_row_groups == 3
    whole = pq.ParquetFile(tmp_path / "out" / "timeline.parquet").read_row_group(0, columns=["fluent"])
    assert whole.column("fluent").to_pylist() == words[:1999:-1]
    sizes = [written.metadata.row_group(k).column(0).total_uncompressed_size for k in range(3)]
    assert max(sizes) < 1000 * 20


def test_small_pieces_make_one_row_group(tmp_path: Path) -> None:
    """Pieces with dictionaries of their own, as they come from many small files."""
    pieces = [
        pa.table({"fluent": pa.array([f"f({k})", "f(a)"]).dictionary_encode(), "start": [k, k]})
        for k in range(50)
    ]
    with Folder(tmp_path / "out", "parquet") as folder:
        for piece in pieces:
            folder.write("timeline", piece)
    written = pq.ParquetFile(tmp_path / "out" / "timeline.parquet")
    assert written.num_row_groups == 1
    assert written.read().to_pylist() == [row for piece in pieces for row in piece.to_pylist()]


def test_parquet_says_which_rows_a_group_holds(tmp_path: Path) -> None:
    """Readers skip row groups by the bounds of the times, and of the text that a table is sorted by."""
    table = pa.table({"fluent": pa.array(["f(a)", "f(b)"]).dictionary_encode(), "start": [3, 9]})
    with Folder(tmp_path / "out", "parquet") as folder:
        folder.write("timeline", table)
    group = pq.ParquetFile(tmp_path / "out" / "timeline.parquet").metadata.row_group(0)
    bounds = [(group.column(k).statistics.min, group.column(k).statistics.max) for k in range(2)]
    assert bounds == [("f(a)", "f(b)"), (3, 9)]


@pytest.mark.parametrize("form", ["parquet", "csv", "jsonl"])
def test_a_full_disk_is_one_clear_message_and_nothing_is_left(tmp_path: Path, form: str) -> None:
    """Files may not grow here, as on a disk without room."""
    many = pa.table({"fluent": [f"f({i * 7919 % 99991})" for i in range(50_000)], "start": range(50_000)})
    allowed = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, allowed[1]))
    try:
        with (
            pytest.raises(InputError, match=r"cannot write to .*out: File too large"),
            Folder(tmp_path / "out", form) as folder,
        ):
            folder.write("timeline", many)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, allowed)
        signal.signal(signal.SIGXFSZ, ignored)
    assert list(tmp_path.iterdir()) == []
