"""Small programs that once went wrong: the reasoner and the reference give the timeline that is written here."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from thalweg import parse, run
from thalweg.analysis.checker import check
from thalweg.events.reasoner import Reasoner
from thalweg.reference.events import Row
from thalweg.reference.windowed import replay
from thalweg.testing.comparison import assert_same_timeline
from thalweg.testing.engines import replay_with
from thalweg.testing.tables import stream, timeline

CASES = {
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
    "a rule that reads the start of an input interval is about whom the interval shows": (
        r"""
        dynamicDomain(id(_)).
        grounding(walk(P)=_) :- id(P).
        grounding(gone(P)) :- id(P).
        grounding(person(P)=true) :- id(P).
        grounding(comes(P)) :- id(P).
        initiatedAt(person(P)=true, T) :- happensAt(start(walk(P)=true), T), \+ happensAt(gone(P), T).
        initiatedAt(person(P)=false, T) :- happensAt(gone(P), T).
        happensAt(comes(P), T) :- happensAt(start(walk(P)=true), T).
        initiatedAt(seen(P)=true, T) :- happensAt(comes(P), T).
        """,
        "walk(a)=true points 4 5 11\ngone(a) 7\nwalk(b)=true points 11 12",
        "person(a)=true [4,8) [11,..)\nperson(b)=true [11,..)\nseen(a)=true [4,..)\nseen(b)=true [11,..)",
        (10, 5, 20),
    ),
    "initially does not reach somebody whom a start of input shows and has an effect on": (
        """
        dynamicDomain(id(_)).
        grounding(walk(P)=_) :- id(P).
        grounding(seen(P)) :- id(P).
        grounding(pace(P)=quick) :- id(P).
        grounding(pace(P)=none) :- id(P).
        initially(pace(_)=none).
        initiatedAt(pace(P)=quick, T) :- happensAt(start(walk(P)=true), T).
        """,
        "walk(b)=true 8..17\nseen(a) 4\nwalk(a)=true 9..12",
        "pace(b)=quick [8,..)\npace(a)=none [4,9)\npace(a)=quick [9,..)",
        (10, 5, 20),
    ),
    "a delayed effect of somebody whom a start of input shows comes": (
        """
        dynamicDomain(id(_)).
        grounding(walk(P)=_) :- id(P).
        grounding(pace(P)=quick) :- id(P).
        grounding(pace(P)=slow) :- id(P).
        initiatedAt(pace(P)=quick, T) :- happensAt(start(walk(P)=true), T).
        fi(pace(P)=quick, pace(P)=slow, 3).
        """,
        "walk(b)=true 8..17",
        "pace(b)=quick [8,11)\npace(b)=slow [11,..)",
        (10, 5, 20),
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
    "a value that a head or a grounding names ends the others, also where it is not wanted itself": (
        r"""
        initiatedAt(noise(X)=V, T) :- happensAt(level(X, V), T).
        initiatedAt(vote(X)=aye, T) :- happensAt(e(X), T).
        initiatedAt(vote(X)=null, T) :- happensAt(g(X), T), \+ holdsAt(vote(X)=null, T).
        initiatedAt(shut(X)=true, T) :- happensAt(end(vote(X)=aye), T).
        initiatedAt(told(X)=true, T) :- happensAt(g(X), T), terminatedAt(vote(X)=aye, T).
        terminatedAt(vote(X)=_, T) :- happensAt(k(X), T).
        grounding(noise(X)=high) :- bus(X).
        grounding(noise(X)=low) :- bus(X), X = b.
        grounding(vote(X)=aye) :- bus(X).
        bus(a). bus(b).
        """,
        "level(a,high) 2\nlevel(b,high) 2\nlevel(b,low) 4\nlevel(a,low) 5\nlevel(a,low) 7\nlevel(b,none) 7\n"
        "level(a,high) 8\nlevel(a,low) 8\nlevel(c,high) 8\ne(a) 3\ng(a) 7\ne(a) 9\nk(a) 11\ne(b) 12\ng(b) 12",
        "noise(a)=high [3,6)\nnoise(b)=high [3,5)\nnoise(b)=low [5,..)\nvote(a)=aye [4,8) [10,12)\nshut(a)=true [8,..)",
        (10, 5, 20),
    ),
    "a value that is not wanted stops the countdowns of the others": (
        r"""
        initiatedAt(f(X)=on, T) :- happensAt(e(X), T), \+ holdsAt(h(X)=true, T).
        initiatedAt(f(X)=off, T) :- happensAt(g(X), T).
        initiatedAt(h(X)=true, T) :- happensAt(k(X), T), holdsAt(f(X)=on, T).
        fi(f(X)=on, f(X)=late, 5).
        fi(f(X)=late, f(X)=off, 2).
        grounding(f(X)=on) :- some(X).
        grounding(f(X)=late) :- some(X).
        some(a). some(b).
        """,
        "e(a) 2\ng(a) 4\ne(b) 2\ng(b) 11",
        "f(a)=on [3,5)\nf(b)=on [3,8)\nf(b)=late [8,12)",
        (10, 5, 20),
    ),
    "a variable of a determined head that no condition binds ranges over what its grounding gives": (
        """
        initiatedAt(status(M)=open, T) :- happensAt(e(M), T).
        terminatedAt(status(M)=open, T) :- happensAt(g(M), T).
        holdsFor(pow(vote(_V, M))=true, I) :- holdsFor(status(M)=open, I).
        holdsFor(long(_V, M)=true, I) :- holdsFor(status(M)=open, J), intDurGreater(J, 2, I).
        initiatedAt(asked(V)=true, T) :- happensAt(start(pow(vote(V, M))=true), T).
        grounding(pow(vote(V, M))=true) :- member_of(V, M).
        grounding(long(V, m1)=true) :- member_of(V, m1).
        member_of(ann, m1). member_of(bob, m1). member_of(bob, m2).
        """,
        "e(m1) 3\ng(m1) 6\ne(m2) 8\ne(m3) 9",
        "status(m1)=open [4,7)\nstatus(m2)=open [9,..)\nstatus(m3)=open [10,..)\npow(vote(ann,m1))=true [4,7)\n"
        "pow(vote(bob,m1))=true [4,7)\npow(vote(bob,m2))=true [9,..)\nlong(ann,m1)=true [4,7)\n"
        "long(bob,m1)=true [4,7)\nasked(ann)=true [4,..)\nasked(bob)=true [4,..)",
        (10, 5, 20),
    ),
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
    "a free variable of a determined head, a grounding over domains that fill up": (
        """
        initiatedAt(status(M)=open, T) :- happensAt(e(M), T).
        holdsFor(pow(_V, M)=true, I) :- holdsFor(status(M)=open, I).
        initiatedAt(here(V)=true, T) :- happensAt(k(V), T).
        grounding(pow(V, M)=true) :- person(V), good(M).
        grounding(k(V)) :- person(V).
        dynamicDomain(person(_)).
        good(m1).
        """,
        "k(ann) 2\ne(m1) 3\nk(bob) 8\ne(m2) 9",
        "status(m1)=open [4,..)\nstatus(m2)=open [10,..)\nhere(ann)=true [3,..)\nhere(bob)=true [9,..)\n"
        "pow(ann,m1)=true [4,..)\npow(bob,m1)=true [8,..)",
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
    "a complement of all that a grounding gives holds from the start": (
        """
        terminatedAt(f(X)=_, T) :- happensAt(e(X), T).
        holdsFor(free(X)=true, I) :- holdsFor(f(X)=3, I1), holdsFor(walk(X)=true, I2), complement_all([I2], I).
        initiatedAt(g=true, T) :- happensAt(start(free(_)=true), T).
        dom(a). dom(b). grounding(free(X)=true) :- dom(X).
        """,
        "e(a) 14\ne(c) 15",
        "free(a)=true [0,..)\nfree(b)=true [0,..)",
        (1, 1, 20),
    ),
    "a complement that a grounding gives begins when the other variables of its rule are first seen, without a start": (
        """
        initiatedAt(near(X, Y)=true, T) :- happensAt(e(X, Y), T).
        holdsFor(apart(X)=true, I) :- holdsFor(near(X, Y)=true, I1), complement_all([I1], I).
        initiatedAt(g=true, T) :- happensAt(start(apart(_)=true), T).
        dom(a). dom(b). grounding(apart(X)=true) :- dom(X).
        """,
        "e(a,c) 14",
        "near(a,c)=true [15,..)\napart(a)=true [14,15)\napart(b)=true [14,..)",
        (5, 5, 20),
    ),
    "a grounding that leaves the value open gives its instances": (
        """
        initially(f(_)=1).
        initiatedAt(f(X)=2, T) :- happensAt(e(X), T).
        dom(a). dom(b). grounding(f(X)=_) :- dom(X).
        """,
        "e(a) 4\ne(c) 5",
        "f(a)=1 [0,5)\nf(a)=2 [5,..)\nf(b)=1 [0,..)",
        (5, 5, 10),
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
    "initially for every instance, with effects on known instances": (
        """
        initiatedAt(f(X,c)=mid, T) :- happensAt(g(X), T), holdsAt(near(X,X)=true, T).
        terminatedAt(f(X,X)=_, T) :- happensAt(end(mode(X)=off), T).
        initially(f(_,_)=high).
        happensAt(d(Y), T) :- happensAt(v(X), T), holdsAt(f(X,Y)=mid, T).
        initiatedAt(e(X)=low, T) :- happensAt(d(X), T).
        initiatedAt(e(X)=mid, T) :- happensAt(g(Y), T).
        """,
        "g(c) 20",
        "f(c,c)=high [20,..)",
        (8, 7, 35),
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
    "nor has one where a domain is told of its individual": (
        """
        dynamicDomain(dom(_)).
        grounding(go(X)) :- dom(X).
        grounding(f(X)=true) :- dom(X).
        holdsFor(f(X)=true, I) :- holdsFor(walk(X)=true, I1), complement_all([I1], I).
        initiatedAt(d(X)=true, T) :- happensAt(start(f(X)=true), T).
        """,
        "walk(a)=true 5..7 15..17\ngo(a) 12",
        "f(a)=true [12,15) [17,..)\nd(a)=true [17,..)",
        (10, 10, 30),
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
    "initially reaches nobody where a grounding leaves open who there is": (
        """
        dynamicDomain(dom(_)).
        good(a).
        grounding(g(X)) :- dom(X).
        grounding(f(X, Y)=true) :- dom(Y).
        initially(f(X, Y)=true) :- good(X).
        grounding(h(X, Y)=true) :- good(X), dom(Y).
        initially(h(X, Y)=true) :- good(X).
        """,
        "g(a) 15",
        "h(a,a)=true [15,..)",
        (7, 7, 40),
    ),
    "what initially sets because a domain is told of somebody has no start": (
        """
        dynamicDomain(dom(_)).
        grounding(go(X)) :- dom(X).
        initially(f(X)=true) :- dom(X).
        terminatedAt(f(X)=true, T) :- happensAt(stop(X), T).
        initiatedAt(f(X)=true, T) :- happensAt(again(X), T).
        initiatedAt(d(X)=true, T) :- happensAt(start(f(X)=true), T).
        """,
        "go(a) 5\nstop(a) 8\nagain(a) 12",
        "f(a)=true [5,9) [13,..)\nd(a)=true [13,..)",
        (10, 5, 20),
    ),
    "an end of all values of an instance that no grounding gives yet is not seen": (
        """
        dynamicDomain(dom(_)).
        grounding(go(X)) :- dom(X).
        grounding(f(X)=false) :- dom(X).
        initially(f(_)=false).
        terminatedAt(f(X)=_, T) :- happensAt(stop(X), T).
        """,
        "stop(a) 3\ngo(a) 8\nstop(a) 12",
        "f(a)=false [8,13)",
        (10, 5, 20),
    ),
    "initially does not reach whom an effect has met before a domain was told": (
        """
        dynamicDomain(dom(_)).
        grounding(go(X)) :- dom(X).
        initially(f(X)=true) :- dom(X).
        terminatedAt(f(X)=true, T) :- happensAt(stop(X), T).
        """,
        "stop(a) 3\ngo(a) 8\ngo(b) 8",
        "f(b)=true [8,..)",
        (10, 5, 20),
    ),
    "who an input interval tells to a domain has no start at first sight": (
        """
        dynamicDomain(dom(_)).
        grounding(walk(X)=_) :- dom(X).
        grounding(f(X)=true) :- dom(X).
        holdsFor(f(X)=true, I) :- holdsFor(mode(X)=on, I1), complement_all([I1], I).
        initiatedAt(d(X)=true, T) :- happensAt(start(f(X)=true), T).
        """,
        "mode(a)=on 2..3 12..14\nwalk(a)=true 5..7",
        "f(a)=true [5,12) [14,..)\nd(a)=true [14,..)",
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
    "what `initially` sets when an individual is first seen begins and ends nothing that was known before": (
        """
        initially(s(_)=true).
        terminatedAt(s(X)=true, T) :- happensAt(stop(X), T).
        holdsFor(f(X)=true, I) :- holdsFor(s(X)=true, I1), holdsFor(mode(X)=on, I2), union_all([I1, I2], I).
        holdsFor(g(X)=true, I) :-
            holdsFor(s(X)=true, I1), holdsFor(mode(X)=on, I2), relative_complement_all(I2, [I1], I).
        initiatedAt(begun(X)=true, T) :- happensAt(start(f(X)=true), T).
        initiatedAt(ended(X)=true, T) :- happensAt(end(g(X)=true), T).
        terminatedAt(begun(X)=true, T) :- happensAt(reset(X), T).
        """,
        "mode(a)=on 2..4\nmode(b)=on 2..16\nreset(a) 6\nstop(a) 10 \nstop(b) 10",
        """
        s(a)=true [10,11)
        s(b)=true [10,11)
        f(a)=true [2,4) [10,11)
        f(b)=true [2,16)
        g(a)=true [2,4)
        g(b)=true [2,10) [11,16)
        begun(a)=true [2,7)
        begun(b)=true [2,..)
        ended(a)=true [4,..)
        ended(b)=true [16,..)
        """,
        (10, 5, 20),
    ),
    "what `initially` sets through a domain begins nothing that was known before": (
        """
        dynamicDomain(dom(_)).
        grounding(walk(X)=_) :- dom(X).
        initially(s(X)=true) :- dom(X).
        initiatedAt(s(X)=true, T) :- happensAt(go(X), T), holdsAt(walk(X)=true, T).
        terminatedAt(s(X)=true, T) :- happensAt(stop(X), T).
        holdsFor(f(X)=true, I) :- holdsFor(s(X)=true, I1), holdsFor(mode(X)=on, I2), union_all([I1, I2], I).
        initiatedAt(d(X)=true, T) :- happensAt(start(f(X)=true), T).
        """,
        "go(a) 2\nwalk(a)=true 6..9\nstop(a) 11\nmode(a)=on 14..15\nmode(b)=on 4..5\nwalk(b)=true 8..9",
        """
        s(a)=true [6,12)
        s(b)=true [8,..)
        f(a)=true [6,12) [14,15)
        f(b)=true [4,5) [8,..)
        d(a)=true [14,..)
        d(b)=true [4,..)
        """,
        (10, 5, 20),
    ),
    "`initially` does not reach who only the determined values of its fluent know": (
        """
        initially(f(_)=dull).
        initiatedAt(f(X)=off, T) :- happensAt(go(X), T).
        holdsFor(f(X)=lit, I) :- holdsFor(mode(X)=on, I1), union_all([I1], I).
        initiatedAt(d(X)=true, T) :- happensAt(start(f(X)=dull), T).
        """,
        "mode(a)=on 2..4\nmode(b)=on 2..4\ngo(b) 8",
        "f(a)=lit [2,4)\nf(b)=lit [2,4)\nf(b)=dull [8,9)\nf(b)=off [9,..)",
        (10, 5, 20),
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
    "a union for those in a domain that a rule makes of another": (
        """
        holdsFor(f(X)=true, I) :- holdsFor(level(X)=3, I1), holdsFor(level(X)=7, I2), union_all([I1, I2], I).
        dynamicDomain(person(_)).
        grounding(comes(X)) :- person(X).
        grounding(f(X)=true) :- adult(X).
        adult(X) :- person(X), \\+ child(X).
        child(ben).
        """,
        "comes(ann) 3\ncomes(ben) 3\nlevel(ann)=3 2..6\nlevel(ann)=7 5..8\nlevel(ben)=7 4..9\nlevel(joe)=7 4..9",
        "f(ann)=true [3,8)",
        (10, 5, 10),
    ),
    "where a grounding leaves the value of a determined fluent open, the values that it has had count": (
        """
        fluent near(x).
        place(b).
        grounding(far(X)=_) :- place(X).
        holdsFor(far(X)=true, I) :- holdsFor(near(X)=true, J), complement_all([J], I).
        holdsFor(long(X)=true, I) :- holdsFor(far(X)=_, J), intDurGreater(J, 6, I).
        holdsFor(gone(X)=V, I) :- holdsFor(far(X)=V, J), complement_all([J], I).
        """,
        "near(b)=true 23..33",
        "far(b)=true [0,23) [33,..)\nlong(b)=true [4,23) [37,..)\ngone(b)=true [23,33)",
        (3, 3, 42),
    ),
    "a value that a rule does not hand on, where a domain that fills up says who is wanted": (
        """
        dynamicDomain(dom(_)).
        grounding(tell(X)) :- dom(X).
        grounding(some(X)=_) :- dom(X).
        fluent near(x). fluent far(x).
        holdsFor(some(X)=true, I) :- holdsFor(near(X)=V, N), holdsFor(far(X)=V, F), union_all([N, F], I).
        """,
        "near(a)=on 3..9\nfar(a)=off 8..15\ntell(a) 5\nnear(b)=on 4..6",
        "some(a)=true [5,15)",
        (10, 5, 20),
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
    "a grounding of input adds to who is known, and takes away nobody": (
        """
        place(a).
        fluent near(x).
        grounding(near(X)=_) :- place(X).
        holdsFor(same(X)=V, I) :- holdsFor(near(X)=V, I).
        holdsFor(long(X)=true, I) :- holdsFor(near(X)=true, N), intDurGreater(N, 3, I).
        holdsFor(away(X)=true, I) :- holdsFor(near(X)=true, N), complement_all([N], I).
        """,
        "near(c)=true 7..12",
        "same(c)=true [7,12)\nlong(c)=true [7,12)\naway(a)=true [0,..)\naway(c)=true [12,..)",
        (10, 5, 20),
    ),
    "what is made of input that fills a domain begins with it": (
        """
        dynamicDomain(dom(_)).
        fluent near(x).
        grounding(near(X)=_) :- dom(X).
        holdsFor(same(X)=true, I) :- holdsFor(near(X)=true, I).
        initiatedAt(met(X)=true, T) :- happensAt(start(same(X)=true), T).
        """,
        "near(c)=true 7..12",
        "same(c)=true [7,12)\nmet(c)=true [7,..)",
        (10, 5, 20),
    ),
    "input of a value that no grounding names fills no domain": (
        """
        dynamicDomain(dom(_)).
        fluent near(x).
        grounding(near(X)=true) :- dom(X).
        grounding(away(X)=true) :- dom(X).
        holdsFor(away(X)=true, I) :- holdsFor(near(X)=true, N), complement_all([N], I).
        """,
        "near(a)=false 3..9\nnear(b)=true 4..6",
        "away(b)=true [6,..)",
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
    "who is told to a domain that a rule asks for has no start there": (
        """
        dynamicDomain(dom(_)).
        grounding(e(X)) :- dom(X).
        fluent near(x).
        holdsFor(f(X)=true, I) :- holdsFor(near(X)=true, J), dom(X), union_all([J], I).
        holdsFor(g(X)=true, I) :- holdsFor(near(X)=true, J), dom(X), intDurGreater(J, 2, I).
        initiatedAt(begun(X)=f, T) :- happensAt(start(f(X)=true), T).
        initiatedAt(lasts(X)=g, T) :- happensAt(start(g(X)=true), T).
        """,
        "near(a)=true 3..9\ne(a) 5\nnear(b)=true 5..9\ne(b) 5\nnear(c)=true 6..9\ne(c) 5",
        """
        f(a)=true [5,9)
        f(b)=true [5,9)
        f(c)=true [6,9)
        g(a)=true [3,9)
        g(b)=true [5,9)
        g(c)=true [6,9)
        begun(c)=f [6,..)
        lasts(a)=g [3,..)
        lasts(c)=g [6,..)
        """,
        (20, 5, 20),
    ),
    "what lasts has its start where it begins, though a domain that says who is wanted is filled later": (
        """
        dynamicDomain(dom(_)).
        grounding(e(X)) :- dom(X).
        grounding(f(X)=true) :- dom(X).
        fluent near(x).
        holdsFor(f(X)=true, I) :- holdsFor(near(X)=true, J), intDurGreater(J, 2, I).
        initiatedAt(begun(X)=true, T) :- happensAt(start(f(X)=true), T).
        """,
        "near(a)=true 3..9\ne(a) 5",
        "f(a)=true [3,9)\nbegun(a)=true [3,..)",
        (20, 5, 20),
    ),
    "who a determined fluent knows through a domain that its rule asks for": (
        """
        dynamicDomain(dom(_)).
        grounding(e(X)) :- dom(X).
        fluent near(x).
        holdsFor(f(X)=true, I) :- holdsFor(near(X)=true, J), dom(X), union_all([J], I).
        holdsFor(rest(X)=true, I) :- holdsFor(f(X)=true, J), complement_all([J], I).
        """,
        "near(a)=true 3..9\ne(a) 5\nnear(b)=true 3..9",
        "f(a)=true [5,9)\nrest(a)=true [9,..)",
        (20, 5, 20),
    ),
    "a complement that is judged whole begins when a domain that its rule asks for holds the individual": (
        """
        dynamicDomain(dom(_)).
        grounding(e(X)) :- dom(X).
        fluent near(x).
        holdsFor(calm(X)=true, I) :- holdsFor(near(X)=true, N), dom(X), complement_all([N], J), intDurGreater(J, 2, I).
        """,
        "near(a)=true 3..5\ne(a) 8",
        "calm(a)=true [8,..)",
        (20, 5, 20),
    ),
    "a complement that is judged whole is so for each whom a domain holds": (
        """
        dynamicDomain(dom(_)).
        grounding(e(X)) :- dom(X).
        fluent near(x).
        dom(c).
        holdsFor(calm(X, Y)=true, I) :- holdsFor(near(X)=true, N), dom(Y), complement_all([N], J), intDurLess(J, 7, I).
        """,
        "near(a)=true 3..5\ne(b) 15",
        "calm(a,b)=true [15,..)",
        (20, 5, 20),
    ),
    "a complement of a value that `initially` has given has its start": (
        """
        initially(s(_)=on).
        initiatedAt(s(X)=off, T) :- happensAt(g(X), T).
        holdsFor(rest(X)=V, I) :- holdsFor(s(X)=V, S), complement_all([S], I).
        initiatedAt(begun(X)=V, T) :- happensAt(start(rest(X)=V), T).
        """,
        "g(b) 3",
        "s(b)=on [3,4)\ns(b)=off [4,..)\nrest(b)=on [4,..)\nbegun(b)=on [4,..)",
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
    "the initiation of a value that is not wanted does not keep `initially` away": (
        """
        dynamicDomain(dom(_)).
        grounding(h(X)) :- dom(X).
        grounding(s(X)=on) :- good(X).
        good(a).
        initiatedAt(s(X)=off, T) :- happensAt(g(X), T).
        initially(s(X)=on) :- dom(X).
        """,
        "g(a) 7\nh(a) 12",
        "s(a)=on [12,..)",
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
def test_a_small_program_gives_its_timeline(name: str) -> None:
    text, rows, expected, (window, step, end) = CASES[name]
    program, given = parse(text), stream(rows)
    run = {"window": window, "step": step, "start": 0, "end": end}
    drawn = timeline(expected)
    assert_same_timeline(drawn, replay(program, given, **run)[-1].timeline, names=("written", "reference"))
    found = replay_with(Reasoner, program, given, **run)[-1].timeline
    assert_same_timeline(drawn, found, names=("written", "reasoner"))


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
    program = parse(
        """
        holdsFor(u(X)=true, I) :- holdsFor(near(X)=true, I1), union_all([I1], I).
        initiatedAt(f(X)=true, T) :- happensAt(start(near(X)=true), T).
        """
    )
    run = {"window": 5, "step": 5, "start": 0, "end": 50, "tick": 5}
    given = stream("near(a)=true 25..35@30\nnear(b)=true 10..45@10\n- near(b)=true 10..45@25")
    drawn = timeline("u(a)=true [30,35)\nf(a)=true [30,..)\nu(b)=true [10,25)\nf(b)=true [10,..)")
    assert_same_timeline(drawn, replay(program, given, **run)[-1].timeline, names=("written", "reference"))
    found = replay_with(Reasoner, program, given, **run)[-1].timeline
    assert_same_timeline(drawn, found, names=("written", "reasoner"))


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


def test_a_delay_that_is_no_multiple_of_the_tick_lasts_until_the_next_point() -> None:
    program = parse("initiatedAt(f(X)=on, T) :- happensAt(e(X), T). fi(f(X)=on, f(X)=off, 4). ft(f(X)=off, 3).")
    run = {"window": 9, "step": 3, "start": 0, "end": 30, "tick": 3}
    given, drawn = stream("e(a) 3"), timeline("f(a)=on [6,12)\nf(a)=off [12,15)")
    assert_same_timeline(drawn, replay(program, given, **run)[-1].timeline, names=("written", "reference"))
    found = replay_with(Reasoner, program, given, **run)[-1].timeline
    assert_same_timeline(drawn, found, names=("written", "reasoner"))


LAMP = parse("initiatedAt(on(X)=true, T) :- happensAt(press(X), T).")


def made(program: Any = LAMP, window: Any = 10, step: Any = 10) -> Any:
    return Reasoner(program, window=window, step=step)


def test_a_reasoner_of_a_program_with_a_tick_takes_timedeltas() -> None:
    reasoner = made(parse(f"tick 1m. {LAMP}"), window=timedelta(hours=1), step=timedelta(minutes=10))
    assert (reasoner.window, reasoner.step) == (60, 10)


@pytest.mark.parametrize(
    ("misuse", "message"),
    [
        (lambda: made(LAMP, window="1h", step=10), "here, or timedeltas, not '1h'"),
        (lambda: made(LAMP, window=10.5, step=10), r"not 10\.5"),
        (lambda: made("a.", window=10, step=10), "takes an event description"),
        (lambda: made(parse("program lars. a if b.")), "this is a LARS program: use thalweg.lars.Reasoner"),
        (lambda: made(LAMP, window=timedelta(hours=1)), "does not say how long a time-point lasts, so 1:00:00 is no"),
        (lambda: made(parse(f"tick 1m. {LAMP}"), window=timedelta(seconds=90)), "not a whole number of time-points"),
        (lambda: made(LAMP, window=10, step=10).accept([{"name": "press"}]), "thalweg.rows"),
        (lambda: made(LAMP, window=10, step=10).accept(None), "thalweg.rows"),
        (lambda: made(LAMP, window=10, step=10).advance(to=25.5), r"not 25\.5"),
    ],
)
def test_a_reasoner_that_is_misused_says_what_it_takes(misuse: Callable[[], object], message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        misuse()
