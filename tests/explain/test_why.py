"""Why: trees from intervals to rows, for every kind of node."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import thalweg
from thalweg.explain.tree import Node, Part
from thalweg.io.errors import InputError
from thalweg.result import Result

LAMP = """
initiatedAt(on(X)=true, T) :- happensAt(press(X), T), not holdsAt(on(X)=true, T).
terminatedAt(on(X)=true, T) :- happensAt(press(X), T), holdsAt(on(X)=true, T).
initiatedAt(heat(X)=warm, T) :- happensAt(start(on(X)=true), T).
fi(heat(X)=warm, heat(X)=hot, 5).
initiatedAt(heat(X)=cold, T) :- happensAt(end(on(X)=true), T).
holdsFor(danger(X)=true, I) :- holdsFor(heat(X)=hot, H), holdsFor(covered(X)=true, C), intersect_all([H, C], I).
happensAt(alarm(X), T) :- happensAt(start(danger(X)=true), T), armed(X).
initially(quiet=true).
terminatedAt(quiet=true, T) :- happensAt(alarm(_), T).
armed(lamp).
fluent covered(x: symbol).
"""


def lamp(*more: tuple[str, int, int]) -> Result:
    presses = [{"name": n, "time": t, "arrival": a, "x": "lamp"} for n, t, a in (("press", 3, 3), *more)]
    covers = [{"name": "covered", "start": 6, "end": 30, "arrival": 6, "x": "lamp", "value": "true"}]
    return thalweg.run(LAMP, {"press": _table(presses), "covered": _table(covers)}, window=40, step=10, end=40)


def _table(rows: list[dict[str, object]]) -> object:
    import pyarrow as pa

    return pa.Table.from_pylist([{k: v for k, v in row.items() if k != "name"} for row in rows])


def parts(node: Node) -> set[Part]:
    return {n.part for n in node}


def test_an_interval_is_traced_through_rules_and_delays_to_rows() -> None:
    tree = lamp().why("danger(lamp) @ 12")
    assert tree.text == "danger(lamp)=true holds from 9 to 30"
    assert {Part.EXPRESSION, Part.DELAYED, Part.RULE, Part.INPUT, Part.NEGATION} <= parts(tree)
    assert [leaf.fact for leaf in tree.leaves()] == ["press(lamp)", "covered(lamp)=true"]
    assert Part.UNEXPLAINED not in parts(tree)


def test_a_rule_instance_says_where_the_rule_stands() -> None:
    tree = lamp().why("on(lamp) @ 5")
    (rule,) = [n for n in tree if n.part is Part.RULE]
    assert rule.source == "<text>:2"
    assert rule.text == "on(lamp)=true initiated at 3"


def test_inertia_and_the_end_are_nodes_of_their_own() -> None:
    tree = lamp(("press", 20, 20)).why("on(lamp) @ 10")
    assert {Part.INERTIA, Part.ENDED} <= parts(tree)
    assert "press(lamp) at 20" in str(tree)


def test_a_derived_event_is_traced_to_rows_and_background() -> None:
    tree = lamp().why("alarm(lamp) @ 8")
    assert tree.part is Part.EVENT
    assert "armed(lamp)" in [n.text for n in tree if n.part is Part.BACKGROUND]
    assert len(tree.leaves()) == 2


def test_initially_is_a_leaf_that_is_no_row() -> None:
    tree = lamp().why("quiet @ 2")
    assert Part.INITIALLY in parts(tree)


def test_a_cycle_ends_because_time_runs_backwards() -> None:
    tree = lamp(("press", 10, 10), ("press", 20, 20), ("press", 25, 25)).why("on(lamp) @ 22")
    assert Part.UNEXPLAINED not in parts(tree)
    assert [leaf.time for leaf in tree.leaves() if leaf.fact == "press(lamp)"] == [3, 10, 20, 25]


def test_rejected_and_retracted_rows_are_no_leaves() -> None:
    rules = "initiatedAt(on(X)=true, T) :- happensAt(press(X), T)."
    rows = [("press", 3, 3, 1), ("press", 3, 5, -1), ("press", 7, 7, 1), ("press", 1, 49, 1)]
    events = [
        {"name": n, "time": t, "arrival": a, "op": {1: "insert", -1: "retract"}[o], "x": "lamp"}
        for n, t, a, o in rows
    ]
    result = thalweg.run(rules, events, window=10, step=10, start=0)
    assert [row["reason"] for row in result.arrow["rejected"].to_pylist()] == ["too-late"]
    assert [leaf.time for leaf in result.why("on(lamp) @ 9").leaves()] == [7]


def test_trees_are_text_json_and_html() -> None:
    tree = lamp().why("danger(lamp) @ 12")
    assert str(tree).count("\n") == sum(1 for _ in tree) - 1
    data = json.loads(tree.to_json())
    assert data["part"] == "interval" and data["children"][0]["part"] == "expression"
    assert tree.to_html().count("<li") == sum(1 for _ in tree)


def test_names_are_escaped_in_html() -> None:
    rules = "initiatedAt(on(X)=true, T) :- happensAt(press(X), T)."
    result = thalweg.run(rules, [{"name": "press", "time": 3, "x": "<script>"}], window=9, step=9)
    shown = result.why("on('<script>') @ 5").to_html()
    assert "<script>" not in shown and "&lt;script&gt;" in shown


def test_the_smallest_set_of_rows_has_only_what_is_needed() -> None:
    result = lamp(("press", 10, 10), ("press", 20, 20))
    assert [leaf.time for leaf in result.why("on(lamp) @ 25", minimal=True).leaves()] == [20]


def test_the_smallest_set_of_rows_has_input_that_no_grounding_gives() -> None:
    rules = """
        place(a).
        grounding(near(X)=_) :- place(X).
        holdsFor(long(X)=true, I) :- holdsFor(near(X)=true, N), intDurGreater(N, 3, I).
        holdsFor(away(X)=true, I) :- holdsFor(near(X)=true, N), complement_all([N], I).
    """
    near = [{"name": "near", "time": time, "end": time + 5, "x": "c"} for time in (3, 12)]
    result = thalweg.run(rules, near, window=20, step=20, start=0)
    assert [leaf.time for leaf in result.why("long(c) @ 14", minimal=True).leaves()] == [12]
    assert [leaf.time for leaf in result.why("away(c) @ 10", minimal=True).leaves()] == [3]


def test_asking_why_of_what_does_not_hold_says_so() -> None:
    with pytest.raises(InputError, match="does not hold"):
        lamp().why("on(lamp) @ 1")
    with pytest.raises(InputError, match="no time-point"):
        lamp().why("on(lamp)")
    with pytest.raises(InputError, match="has no off/1"):
        lamp().why("off(lamp) @ 3")


# --------------------------------------------------------------------------- why not, what if, changes


def test_why_not_names_what_ended_it() -> None:
    tree = lamp(("press", 20, 20)).why_not("on(lamp) @ 25")
    assert "held from 4 to 21" in str(tree)
    assert [leaf.time for leaf in tree.leaves() if leaf.fact == "press(lamp)"] == [3, 20]


def test_why_not_shows_the_closest_rule_and_the_condition_that_fails() -> None:
    rules = """initiatedAt(safe(X)=true, T) :- happensAt(check(X, V), T), V > 5, holdsAt(on(X)=true, T).
    initiatedAt(on(X)=true, T) :- happensAt(press(X), T)."""
    events = {
        "check": _table([{"time": 4, "x": "lamp", "v": 9}]),
        "press": _table([{"time": 6, "x": "lamp"}]),
    }
    tree = thalweg.run(rules, events, window=20, step=10).why_not("safe(lamp) @ 9")
    failing = [n.text for n in tree if n.part is Part.FAILS]
    assert failing == ["fails: on(lamp)=true; nearest: from 7 on"]
    assert [n.text for n in tree if n.part is Part.TEST] == ["met: check(lamp,9)", "met: 9 > 5"]


def test_why_not_tells_of_a_countdown_that_is_not_yet_due() -> None:
    assert "due at 8" in str(lamp().why_not("heat(lamp)=hot @ 6"))


def test_why_not_of_a_value_that_no_rule_gives_names_those_that_rules_give() -> None:
    tree = lamp().why_not("heat(lamp)=warn @ 6")
    assert [n.text for n in tree.children] == [
        "no rule gives it the value warn, only cold, hot, warm; did you mean warm?",
        "heat(lamp)=warm holds from 4 to 9",
    ]
    assert "no rule gives it the value yes, only true" in str(lamp().why_not("danger(lamp)=yes @ 5"))
    assert "no rule gives" not in str(lamp().why_not("heat(lamp)=hot @ 6"))


def test_a_computation_inside_a_function_is_told_as_one_writes_it() -> None:
    rules = (
        "initiatedAt(off(X)=true, T) :- happensAt(course(X, A, B), T), D is abs(A - B), max(D, A mod 7) > 15.\n"
    )
    rows = [{"name": "course", "time": 1, "x": "v", "a": 10, "b": 50}]
    told = str(thalweg.run(rules, rows, window=10, step=10).why("off(v) @ 5"))
    assert "40 is abs(10 - 50)" in told and "max(40,10 mod 7) > 15" in told


def test_why_not_of_an_interval_expression_shows_its_operands() -> None:
    tree = lamp().why_not("danger(lamp) @ 5")
    assert "covered(lamp)=true does not hold at 5; nearest: from 6 to 30" in str(tree)


def test_initiation_and_termination_at_one_point_are_told() -> None:
    rules = """initiatedAt(on(X)=true, T) :- happensAt(press(X), T).
    terminatedAt(on(X)=true, T) :- happensAt(release(X), T)."""
    events = [{"name": n, "time": 4, "x": "lamp"} for n in ("press", "release")]
    tree = thalweg.run(rules, events, window=20, step=10).why_not("on(lamp) @ 9")
    assert "broken at the same point" in str(tree)
    assert "release(lamp) at 4" in str(tree)


def test_a_start_that_a_newcomer_brings_is_told_to_be_none() -> None:
    rules = """initially(on(_)=true).
    terminatedAt(on(X)=true, T) :- happensAt(release(X), T).
    initiatedAt(begun(X)=true, T) :- happensAt(start(on(X)=true), T)."""
    events = [{"name": "release", "time": 4, "x": "lamp"}]
    tree = thalweg.run(rules, events, window=20, step=10).why_not("begun(lamp) @ 9")
    (failing,) = [n.text for n in tree if n.part is Part.FAILS]
    assert "start(on(lamp)=true)" in failing and "first seen at 4" in failing


def test_what_if_a_row_had_not_been_there() -> None:
    result = lamp()
    difference = result.what_if(retract=["press(lamp) @ 3"])
    assert "- danger(lamp)=true from 9 to 30" in str(difference)
    assert not difference.result.holds("on(lamp) @ 5")
    assert result.holds("on(lamp) @ 5")


def test_rows_that_could_make_no_difference_are_refused_with_the_reason() -> None:
    with pytest.raises(InputError, match=r"press at 500 lies after the end of the result, [0-9]+"):
        lamp().what_if(insert=["press(lamp) @ 500"])
    with pytest.raises(InputError, match="lies after the end"):
        lamp().what_if(insert=[{"name": "press", "time": 3, "arrival": 500, "x": "lamp"}])
    with pytest.raises(InputError, match="counts for nothing, before-the-start"):
        lamp().what_if(insert=["press(lamp) @ -5"])


def test_what_is_inserted_as_a_table_is_no_row_of_the_input() -> None:
    difference = lamp().what_if(insert=[{"name": "press", "time": 7, "x": "lamp"}])
    as_text = lamp().what_if(insert=["press(lamp) @ 7"])
    said = str(difference.result.why_not("on(lamp) @ 9"))
    assert said == str(as_text.result.why_not("on(lamp) @ 9")) and "press(lamp) at 7" in said


def test_a_row_without_a_time_is_told_what_a_row_looks_like(tmp_path: Path) -> None:
    for wrong in (["press(lamp)"], "press(lamp)", ["press(lamp) @ 7", "press(lamp)"]):
        with pytest.raises(InputError, match=r"'press\(lamp\)' says no time(.|\n)*\"press\(lamp\) @ 5\""):
            lamp().what_if(insert=wrong)
        with pytest.raises(InputError, match="says no time"):
            lamp().what_if(retract=wrong)
    (tmp_path / "more.csv").write_text("press|7|7|lamp\n")
    as_text = lamp().what_if(insert=["press(lamp) @ 7"])
    for given in (str(tmp_path / "*.csv"), [str(tmp_path / "more.csv")], [tmp_path / "more.csv", "press(lamp) @ 7"]):
        assert str(lamp().what_if(insert=given)) == str(as_text)
    both = lamp().what_if(insert=[{"name": "press", "time": 7, "x": "lamp"}, "press(lamp) @ 7"])
    assert str(both) == str(as_text)


def test_what_if_a_row_had_been_there_can_be_explained() -> None:
    difference = lamp().what_if(insert=["press(lamp) @ 7"])
    assert difference
    assert "held from 4 to 8" in str(difference.result.why_not("on(lamp) @ 9"))
    assert not lamp().what_if()


def test_a_withdrawn_interval_names_the_late_row() -> None:
    rules = """initiatedAt(on(X)=true, T) :- happensAt(press(X), T).
    terminatedAt(on(X)=true, T) :- happensAt(release(X), T)."""
    rows = [("press", 3, 3), ("release", 9, 9), ("release", 6, 15)]
    events = [{"name": n, "time": t, "arrival": a, "x": "lamp"} for n, t, a in rows]
    result = thalweg.run(rules, events, window=20, step=5)
    (change,) = [
        c for c in result.arrow["changes"].to_pylist() if c["op"] == "delete" and c["cause"] != "time"
    ]
    tree = result.why_changed(change)
    assert tree.text == "on(lamp)=true from 4 to 10 was withdrawn at query time 15"
    assert [str(n.place) for n in tree.children if n.part is Part.INPUT] == ["input:3"]
    asked = result.why_changed("on(lamp) @ 15")
    assert [child.text for child in asked.children] == [
        "on(lamp)=true from 4 to 10 was withdrawn at query time 15",
        "on(lamp)=true from 4 to 7 was found at query time 15",
    ]
    with pytest.raises(InputError, match="it changed at 5, 10, 15"):
        result.why_changed("on(lamp) @ 20")


def test_the_absence_of_a_determined_fluent_shows_what_it_would_be_made_of() -> None:
    rules = """
    initiatedAt(open(X)=true, T) :- happensAt(opened(X), T).
    initiatedAt(guarded(X)=true, T) :- happensAt(guard(X), T).
    holdsFor(safe(X)=true, I) :- holdsFor(open(X)=true, O), holdsFor(guarded(X)=true, G), intersect_all([O, G], I).
    initiatedAt(alarm(X)=true, T) :- happensAt(bell(X), T), not holdsAt(safe(X)=true, T).
    """
    events = [{"name": n, "time": t, "x": "north"} for n, t in (("opened", 2), ("bell", 5), ("guard", 7))]
    tree = thalweg.run(rules, events, window=20, step=10).why("alarm(north) @ 8")
    (absence,) = [node for node in tree if node.text == "no safe(north)=true at 5"]
    assert [child.text for child in absence.children] == [
        "open(north)=true holds from 3 on",
        "guarded(north)=true does not hold at 5",
    ]


def test_a_simple_value_of_a_fluent_that_has_determined_ones_is_explained_by_its_rules() -> None:
    rules = """initiatedAt(lamp(X)=off, T) :- happensAt(press(X), T).
    ft(lamp(X)=off, 6).
    holdsFor(lamp(X)=lit, I) :- holdsFor(mode(X)=on, I1), union_all([I1], I)."""
    events = {
        "press": [{"time": 2, "x": "a"}],
        "mode": [{"start": 4, "end": 7, "value": "on", "x": "a"}],
    }
    result = thalweg.run(rules, {n: pa.Table.from_pylist(rows) for n, rows in events.items()}, window=20, step=10)
    tree = result.why("lamp(a)=off @ 5")
    assert "press(a) at 2" in str(tree) and "ended at 8" in str(tree)
    assert not [n for n in tree if n.part is Part.UNEXPLAINED]
    assert "lamp(a)=off held from 3 to 9" in str(result.why_not("lamp(a)=off @ 12"))
    assert "mode(a)=on" in str(result.why("lamp(a)=lit @ 5"))


ROOMS = """
initiatedAt(room(R)=busy, T) :- happensAt(enter(R), T).
initiatedAt(room(R)=free, T) :- happensAt(leave(R), T).
holdsFor(long(R)=true, I) :- holdsFor(room(R)=busy, B), intDurAtLeast(B, 5, I).
holdsFor(idle(R)=true, I) :- holdsFor(room(R)=busy, B), complement_all([B], I).
holdsFor(within(R)=true, I) :- holdsFor(room(R)=busy, B), holdsFor(room(R)=free, F), allen(during, B, F, source, I).
"""


def rooms() -> Result:
    rows = [{"name": n, "time": t, "r": "hall"} for n, t in (("enter", 4), ("leave", 7), ("enter", 20))]
    return thalweg.run(ROOMS, rows, window=40, step=10, end=30)


def test_a_duration_that_is_too_short_is_said_with_its_length() -> None:
    tree = str(rooms().why_not("long(hall) @ 6"))
    assert "room(hall)=busy holds from 5 to 8" in tree
    assert "fails: it lasts 3, not >= 5" in tree


def test_an_allen_relation_that_no_interval_has_is_said() -> None:
    assert "fails: no interval is `during` another here" in str(rooms().why_not("within(hall) @ 6"))


def test_a_complement_does_not_hold_of_whom_nobody_has_seen() -> None:
    tree = str(rooms().why_not("idle(hall) @ 2"))
    assert "idle(hall) is not known before 4" in tree
    assert "room(hall)=busy does not hold at 2" in tree
    assert "from 4 to 5" in str(rooms().why("idle(hall) @ 4").children[0])


def test_what_holds_instead_is_said_of_a_value_that_no_rule_gives() -> None:
    assert "room(hall)=busy holds from 5 to 8" in str(rooms().why_not("room(hall)=closed @ 6"))


def test_after_the_last_query_time_nothing_is_claimed() -> None:
    tree = str(rooms().why("room(hall)=busy @ 500"))
    assert "nothing has ended it up to 30, the last query time" in tree
    assert "before 500" not in tree


def test_a_misspelt_fluent_with_a_value_is_refused() -> None:
    with pytest.raises(InputError, match="the program has no rom/1; did you mean room/1"):
        rooms().why("rom(hall)=busy @ 6")


def test_control_characters_in_names_steer_no_terminal() -> None:
    rows = [{"name": "press", "time": 3, "x": "a\x1b[31mred\nline\tend\u202e"}]
    result = thalweg.run("initiatedAt(on(X)=true, T) :- happensAt(press(X), T).", rows, window=10, step=10)
    (name,) = result["timeline"].column("fluent").to_pylist()
    tree = result.why(f"{name}=true @ 5")
    shown = "a\N{SYMBOL FOR ESCAPE}[31mred\N{SYMBOL FOR LINE FEED}line\N{SYMBOL FOR HORIZONTAL TABULATION}end"
    for text in (str(tree), tree.to_html(), str(result)):
        assert shown in text
        assert not set(text) & {"\x1b", "\t", "\u202e"}
    assert len(str(tree).splitlines()) == 4
    assert tree.leaves()[0].fact == name.replace("on(", "press(")


def test_a_name_that_the_input_does_not_have_is_pointed_out() -> None:
    assert [n.text for n in lamp().why_not("heat(lmap)=hot @ 12").children][:1] == [
        "lmap stands in no row of the input; did you mean lamp?"
    ]
    told = [n.text for n in lamp().why_not("heat(X)=hot @ 12")]
    assert "'X' stands in no row of the input; a question has no variables" in told
    assert not [n for n in lamp().why_not("heat(lamp)=hot @ 2") if "no row of the input" in n.text]


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("", "'' says no time-point"),
        ("on(lamp)", r"'on\(lamp\)' says no time-point"),
        ("on(lamp) @ noon", "the time-point noon is neither an integer nor an ISO date or timestamp"),
        ("on(lamp) @ 99999999999999999999", "the time-point 99999999999999999999 is too large"),
        ("on(lamp @ 4", r"the brackets of on\(lamp do not match"),
        ("on(lamp]) @ 4", "do not match"),
        ("on('lamp) @ 4", "do not match"),
    ],
)
def test_a_question_that_cannot_be_read_says_why(written: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        lamp().why(written)


def test_names_in_questions_may_have_quotes_and_brackets() -> None:
    name = "it's = (1]"
    rows = [{"name": "press", "time": 3, "x": name}]
    result = thalweg.run("initiatedAt(on(X)=true, T) :- happensAt(press(X), T).", rows, window=10, step=10)
    (fluent,) = result["timeline"].column("fluent").to_pylist()
    assert result.holds(f"{fluent}=true @ 5")
    assert result.why(f"{fluent} @ 5").leaves()[0].row == 1


def test_what_is_to_be_left_out_must_be_there() -> None:
    with pytest.raises(InputError, match=r"press\(lamp\) does not happen at 4\nit happens at 3"):
        lamp().what_if(retract="press(lamp) @ 4")
    with pytest.raises(InputError, match="it never happens"):
        lamp().what_if(retract=["press(other) @ 4"])


def test_a_difference_shows_itself_as_text_in_dates_where_times_are_dates() -> None:
    rules = "tick 1m. initiatedAt(on(X)=true, T) :- happensAt(press(X), T)."
    rows = [{"name": "press", "time": "2026-03-02T08:40Z", "x": "lamp"}]
    result = thalweg.run(rules, rows, window=60, step=60)
    changed = result.what_if(retract="press(lamp) @ 2026-03-02T08:40Z", insert="press(b) @ 2026-03-02T08:50Z")
    assert repr(changed) == str(changed)
    assert str(changed).splitlines() == [
        "- on(lamp)=true from 2026-03-02T08:41Z on",
        "+ on(b)=true from 2026-03-02T08:51Z on",
    ]
    with pytest.raises(thalweg.InputError, match=r"on\(b\)=true does not hold at 2026-03-02T08:59Z\nask why not"):
        result.why("on(b)=true @ 2026-03-02T08:59Z")
    with pytest.raises(thalweg.InputError, match="not happen at 2026-03-02T08:41Z\nit happens at 2026-03-02T08:40Z"):
        result.what_if(retract="press(lamp) @ 2026-03-02T08:41Z")


def test_a_change_is_told_to_be_due_to_the_row_that_took_another_back() -> None:
    rules = "initiatedAt(on(X)=true, T) :- happensAt(press(X), T)."
    rows = [
        {"name": "press", "time": 3, "arrival": 3, "x": "lamp", "op": "+"},
        {"name": "press", "time": 3, "arrival": 12, "x": "lamp", "op": "-"},
        {"name": "press", "time": 4, "arrival": 17, "x": "lamp", "op": "+"},
        {"name": "press", "time": 4, "arrival": 22, "x": "lamp", "op": "-"},
    ]
    result = thalweg.run(rules, rows, window=50, step=5)
    taken = str(result.why_changed("on(lamp) @ 15")).splitlines()
    assert taken[1:3] == ["├─ because of a row that took another back", "├─ press(lamp) at 3  [input:2]"]
    late = str(result.why_changed("on(lamp) @ 20")).splitlines()
    assert late[1:3] == ["├─ because of a row that came late", "├─ press(lamp) at 4  [input:3]"]


@pytest.mark.parametrize("change", [3, {"fluent": "on(lamp)"}])
def test_what_is_no_row_of_changes_is_told_so(change: Any) -> None:
    result = thalweg.run("initiatedAt(on(X)=true, T) :- happensAt(press(X), T).", [], window=5, step=5, end=5)
    with pytest.raises(InputError, match="this is no row of changes"):
        result.why_changed(change)


def test_names_in_quotes_terms_and_computations_are_told_as_they_are_written() -> None:
    rules = """
    initiatedAt('On it'(Y)=true, T) :- happensAt(e(X), T), k(Y), X - 1 > (X - 5) * 2, Z is X mod 4, Z < 9.
    k(a-b).
    """
    result = thalweg.run(rules, [{"name": "e", "time": 1, "x": 7}], window=10, step=10)
    told = str(result.why("'On it'('-'(a,b)) @ 5")).splitlines()
    assert told[0] == "'On it'('-'(a,b))=true holds from 2 on"
    assert told[4:6] == ["│  ├─ 7 - 1 > (7 - 5) * 2", "│  ├─ 3 is 7 mod 4"]
