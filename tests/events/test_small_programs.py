"""Small programs that once went wrong: the reasoner and the reference give the timeline that is written here."""

from __future__ import annotations

import pytest
from small_programs import Case, assert_gives

from thalweg import parse, run
from thalweg.analysis.checker import check
from thalweg.events.reasoner import Reasoner
from thalweg.reference.events import Row
from thalweg.reference.windowed import replay
from thalweg.testing.engines import replay_with

CASES: dict[str, Case] = {
    "what an Allen relation keeps may be the common part, or what only one side has": (
        """
        fluent a(x). fluent b(x).
        holdsFor(common(X)=true, I) :-
            holdsFor(a(X)=true, A), holdsFor(b(X)=true, B), allen(overlaps, A, B, intersection, I).
        holdsFor(before(X)=true, I) :-
            holdsFor(a(X)=true, A), holdsFor(b(X)=true, B), overlaps(A, B, relative_complement, I).
        holdsFor(after(X)=true, I) :-
            holdsFor(a(X)=true, A), holdsFor(b(X)=true, B), allen(overlaps, A, B, relative_complement_inverse, I).
        holdsFor(left(X)=true, I) :- holdsFor(a(X)=true, A), holdsFor(b(X)=true, B), allen(overlaps, A, B, lhs, I).
        holdsFor(right(X)=true, I) :- holdsFor(a(X)=true, A), holdsFor(b(X)=true, B), overlaps(A, B, rhs, I).
        """,
        "a(x)=true 2..8\nb(x)=true 5..11\na(x)=true 13..15\nb(x)=true 13..17",
        "common(x)=true [5,8)\nbefore(x)=true [2,5)\nafter(x)=true [8,11)\nleft(x)=true [2,8)\nright(x)=true [5,11)",
        (20, 5, 20),
    ),
    "a running interval reaches a length also where other whole intervals are judged with what is so long": (
        """
        initiatedAt(on(X)=true, T) :- happensAt(push(X), T).
        terminatedAt(on(X)=true, T) :- happensAt(pull(X), T).
        initiatedAt(off(X)=true, T) :- happensAt(pull(X), T).
        holdsFor(short(X)=true, I) :-
            holdsFor(on(X)=true, A), intDurAtMost(A, 5, B), allen(equal, B, A, source, I).
        holdsFor(long(X)=true, I) :- holdsFor(on(X)=true, A), intDurAtLeast(A, 12, B), allen(equal, A, B, source, I).
        holdsFor(late(X)=true, I) :-
            holdsFor(on(X)=true, A), holdsFor(off(X)=true, B), intDurAtLeast(A, 12, C), union_all([B, C], D),
            intDurAtLeast(D, 3, I).
        holdsFor(brief(X)=true, I) :-
            holdsFor(on(X)=true, A), intDurAtMost(A, 5, B), union_all([B], C), intDurAtMost(C, 9, I).
        """,
        "push(x) 1\npull(x) 4\npush(y) 2",
        "on(x)=true [2,5)\non(y)=true [3,..)\noff(x)=true [5,..)\nshort(x)=true [2,5)\nlong(y)=true [3,..)\n"
        "late(x)=true [5,..)\nlate(y)=true [3,..)\nbrief(x)=true [2,5)",
        (40, 4, 20),
    ),
    "what becomes long enough inside the window is as long as it is, for other durations and relations": (
        """
        initiatedAt(on(X)=true, T) :- happensAt(push(X), T).
        initiatedAt(off(X)=true, T) :- happensAt(pull(X), T).
        terminatedAt(off(X)=true, T) :- happensAt(push(X), T).
        holdsFor(long(X)=true, I) :-
            holdsFor(on(X)=true, A), holdsFor(off(X)=true, B), intDurAtLeast(A, 12, C), union_all([B, C], D),
            intDurAtLeast(D, 14, I).
        holdsFor(same(X)=true, I) :- holdsFor(on(X)=true, A), intDurAtLeast(A, 12, B), allen(equal, A, B, source, I).
        """,
        "pull(x) 1\npush(x) 2\npush(y) 2",
        "on(x)=true [3,..)\non(y)=true [3,..)\noff(x)=true [2,3)\nlong(x)=true [12,..)\nlong(y)=true [13,..)\n"
        "same(x)=true [11,..)\nsame(y)=true [11,..)",
        (4, 1, 20),
    ),
    "a fact that is true of everything asks for no value and gives none": (
        """
        initiatedAt(paid(X)=true, T) :- happensAt(sends(X, Goods, Key), T), opens(Goods, Key, In), fits(In, X, _).
        initiatedAt(dear(X)=true, T) :- happensAt(sends(X, Goods, _), T), price(Goods, P), P > 5.
        terminatedAt(paid(X)=true, T) :- happensAt(sends(X, Goods, Key), T), \\+ opens(Goods, Key, _).
        opens(_, _, _).
        fits(_, _, _).
        price(_, 10).
        """,
        "sends(a,box,3) 2\nsends(b,bag,4) 5",
        "paid(a)=true [3,..)\npaid(b)=true [6,..)\ndear(a)=true [3,..)\ndear(b)=true [6,..)",
        (10, 5, 20),
    ),
    "a rule that gives no intervals adds none": (
        r"""
        initiatedAt(a(X)=true, T) :- happensAt(e(X), T).
        terminatedAt(a(X)=true, T) :- happensAt(g(X), T).
        holdsFor(f(X)=true, I) :- holdsFor(a(X)=true, A), \+ A=[], !, union_all([A], I).
        holdsFor(f(_X)=true, []).
        holdsFor(never(_)=true, []).
        holdsFor(h(X)=true, I) :- holdsFor(f(X)=true, A), holdsFor(never(X)=true, B), union_all([A, B], I).
        """,
        "e(a) 3\ng(a) 6\ne(b) 8",
        "a(a)=true [4,7)\na(b)=true [9,..)\nf(a)=true [4,7)\nf(b)=true [9,..)\nh(a)=true [4,7)\nh(b)=true [9,..)",
        (10, 5, 20),
    ),
    "any value of a fluent that has simple and determined ones": (
        """
        initiatedAt(f(X)=off, T) :- happensAt(e(X), T).
        terminatedAt(f(X)=off, T) :- happensAt(g(X), T).
        initiatedAt(walk(X)=true, T) :- happensAt(g(X), T).
        holdsFor(f(X)=on, I) :- holdsFor(walk(X)=true, I).
        holdsFor(some(X)=V, I) :- holdsFor(f(X)=V, I).
        holdsFor(later(X)=true, I) :-
            holdsFor(f(X)=_, I1), holdsFor(f(X)=_, I2), allen(before, I1, I2, target, I).
        """,
        "e(a) 3\ng(a) 6\ng(b) 8",
        "f(a)=off [4,7)\nwalk(a)=true [7,..)\nf(a)=on [7,..)\nwalk(b)=true [9,..)\nf(b)=on [9,..)\n"
        "some(a)=off [4,7)\nsome(a)=on [7,..)\nsome(b)=on [9,..)\nlater(a)=true [7,..)",
        (10, 5, 20),
    ),
    "the length of a whole interval that began before its instance was known": (
        """
        initially(f=high).
        initiatedAt(walk(X)=true, T) :- happensAt(g(X), T).
        holdsFor(short(X)=true, I) :-
            holdsFor(f=high, I1), holdsFor(walk(X)=true, I2), union_all([I1, I2], I3), intDurLess(I3, 3, I).
        """,
        "g(a) 25",
        "f=high [0,..)\nwalk(a)=true [26,..)",
        (2, 2, 30),
    ),
    "a number that one fact gives, in tests and in the head": (
        """
        limit(low, 2). limit(high, 9).
        initiatedAt(f(X, L)=H, T) :- happensAt(e(X, N), T), limit(low, L), limit(high, H), N > L, N < H.
        terminatedAt(f(X, L)=H, T) :- happensAt(e(X, N), T), limit(low, L), limit(high, H), N >= H.
        """,
        "e(a,2) 1\ne(a,3) 3\ne(b,10) 3\ne(a,9) 6",
        "f(a,2)=9 [4,7)",
        (5, 5, 10),
    ),
    "numbers that several facts give, or that depend on an argument": (
        """
        limit(any, 4). limit(any, 6). own(a, 2). own(b, 7).
        initiatedAt(f(X)=true, T) :- happensAt(e(X, N), T), limit(any, L), N > L.
        initiatedAt(g(X)=true, T) :- happensAt(e(X, N), T), own(X, L), N > L.
        initiatedAt(h(X)=true, T) :- happensAt(e(X, N), T), limit(_, 6), limit(none, L), N > L.
        """,
        "e(a,3) 1\ne(b,5) 2\ne(c,9) 3",
        "f(b)=true [3,..)\nf(c)=true [4,..)\ng(a)=true [2,..)",
        (5, 5, 10),
    ),
    "rules that begin alike and go on differently": (
        """
        type(a, slow). type(b, quick). least(slow, 2). least(quick, 5).
        initiatedAt(f(X)=true, T) :- happensAt(e(X, N), T), type(X, K), least(K, M), N > M, not happensAt(g(X), T).
        initiatedAt(f(X)=false, T) :- happensAt(e(X, N), T), type(X, K), least(K, M), N =< M, not happensAt(g(X), T).
        initiatedAt(h(T1)=true, T) :- happensAt(e(T1, N), T), type(T1, _), N > 5.
        """,
        "e(a,3) 1 4\ne(b,3) 2\ne(b,9) 6\ng(b) 6\ne(a,1) 8",
        "f(a)=true [2,9)\nf(a)=false [9,..)\nf(b)=false [3,..)\nh(b)=true [7,..)",
        (5, 5, 10),
    ),
    "an interval that was over before the window and before the other instance was known": (
        """
        holdsFor(first(X)=true, I) :-
            holdsFor(mode(X)=off, I1), holdsFor(near(X, X)=true, I2),
            allen(before, I1, I2, target, I3), relative_complement_all(I2, [I3], I).
        """,
        "mode(a)=off 6..7@6 26..29@29\nnear(a,a)=true 21..29@33",
        "",
        (28, 20, 40),
    ),
    "a variable that stands twice in an event": (
        "initiatedAt(f=true, T) :- happensAt(h(X, X), T).",
        "h(a,b) 3\nh(b,b) 6",
        "f=true [7,..)",
        (5, 5, 10),
    ),
    "the known instances of a head whose countdown has fired": (
        """
        initiatedAt(f(X)=mid, T) :- happensAt(k, T).
        initiatedAt(f(X)=high, T) :- happensAt(e(X), T).
        fi(f(X)=high, f(X)=low, 1).
        """,
        "e(a) 1\nk 5",
        "f(a)=high [2,3)\nf(a)=low [3,6)\nf(a)=mid [6,..)",
        (20, 20, 20),
    ),
    "a countdown over the edge of a window, read by a negation": (
        """
        initiatedAt(f(X)=high, T) :- happensAt(g(X), T), not holdsAt(f(X)=low, T).
        terminatedAt(f(Y)=_, T) :- happensAt(v(X), T).
        fi(f(X)=high, f(X)=low, 1).
        """,
        "g(a) 20 22",
        "f(a)=high [21,22)\nf(a)=low [22,..)",
        (10, 10, 30),
    ),
    "a value that comes back while a row is taken back, in windows that do not overlap": (
        """
        initiatedAt(f=true, T) :- happensAt(e, T).
        initiatedAt(f=false, T) :- happensAt(g(_), T).
        """,
        "e 7\ng(a) 12\n- g(b) 15@19\ne 19",
        "f=true [8,13) [20,..)\nf=false [13,20)",
        (7, 7, 28),
    ),
    "a lasting complement of a value that was initiated and ended at once": (
        """
        initiatedAt(f(_)=V, T) :- happensAt(e(_, V), T).
        terminatedAt(f(X)=_, T) :- happensAt(e(X, _), T).
        holdsFor(g(X)=true, I) :- holdsFor(f(X)=_, I1), complement_all([I1], I2), intDurGreater(I2, 6, I).
        """,
        "e(a,3) 3",
        "g(a)=true [4,..)",
        (40, 40, 40),
    ),
    "a count for each instance that a state inside its own cycle names": (
        """
        initiatedAt(f(X)=low, T) :- happensAt(e(X), T).
        initiatedAt(f(X)=high, T) :-
            happensAt(k, T), holdsAt(f(X)=low, T),
            findall(Y, holdsAt(g(X, Y)=true, T), L), length(L, N), N =:= 0.
        initiatedAt(g(X, Y)=true, T) :- happensAt(v(X, Y), T).
        """,
        "e(a) 1\ne(b) 2\nv(b,3) 4\nk 6",
        "f(a)=low [2,7)\nf(a)=high [7,..)\nf(b)=low [3,..)\ng(b,3)=true [5,..)",
        (9, 4, 12),
    ),
    "edges of a fluent that has simple and determined values": (
        """
        initiatedAt(f(X)=off, T) :- happensAt(go(X), T).
        terminatedAt(f(X)=off, T) :- happensAt(stop(X), T).
        holdsFor(f(X)=lit, I) :- holdsFor(mode(X)=on, I1), union_all([I1], I).
        initiatedAt(last(X)=V, T) :- happensAt(start(f(X)=V), T).
        initiatedAt(quiet(X)=true, T) :- happensAt(stop(X), T), not happensAt(start(f(X)=_), T).
        """,
        "go(a) 2\nmode(a)=on 5..8\nstop(a) 4\nstop(a) 10",
        "f(a)=off [3,5)\nf(a)=lit [5,8)\nlast(a)=off [3,5)\nlast(a)=lit [5,..)\nquiet(a)=true [11,..)",
        (10, 5, 20),
    ),
    "the length of what a pair leaves of itself, in windows that do not overlap": (
        """
        holdsFor(f(X)=true, I) :-
            holdsFor(walk(X)=true, I1), relative_complement_all(I1, [I1], I2), intDurLess(I2, 7, I).
        holdsFor(g(X)=true, I) :- holdsFor(walk(X)=true, I1), union_all([I1, I1], I2), intDurLess(I2, 7, I).
        """,
        "walk(b)=true 6..7",
        "g(b)=true [6,7)",
        (2, 2, 10),
    ),
    "a delayed effect of whichever value background knowledge names, and of no other": (
        """
        initiatedAt(level(X)=low, T) :- happensAt(e(X), T).
        initiatedAt(level(X)=top, T) :- happensAt(g(X), T).
        fi(level(X)=V, level(X)=W, D) :- next(V, W, D).
        next(low, mid, 3). next(mid, high, 4).
        """,
        "e(a) 2\ng(b) 2",
        "level(a)=low [3,6)\nlevel(a)=mid [6,10)\nlevel(a)=high [10,..)\nlevel(b)=top [3,..)",
        (10, 5, 20),
    ),
    "a delayed effect of every value but its target, as long as the value says": (
        """
        initiatedAt(timer(X)=N, T) :- happensAt(sets(X, N), T).
        fi(timer(X)=N, timer(X)=0, N).
        """,
        "sets(a,3) 2\nsets(b,7) 2\nsets(a,0) 10",
        "timer(a)=3 [3,6)\ntimer(a)=0 [6,..)\ntimer(b)=7 [3,10)\ntimer(b)=0 [10,..)",
        (10, 5, 20),
    ),
    "one value of a delayed effect of all values can be postponed": (
        """
        initiatedAt(f(X)=low, T) :- happensAt(e(X), T).
        initiatedAt(f(X)=mid, T) :- happensAt(g(X), T).
        fi(f(X)=V, f(X)=off, 5) :- V \\= off.
        p(f(_)=low).
        """,
        "e(a) 2\ne(a) 4\ng(b) 2\ng(b) 4",
        "f(a)=low [3,10)\nf(a)=off [10,..)\nf(b)=mid [3,8)\nf(b)=off [8,..)",
        (10, 5, 20),
    ),
    "what can be postponed names its variables as it likes": (
        """
        initiatedAt(f(X, Y)=true, T) :- happensAt(h(X, Y), T).
        ft(f(X, Y)=true, 5).
        p(f(Y, X)=true) :- good(Y), X \\= Y.
        good(a).
        """,
        "h(a,b) 2\nh(b,a) 2\nh(a,a) 2\nh(a,b) 4\nh(b,a) 4\nh(a,a) 4",
        "f(a,b)=true [3,10)\nf(b,a)=true [3,8)\nf(a,a)=true [3,8)",
        (10, 5, 20),
    ),
    "a complement for those that background knowledge names holds from the start, though its input never comes": (
        """
        fluent alarm.
        holdsFor(calm(X)=true, I) :- holdsFor(alarm=true, I1), good(X), complement_all([I1], I).
        holdsFor(quiet=true, I) :-
            holdsFor(near(a, b)=true, I1), limit(D), intDurGreater(I1, D, I2), complement_all([I2], I).
        good(a). good(b). limit(4). limit(5).
        """,
        "mode(a)=on 3..4",
        "calm(a)=true [0,..)\ncalm(b)=true [0,..)\nquiet=true [0,..)",
        (5, 5, 20),
    ),
    "names in rules are names in data, also words of the language and names of other alphabets": (
        """
        initiatedAt(at(X)=in, T) :- happensAt(e(X), T), place(X).
        initiatedAt(at(X)=Y, T) :- happensAt(h(X, Y), T), Y = 'if'.
        place(über). place('mod'). place('in').
        """,
        "e(über) 2\ne(mod) 3\ne(in) 4\nh(a,if) 5\nh(a,then) 6",
        "at('über')=in [3,..)\nat(mod)=in [4,..)\nat(in)=in [5,..)\nat(a)=if [6,..)",
        (10, 5, 20),
    ),
    "conditions that are true or false whatever happens": (
        """
        initiatedAt(f(X)=true, T) :- happensAt(e(X), T), \\+ true.
        initiatedAt(g(X)=true, T) :- happensAt(e(X), T), not fail, \\+ \\+ true.
        initiatedAt(h(X)=true, T) :- happensAt(e(X), T), (false ; X = b).
        """,
        "e(a) 2\ne(b) 3",
        "g(a)=true [3,..)\ng(b)=true [4,..)\nh(b)=true [4,..)",
        (10, 5, 10),
    ),
    "the time-point as an argument of a condition, of a head and as a value": (
        """
        initiatedAt(off(X)=true, T) :- happensAt(e(X), T), holiday(T).
        initiatedAt(on(X)=true, T) :- happensAt(e(X), T), \\+ holiday(T).
        initiatedAt(last(X)=T, T) :- happensAt(e(X), T).
        initiatedAt(busy(T)=true, T) :- happensAt(e(_), T), findall(X, likes(X, T), L), length(L, 1).
        holiday(3). holiday(7). likes(ann, 2).
        """,
        "e(a) 2\ne(b) 3\ne(a) 7",
        "on(a)=true [3,..)\noff(b)=true [4,..)\noff(a)=true [8,..)\n"
        "last(a)=2 [3,8)\nlast(a)=7 [8,..)\nlast(b)=3 [4,..)\nbusy(2)=true [3,..)",
        (10, 5, 10),
    ),
    "lists: nothing is found, and one of some": (
        """
        initiatedAt(alone(X)=true, T) :- happensAt(e(X), T), findall(Y, friend(X, Y), []).
        initiatedAt(some(X)=true, T) :- happensAt(e(X), T), member(X, [a, 7, 'b']).
        initiatedAt(other(X)=true, T) :- happensAt(e(X), T), \\+ member(X, [a, 7, 'b']).
        friend(X, Y) :- linked(X, Y).
        friend(X, Y) :- linked(Y, X).
        linked(a, b).
        """,
        "e(b) 2\ne(c) 3\ne(7) 4",
        "some(b)=true [3,..)\nalone(c)=true [4,..)\nother(c)=true [4,..)\nalone(7)=true [5,..)\nsome(7)=true [5,..)",
        (10, 5, 10),
    ),
    "a number comes before a name": (
        """
        initiatedAt(f(X)=true, T) :- happensAt(e(X), T), X @> 7, X = b.
        initiatedAt(g(X)=true, T) :- happensAt(e(X), T), b @< 7.
        initiatedAt(h(X)=true, T) :- happensAt(e(X), T), X @> 'it!'.
        """,
        "e(b) 2\ne(it's) 3\ne(9) 4",
        "f(b)=true [3,..)\nh('it\\'s')=true [4,..)",
        (10, 5, 10),
    ),
    "a fluent whose value is its argument": (
        """
        initiatedAt(f(X, N)=M, T) :- happensAt(v(X, N, M), T).
        terminatedAt(f(X, N)=_, T) :- happensAt(z(X, N), T).
        initiatedAt(same(X)=true, T) :- happensAt(k, T), holdsAt(f(X, N)=N, T).
        initiatedAt(none=true, T) :- happensAt(k, T), \\+ holdsAt(f(_, N)=N, T).
        initiatedAt(many=C, T) :- happensAt(k, T), findall(X, holdsAt(f(X, N)=N, T), L), length(L, C).
        """,
        "v(a,1,1) 2\nv(a,2,1) 2\nv(b,1,2) 2\nk 3\nz(a,1) 4\nk 6",
        "f(a,1)=1 [3,5)\nf(a,2)=1 [3,..)\nf(b,1)=2 [3,..)\nsame(a)=true [4,..)\nnone=true [7,..)\n"
        "many=1 [4,7)\nmany=0 [7,..)",
        (10, 5, 10),
    ),
    "a complement of a fluent whose value is its argument": (
        """
        initiatedAt(f(X, N)=M, T) :- happensAt(v(X, N, M), T).
        holdsFor(free(X)=true, I) :- holdsFor(f(X, N)=N, J), complement_all([J], I).
        """,
        "v(a,4,4) 3",
        "f(a,4)=4 [4,..)\nfree(a)=true [3,4)",
        (10, 5, 10),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_small_program_gives_its_timeline(name: str) -> None:
    assert_gives(CASES[name])


def test_names_of_fluents_and_events_may_stand_in_quotes() -> None:
    program = parse(
        """
        initiatedAt('On Air'(X)=true, T) :- happensAt('Go (_)!'(X), T).
        happensAt('It\\'s'(X), T) :- happensAt(start('On Air'(X)=true), T).
        """
    )
    rows = [Row(name="Go (_)!", args=("a",), time=2, arrival=2, number=1)]
    run = {"window": 5, "step": 5, "start": 0, "end": 5}
    (found,), (expected,) = replay_with(Reasoner, program, rows, **run), replay(program, rows, **run)
    assert found.timeline == expected.timeline == {("'On Air'(a)", "true"): [(3, None)]}
    assert found.events == expected.events == {(r"'It\'s'(a)", 2)}


def test_a_late_interval_that_reaches_back_before_the_window_begins_at_its_first_point_on_the_tick() -> None:
    rules = """
        holdsFor(u(X)=true, I) :- holdsFor(near(X)=true, I1), union_all([I1], I).
        initiatedAt(f(X)=true, T) :- happensAt(start(near(X)=true), T).
    """
    rows = "near(a)=true 25..35@30\nnear(b)=true 10..45@10\n- near(b)=true 10..45@25"
    expected = "u(a)=true [30,35)\nf(a)=true [30,..)\nu(b)=true [10,25)\nf(b)=true [10,..)"
    assert_gives((rules, rows, expected, (5, 5, 50)), tick=5)


def test_a_delay_that_is_no_multiple_of_the_tick_lasts_until_the_next_point() -> None:
    rules = "initiatedAt(f(X)=on, T) :- happensAt(e(X), T). fi(f(X)=on, f(X)=off, 4). ft(f(X)=off, 3)."
    assert_gives((rules, "e(a) 3", "f(a)=on [6,12)\nf(a)=off [12,15)", (9, 3, 30)), tick=3)


def test_windows_that_end_between_two_points_lose_nothing_of_the_point_before_their_end() -> None:
    program = parse(
        """
        initiatedAt(f=off, T) :- happensAt(e, T).
        fi(f=true, f=off, 2).
        fi(f=off, f=true, 6).
        """
    )
    run = {"window": 7, "step": 7, "start": -10, "end": 60, "tick": 2}
    expected = {("f", "off"): [(46, 52), (54, 60), (62, None)], ("f", "true"): [(52, 54), (60, 62)]}
    rows = [Row(name="e", time=44, arrival=44, number=1)]
    assert replay(program, rows, **run)[-1].timeline == expected
    assert replay_with(Reasoner, program, rows, **run)[-1].timeline == expected


@pytest.mark.parametrize("window", [1, 10])
def test_a_running_interval_is_measured_up_to_the_last_point_of_a_query_between_two(window: int) -> None:
    program = parse(
        "fluent level(a). holdsFor(short(A)=true, I) :- holdsFor(level(A)=1, J), intDurLess(J, 5, I)."
    )
    row = Row(name="level", args=("b",), time=38, arrival=38, number=1, shape="interval", value=1, end=56)
    run = {"window": window, "step": 1, "start": 36, "end": 41, "tick": 2}
    for answers in (replay(program, [row], **run), replay_with(Reasoner, program, [row], **run)):
        told = {answer.query_time: answer.timeline.get(("short(b)", "true")) for answer in answers}
        assert told == {37: None, **{query: [(38, None)] for query in range(38, 42)}}


@pytest.mark.parametrize(
    "condition",
    ["findall(Y, likes(X, Y), [_])", "findall(Y, likes(X, Y), L), member(X, L)", "[X] = [_]", "X = [a]"],
)
def test_a_list_that_is_taken_apart_is_refused(condition: str) -> None:
    program = parse(f"initiatedAt(f(X)=true, T) :- happensAt(e(X), T), {condition}. likes(a, b).")
    assert "TW290" in {diagnostic.code for diagnostic in check(program)}


@pytest.mark.parametrize(
    ("rule", "column", "message"),
    [
        ("holdsFor(f(X)=true, [(3, 5)]) :- holdsFor(a(X)=true, _).", 21, "it does not list them"),
        (r"holdsFor(f(X)=true, I) :- holdsFor(a(X)=true, I), I=[].", 51, "hangs on the window"),
        (r"holdsFor(f(X)=true, I) :- holdsFor(a(X)=true, I), \+ I \= [].", 54, "hangs on the window"),
    ],
)
def test_what_a_rule_over_intervals_cannot_say_is_refused_at_its_place(rule: str, column: int, message: str) -> None:
    program = parse(f"fluent a(x).\n{rule}")
    (found,) = [diagnostic for diagnostic in check(program) if diagnostic.code == "TW290"]
    assert (found.span.line, found.span.column) == (2, column)
    assert message in found.message


def test_an_explanation_knows_the_place_of_a_rule_behind_one_that_gives_no_intervals() -> None:
    rules = "fluent a(x).\nholdsFor(f(_)=true, []).\nholdsFor(f(X)=true, I) :- holdsFor(a(X)=true, I)."
    events = [{"name": "a", "time": 3, "end": 9, "x": "b"}]
    assert ":3" in str(run(parse(rules), events, window=10, step=10).why("f(b)=true @ 5"))
