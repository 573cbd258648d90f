"""The kernels over text, against plain-Python twins."""

from __future__ import annotations

import re

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from thalweg.io.delimited import split
from thalweg.io.kernels import split_fields, survey_lines
from thalweg.io.rtec import survey_block
from thalweg.io.times import Clock, Extent

TEXT = st.text(st.sampled_from("ab1|-+ \n"), max_size=60).map(lambda text: text + "\n")
LINE = st.one_of(
    st.builds(
        "{}{}|{}|{}{}".format,
        st.sampled_from(["", "+|", "-|"]),
        st.sampled_from(["e", "walk", "+x"]),
        st.integers(-(10**20), 10**20) | st.integers(-50, 50),
        st.integers(-50, 50),
        st.sampled_from(["", "|a", "|a|b", "|"]),
    ),
    st.sampled_from(["", "e", "e|1", "e|x|2|a", "e|1|2022-01-03|a", "e||3", "e|+5|5", "-", "+|e", "e|1.0|2"]),
)


def fields_by_hand(text: str) -> list[list[str]]:
    return [line.split("|") for line in text.split("\n")[:-1]]


@given(TEXT)
def test_the_fields_of_a_block_are_those_of_its_lines(text: str) -> None:
    block = np.frombuffer(text.encode(), np.uint8)
    lines, fields = text.count("\n"), text.count("\n") + text.count("|")
    kept, offsets = np.empty(len(block), np.uint8), np.empty(fields + 1, np.int32)
    ends, first = np.empty(lines, np.int64), np.empty(lines + 1, np.int64)
    size = split_fields(block, ord("|"), kept, offsets, ends, first)
    words = kept[:size].tobytes().decode()
    found = [words[a:b] for a, b in zip(offsets[:-1], offsets[1:], strict=True)]
    assert [found[a:b] for a, b in zip(first[:-1], first[1:], strict=True)] == fields_by_hand(text)
    assert [text[e - 1] for e in ends] == ["\n"] * lines


@given(TEXT)
def test_lines_have_their_fields_without_spaces_around(text: str) -> None:
    lines = split(text.encode(), "|")
    values = lines.values.to_pylist()
    found = [values[f : f + n] for f, n in zip(lines.first, lines.count, strict=True)]
    assert found == [[field.strip() for field in line] for line in fields_by_hand(text)]
    assert lines.text(np.arange(len(lines))).to_pylist() == text.split("\n")[:-1]


def survey_by_hand(lines: list[str]) -> Extent:
    arrivals, times = [], []
    for line in lines:
        fields = line.split("|")
        fields = fields[1:] if fields[0] in ("+", "-") and len(fields) > 1 else fields
        if len(fields) >= 3:
            for column, field in ((arrivals, fields[1]), (times, fields[2])):
                if re.fullmatch(r"[+-]?\d+(\.0)?", field) and abs(float(field)) < 2**62:
                    column.append(int(float(field)) if "." in field else int(field))
                elif field == "2022-01-03":
                    column.append(1641168000)
    every = arrivals + times
    return Extent(
        len(lines), min(arrivals, default=None), max(arrivals, default=None), min(every, default=None)
    )


@given(st.lists(LINE, min_size=1, max_size=6))
def test_the_survey_of_a_block_finds_the_times_of_its_lines(lines: list[str]) -> None:
    block = ("\n".join(lines) + "\n").encode()
    assert survey_block(block, "|", Clock()) == survey_by_hand(lines)


def test_the_survey_takes_nothing_in_quotes_for_a_time() -> None:
    assert survey_block(b'"a|1|2|b"|7|8\n', "|", Clock()) == Extent(1, 7, 7, 7)


def test_plain_lines_are_surveyed_by_the_kernel_alone() -> None:
    block = np.frombuffer(b"e|7|5|a\n-|walk|12|4|true|b\n\ntick|9|9\n", np.uint8)
    assert survey_lines(block, ord("|")) == (7, 12, 4, 4, True)
    assert not survey_lines(np.frombuffer(b"e|7|x|a\n", np.uint8), ord("|"))[4]
