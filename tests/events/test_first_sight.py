"""Who is known, since when, and what has no start where somebody is first seen; programs that once went wrong."""

from __future__ import annotations

import pytest
from small_programs import Case, assert_gives

CASES: dict[str, Case] = {
    "where no grounding and no other rule names an instance, a determined head with a free variable is about nobody": (
        """
        initiatedAt(status(M)=open, T) :- happensAt(e(M), T).
        holdsFor(pow(_P, M)=true, I) :- holdsFor(status(M)=open, I).
        initiatedAt(able(P)=true, T) :- happensAt(k(P, M), T), holdsAt(pow(P, M)=true, T).
        """,
        "e(m1) 3\nk(ann,m1) 5",
        "status(m1)=open [4,..)",
        (10, 5, 20),
    ),
    "a variable of a determined head that no condition binds ranges over whom other rules know": (
        """
        initiatedAt(status(M)=open, T) :- happensAt(e(M), T).
        initiatedAt(chair(P, M)=true, T) :- happensAt(k(P, M), T).
        terminatedAt(chair(P, M)=true, T) :- happensAt(q(P, M), T).
        holdsFor(pow(P, M)=true, I) :- holdsFor(chair(P, M)=true, I).
        holdsFor(pow(_P, M)=true, I) :- holdsFor(status(M)=open, I).
        """,
        "k(ann,m1) 2\nq(ann,m1) 4\ne(m1) 6\nk(bob,m1) 8\nk(cid,m2) 9",
        "status(m1)=open [7,..)\nchair(ann,m1)=true [3,5)\nchair(bob,m1)=true [9,..)\nchair(cid,m2)=true [10,..)\n"
        "pow(ann,m1)=true [3,5) [7,..)\npow(bob,m1)=true [8,..)\npow(cid,m1)=true [9,..)\npow(cid,m2)=true [10,..)",
        (10, 5, 20),
    ),
    "a complement that another individual of its rule brings at first sight has no start": (
        """
        initiatedAt(near(X, Y)=true, T) :- happensAt(e(X, Y), T).
        holdsFor(apart(X)=true, I) :- holdsFor(near(X, Y)=true, I1), complement_all([I1], I).
        initiatedAt(g(X)=true, T) :- happensAt(start(apart(X)=true), T).
        initiatedAt(h(X)=true, T) :- happensAt(end(apart(X)=true), T).
        """,
        "e(a,b) 4\ne(a,c) 8",
        "near(a,b)=true [5,..)\nnear(a,c)=true [9,..)\napart(a)=true [4,5) [8,9)\nh(a)=true [5,..)",
        (10, 5, 20),
    ),
    "a complement that another rule brings at first sight has no start": (
        """
        terminatedAt(f(X)=_, T) :- happensAt(e(X), T).
        holdsFor(g(X)=true, I) :- holdsFor(f(X)=3, I1), complement_all([I1], I).
        holdsFor(g(X)=true, I) :-
            holdsFor(f(X)=3, I1), holdsFor(walk(X)=true, I2), complement_all([I2], I3), intersect_all([I3, I1], I).
        initiatedAt(h(X)=true, T) :- happensAt(start(g(X)=true), T).
        """,
        "walk(a)=true points 4\ne(a) 8",
        "g(a)=true [8,..)",
        (11, 10, 20),
    ),
    "a value ranges over those that a grounding gives, and over those that rules give to whom they know": (
        """
        initiatedAt(f=N, T) :- happensAt(e(N), T).
        grounding(f=1). grounding(f=2).
        holdsFor(not_each=true, I) :- holdsFor(f=_, I1), complement_all([I1], I).
        initiatedAt(walk(X)=true, T) :- happensAt(g(X), T).
        holdsFor(both(X)=on, I) :- holdsFor(walk(X)=true, I1), holdsFor(run(X)=true, I2), intersect_all([I1, I2], I).
        holdsFor(rest(X)=true, I) :- holdsFor(both(X)=_, I1), complement_all([I1], I).
        """,
        "e(1) 3\ne(3) 5\ng(a) 6",
        "f=1 [4,..)\nnot_each=true [0,..)\nwalk(a)=true [7,..)\nrest(a)=true [6,..)",
        (10, 5, 20),
    ),
    "a known instance that a rule with constants alone made known": (
        """
        initiatedAt(f(a)=true, T) :- happensAt(start(walk(_)=true), T).
        initiatedAt(f(X)=false, T) :- happensAt(start(mode(_)=on), T).
        """,
        "walk(b)=true 7..8\nmode(c)=on 30..33",
        "f(a)=true [7,30)\nf(a)=false [30,..)",
        (40, 40, 40),
    ),
    "a complement for an instance that is known without ever having a value": (
        """
        initiatedAt(f(a)=X, T) :- happensAt(v(_, X), T).
        terminatedAt(f(X)=_, T) :- happensAt(v(X, _), T).
        holdsFor(g(X)=true, I) :- holdsFor(f(X)=_, I1), complement_all([I1], I).
        """,
        "v(b,9) 14",
        "f(a)=9 [15,..)\ng(b)=true [15,..)",
        (6, 5, 40),
    ),
    "the start of a value whose effect makes the instance known": (
        """
        initiatedAt(f(a, X)=true, T) :- happensAt(k, T), good(X).
        initially(f(_, _)=false).
        initiatedAt(g=low, T) :- happensAt(start(f(_, _)=true), T).
        good(c).
        """,
        "k 15",
        "f(a,c)=true [16,..)\ng=low [16,..)",
        (7, 7, 40),
    ),
    "an individual whose only row, the first of the window, is taken back": (
        """
        holdsFor(idle(X)=true, I) :- holdsFor(busy(X)=true, I1), complement_all([I1], I).
        dynamicDomain(dom(_)).
        grounding(e(X)) :- dom(X).
        grounding(busy(X)=true) :- dom(X).
        """,
        "e(a) 2\ne(b) 1\n- e(b) 1@3",
        "idle(a)=true [2,..)",
        (9, 1, 6),
    ),
    "a complement has no start where its individual is first seen": (
        """
        initiatedAt(s(X)=true, T) :- happensAt(go(X), T).
        terminatedAt(s(X)=true, T) :- happensAt(back(X), T).
        holdsFor(f(X)=true, I) :- holdsFor(s(X)=true, I1), complement_all([I1], I).
        initiatedAt(d(X)=true, T) :- happensAt(start(f(X)=true), T).
        """,
        "go(a) 8\nback(a) 12",
        "f(a)=true [8,9) [13,..)\ns(a)=true [9,13)\nd(a)=true [13,..)",
        (10, 5, 20),
    ),
    "nor has what is made of a value that an individual has from the beginning": (
        """
        initially(f(_)=true).
        terminatedAt(f(X)=true, T) :- happensAt(go(X), T).
        initiatedAt(f(X)=true, T) :- happensAt(back(X), T).
        holdsFor(g(X)=true, I) :- holdsFor(f(X)=true, I1), union_all([I1], I).
        initiatedAt(d(X)=true, T) :- happensAt(start(g(X)=true), T).
        """,
        "go(a) 8\nback(a) 12",
        "f(a)=true [8,9) [13,..)\ng(a)=true [8,9) [13,..)\nd(a)=true [13,..)",
        (10, 5, 20),
    ),
    "what has no start at first sight does not begin for a negation either": (
        """
        initiatedAt(s(X)=true, T) :- happensAt(go(X), T).
        terminatedAt(s(X)=true, T) :- happensAt(tick(X), T).
        holdsFor(f(X)=true, I) :- holdsFor(s(X)=true, I1), complement_all([I1], I).
        initiatedAt(d(X)=true, T) :- happensAt(tick(X), T), not happensAt(start(f(_)=true), T).
        """,
        "tick(a) 3\ngo(b) 4\ntick(b) 8\ntick(a) 11",
        "f(a)=true [3,..)\nf(b)=true [4,5) [9,..)\ns(b)=true [5,9)\nd(a)=true [4,..)",
        (10, 5, 20),
    ),
    "what is known from the start of the stream has no start before it": (
        """
        dom(a).
        grounding(s(X)=true) :- dom(X).
        initiatedAt(s(X)=true, T) :- happensAt(go(X), T).
        holdsFor(f(X)=true, I) :- holdsFor(s(X)=true, I1), complement_all([I1], I).
        initiatedAt(d(X)=true, T) :- happensAt(start(f(X)=true), T).
        """,
        "go(a) 8",
        "f(a)=true [0,9)\ns(a)=true [9,..)",
        (21, 20, 40),
    ),
    "the start of what an interval shows that makes its individual known": (
        """
        holdsFor(g(X)=true, I) :- holdsFor(walk(X)=true, I1), holdsFor(mode(X)=on, I2), union_all([I1, I2], I).
        initiatedAt(d(X)=true, T) :- happensAt(start(g(X)=true), T).
        """,
        "walk(a)=true 5..7\nmode(a)=on 12..14",
        "g(a)=true [5,7) [12,14)\nd(a)=true [5,..)",
        (10, 10, 30),
    ),
    "what a newcomer prevents has no start": (
        """
        terminatedAt(s(X)=true, T) :- happensAt(stop(X), T).
        holdsFor(idle(X)=true, I) :- holdsFor(s(X)=true, I1), complement_all([I1], I).
        holdsFor(f(X)=true, I) :-
            holdsFor(idle(X)=true, I1), holdsFor(mode(X)=on, I2), relative_complement_all(I2, [I1], I).
        initiatedAt(d(X)=true, T) :- happensAt(start(f(X)=true), T).
        """,
        "mode(a)=on 7..10\nstop(a) 7\nmode(b)=on 3..10\nstop(b) 7",
        "idle(a)=true [7,..)\nidle(b)=true [7,..)\nf(b)=true [3,7)\nd(b)=true [3,..)",
        (10, 5, 20),
    ),
    "who is known by the rule of one value is not known to be able to have another": (
        """
        initially(always=true).
        holdsFor(f(X)=on, I) :- holdsFor(mode(X)=on, I1), complement_all([I1], I).
        holdsFor(f(X)=lit, I) :- holdsFor(walk(X)=on, I1), complement_all([I1], I).
        holdsFor(nobody(X)=true, I) :- holdsFor(f(X)=dull, I1), holdsFor(always=true, I2), union_all([I1, I2], I).
        holdsFor(walker(X)=true, I) :- holdsFor(f(X)=lit, I1), holdsFor(always=true, I2), union_all([I1, I2], I).
        """,
        "mode(a)=off 3..10\nwalk(a)=off 7..10\nwalk(a)=on 10..12",
        "always=true [0,..)\nf(a)=on [3,..)\nf(a)=lit [7,10) [12,..)\nwalker(a)=true [7,..)",
        (10, 5, 20),
    ),
    "a value that somebody can have from the moment an event shows it has no start, though the fluent is known": (
        """
        initiatedAt(walk(X)=on, T) :- happensAt(go(X), T), not happensAt(stay(X), T).
        terminatedAt(walk(X)=on, T) :- happensAt(halt(X), T).
        holdsFor(f(X)=on, I) :- holdsFor(mode(X)=on, I1), complement_all([I1], I).
        holdsFor(f(X)=lit, I) :- holdsFor(walk(X)=on, I1), complement_all([I1], I).
        initiatedAt(noted(X)=true, T) :- happensAt(start(f(X)=lit), T).
        initiatedAt(last(X)=V, T) :- happensAt(start(f(X)=V), T).
        """,
        "mode(a)=off 3..10\nmode(b)=off 3..10\ngo(a) 7\nstay(a) 7\ngo(b) 7\nhalt(b) 12",
        """
        f(a)=on [3,..)
        f(b)=on [3,..)
        f(a)=lit [7,..)
        f(b)=lit [7,8) [13,..)
        walk(b)=on [8,13)
        noted(b)=true [13,..)
        last(a)=on [3,..)
        last(b)=on [3,13)
        last(b)=lit [13,..)
        """,
        (10, 5, 20),
    ),
    "an individual of which the one rule says nothing true is seen": (
        """
        terminatedAt(f(X)=on, T) :- happensAt(v(X, N), T), class(N, nonsense).
        initially(f(_)=on).
        class(N, top) :- N > 7.
        """,
        "v(a,9) 3",
        "f(a)=on [3,..)",
        (10, 5, 10),
    ),
    "a comparison of who a rule in a cycle is about": (
        """
        initiatedAt(f(X, Y)=Z, T) :- happensAt(k, T), holdsAt(f(X, 3)=7, T), X \\= b, limit(Y), limit(Z).
        initially(f(X, 3)=7) :- good(X).
        good(a). good(b). limit(4).
        """,
        "k 4",
        "f(a,3)=7 [0,..)\nf(b,3)=7 [0,..)\nf(a,4)=4 [5,..)",
        (10, 5, 10),
    ),
    "a rule for somebody of whom the head says more has all values of what it reads": (
        """
        fluent near(x). fluent far(x).
        initiatedAt(some(X, Y)=false, T) :- happensAt(meet(X, Y), T).
        holdsFor(some(X, Y)=true, I) :- holdsFor(near(X)=V, N), holdsFor(far(X)=V, F), union_all([N, F], I).
        """,
        "near(a)=on 3..9\nfar(a)=off 8..15\nmeet(a,b) 5",
        "some(a,b)=true [5,15)\nsome(a,b)=false [6,..)",
        (10, 5, 20),
    ),
    "who is first seen has no start of what lasts either": (
        """
        fluent open(x).
        initiatedAt(s(X)=on, T) :- happensAt(try(X), T), holdsAt(open(X)=true, T).
        holdsFor(idle(X)=true, I) :- holdsFor(s(X)=on, S), complement_all([S], J), intDurGreater(J, 2, I).
        holdsFor(bored(X)=true, I) :- holdsFor(idle(X)=true, I).
        initiatedAt(begun(X)=true, T) :- happensAt(start(idle(X)=true), T).
        initiatedAt(begun(X)=true, T) :- happensAt(start(bored(X)=true), T).
        """,
        "try(a) 7",
        "idle(a)=true [7,..)\nbored(a)=true [7,..)",
        (20, 5, 20),
    ),
    "what has no start at first sight does not begin inside a negation, nor where it is counted": (
        """
        initially(f(_)=on).
        initiatedAt(f(X)=off, T) :- happensAt(out(X), T), happensAt(tell(X), T).
        initiatedAt(f(X)=on, T) :- happensAt(in(X), T), happensAt(tell(X), T).
        initiatedAt(calm(N)=true, T) :- happensAt(tick(N), T), not (N < 9, happensAt(start(f(_)=on), T)).
        initiatedAt(count(N)=L, T) :-
            happensAt(tick(N), T), findall(X, happensAt(start(f(X)=on), T), Xs), length(Xs, L).
        """,
        "tick(1) 5\ntell(a) 6\nout(a) 6\ntick(2) 8\nin(a) 8\ntell(a) 8\ntick(9) 8",
        "f(a)=on [6,7) [9,..)\nf(a)=off [7,9)\ncalm(1)=true [6,..)\ncalm(9)=true [9,..)\n"
        "count(1)=0 [6,..)\ncount(2)=1 [9,..)\ncount(9)=1 [9,..)",
        (20, 5, 20),
    ),
    "what lasts from first sight has no start, also where another rule knew the individual before": (
        """
        fluent open(x). fluent walk(x).
        initiatedAt(s(X)=on, T) :- happensAt(try(X), T), holdsAt(open(X)=true, T).
        holdsFor(idle(X)=true, I) :- holdsFor(walk(X)=true, I).
        holdsFor(idle(X)=true, I) :- holdsFor(s(X)=on, S), complement_all([S], J), intDurGreater(J, 2, I).
        initiatedAt(begun(X)=true, T) :- happensAt(start(idle(X)=true), T).
        terminatedAt(begun(X)=true, T) :- happensAt(reset(X), T).
        """,
        "walk(a)=true 2..4\nreset(a) 5\ntry(a) 7",
        "idle(a)=true [2,4) [7,..)\nbegun(a)=true [2,6)",
        (20, 5, 20),
    ),
    "what is related to somebody who is seen later has its start where it begins": (
        """
        fluent open(x). fluent near(x).
        initiatedAt(s(X)=on, T) :- happensAt(try(X), T), holdsAt(open(X)=true, T).
        holdsFor(f(X)=true, I) :-
            holdsFor(near(X)=true, N), holdsFor(s(Y)=on, S), complement_all([S], J), allen(before, N, J, source, I).
        initiatedAt(begun(X)=true, T) :- happensAt(start(f(X)=true), T).
        """,
        "near(a)=true 3..5\ntry(b) 8",
        "f(a)=true [3,5)\nbegun(a)=true [3,..)",
        (20, 5, 20),
    ),
    "what somebody else brings at first sight has no start, also without a complement": (
        """
        fluent near(x). fluent open(x).
        initiatedAt(s(X)=on, T) :- happensAt(try(X), T), holdsAt(open(X)=true, T).
        holdsFor(f(X)=true, I) :- holdsFor(near(X)=true, N), holdsFor(s(Y)=on, S), union_all([N, S], I).
        holdsFor(g(X)=true, I) :-
            holdsFor(near(X)=true, N), holdsFor(s(Y)=on, S), union_all([N, S], J), intDurGreater(J, 2, I).
        initiatedAt(begun(X)=f, T) :- happensAt(start(f(X)=true), T).
        initiatedAt(begun(X)=g, T) :- happensAt(start(g(X)=true), T).
        """,
        "near(a)=true 7..12\ntry(b) 7\nnear(c)=true 3..12",
        "f(a)=true [7,12)\nf(c)=true [7,12)\ng(a)=true [7,12)\ng(c)=true [3,12)\nbegun(c)=g [3,..)",
        (20, 5, 20),
    ),
    "a rule that speaks of nobody gives nobody a value": (
        """
        fluent near(x). fluent far(x).
        holdsFor(f(_)=true, I) :- holdsFor(near(Y)=true, N), complement_all([N], I).
        holdsFor(g(X)=true, I) :-
            holdsFor(far(X)=true, J), holdsFor(f(X)=V, K), intersect_all([J, K], L), complement_all([L], I).
        """,
        "near(a)=true 3..9\nfar(a)=true 5..7",
        "",
        (20, 5, 20),
    ),
    "who is known to be able to have a value that a rule gives to all whom another rule knows": (
        """
        fluent walk(x). fluent near(x).
        holdsFor(f(X, _)=true, I) :- holdsFor(walk(X)=true, I).
        holdsFor(f(X, a)=lit, I) :- holdsFor(near(X)=true, I).
        holdsFor(rest(X)=true, I) :- holdsFor(f(X, _)=true, J), complement_all([J], I).
        """,
        "walk(a)=true 2..12\nnear(a)=true 8..9\nnear(b)=true 5..7",
        "f(a,a)=true [8,12)\nf(a,a)=lit [8,9)\nf(b,a)=lit [5,7)\nrest(a)=true [12,..)",
        (20, 5, 20),
    ),
    "a value that a newcomer brings at first sight gives no other fluent a start": (
        """
        good(b).
        fluent near(x).
        initiatedAt(s(X)=on, T) :- happensAt(e(X), T).
        grounding(calm(X)=_) :- good(X).
        holdsFor(calm(_)=true, I) :- holdsFor(s(Y)=off, S), complement_all([S], I).
        holdsFor(f(X)=true, I) :-
            holdsFor(calm(X)=V, J), holdsFor(near(X)=V, N), intersect_all([J, N], K), complement_all([K], I).
        initiatedAt(begun(X)=true, T) :- happensAt(start(f(X)=true), T).
        """,
        "e(b) 6",
        "s(b)=on [7,..)\ncalm(b)=true [6,..)\nf(b)=true [6,..)",
        (20, 5, 20),
    ),
    "what lasts begins where what it is made of does, though that holds before its individual is seen": (
        """
        initiatedAt(s(X)=off, T) :- happensAt(g(X), T).
        holdsFor(late(X)=true, I) :- holdsFor(s(Y)=off, B), holdsFor(s(X)=off, A), allen(finishes, A, B, union, I).
        holdsFor(long(X)=true, I) :- holdsFor(late(X)=true, J), intDurGreater(J, 2, I).
        initiatedAt(begun(X)=true, T) :- happensAt(start(long(X)=true), T).
        """,
        "g(b) 5\ng(a) 14",
        "s(a)=off [15,..)\ns(b)=off [6,..)\nlate(a)=true [6,..)\nlong(a)=true [6,..)\nbegun(a)=true [6,..)",
        (20, 5, 20),
    ),
    "what is copied holds where it does, though that holds before its individual is seen": (
        """
        initiatedAt(s(X)=off, T) :- happensAt(g(X), T).
        holdsFor(late(X)=true, I) :- holdsFor(s(Y)=off, B), holdsFor(s(X)=off, A), allen(finishes, A, B, union, I).
        holdsFor(copy(X)=true, I) :- holdsFor(late(X)=true, I).
        holdsFor(both(X, Y)=true, I) :- holdsFor(late(X)=true, A), holdsFor(copy(Y)=true, B), intersect_all([A, B], I).
        """,
        "g(b) 5\ng(a) 14",
        "s(a)=off [15,..)\ns(b)=off [6,..)\nlate(a)=true [6,..)\ncopy(a)=true [6,..)\nboth(a,a)=true [6,..)",
        (20, 5, 20),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_who_is_first_seen_gets_the_timeline(name: str) -> None:
    assert_gives(CASES[name])
