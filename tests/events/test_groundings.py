"""Who is wanted, and from when on: groundings, domains that fill up, ``initially``; programs that once went wrong."""

from __future__ import annotations

import re

import pytest
from small_programs import Case, assert_gives

CASES: dict[str, Case] = {
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
    "variables are called as those that a rule is given on the way might be": (
        """
        dom(b, 5).
        grounding(s(_1)=on) :- dom(_1, _0).
        grounding(s(_1)=off) :- dom(_1, _0).
        grounding(g(_1)) :- dom(_1, _0).
        grounding(h(_1)=true) :- dom(_1, _0).
        initiatedAt(s(X)=on, T) :- happensAt(g(X), T).
        holdsFor(h(X)=true, _D0) :- holdsFor(s(X)=on, _R0), complement_all([_R0], _D0).
        """,
        "g(b) 3\ng(b) 7",
        "s(b)=on [4,..)\nh(b)=true [0,4)",
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
}


@pytest.mark.parametrize("name", CASES)
def test_who_is_wanted_gets_the_timeline(name: str) -> None:
    assert_gives(CASES[name])


@pytest.mark.parametrize("name", CASES)
def test_a_variable_may_begin_with_an_underscore(name: str) -> None:
    """It is no anonymous one for that."""
    text, *rest = CASES[name]
    assert_gives((re.sub(r"\b([A-Z])", r"_\1", text), *rest))
