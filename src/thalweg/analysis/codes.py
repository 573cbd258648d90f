"""The diagnostics of the checker: TW1xx are errors unless said otherwise, TW2xx are warnings and hints."""

from __future__ import annotations

from thalweg.language.diagnostics import Code, register


def _code(code: str, title: str, explanation: str, wrong: str, right: str) -> Code:
    return Code(
        code,
        title,
        f"{explanation}\n\nWrong:\n\n```\n{wrong.strip()}\n```\n\nRight:\n\n```\n{right.strip()}\n```",
    )


register(
    _code(
        "TW101",
        "unknown predicate",
        "A body calls a predicate that no fact, rule or `dynamicDomain` defines: it would be "
        "false for ever. Give its facts (`--background`), correct its name, or, if it is an event"
        " or a fluent, read it with `happensAt` or `holdsAt`. Where no background knowledge was "
        "given at all this is a warning.",
        "initiatedAt(f(X)=true, T) :- happensAt(e(X), T), vesel(X).\nvessel(a).",
        "initiatedAt(f(X)=true, T) :- happensAt(e(X), T), vessel(X).\nvessel(a).",
    ),
    _code(
        "TW102",
        "one name with two arities",
        "An event or fluent is used with different numbers of arguments. Rows of the input have "
        "one of them, so the other rule would never fire. Where both are meant, declare both.",
        "initiatedAt(gap(V)=true, T) :- happensAt(gap_start(V), T).\n"
        "terminatedAt(gap(V)=true, T) :- happensAt(gap_start(V, _), T).",
        "initiatedAt(gap(V)=true, T) :- happensAt(gap_start(V), T).\n"
        "terminatedAt(gap(V)=true, T) :- happensAt(gap_end(V), T).",
    ),
    _code(
        "TW103",
        "one name in two roles",
        "A name is used as an event in one place and as a fluent in another, and nothing defines "
        "one of them. Events are read with `happensAt`, fluents with `holdsAt` and `holdsFor`.",
        "initiatedAt(gap(V)=true, T) :- happensAt(gap_start(V), T).\n"
        "terminatedAt(slow(V)=true, T) :- happensAt(gap(V), T).",
        "initiatedAt(gap(V)=true, T) :- happensAt(gap_start(V), T).\n"
        "terminatedAt(slow(V)=true, T) :- happensAt(start(gap(V)=true), T).",
    ),
    _code(
        "TW104",
        "a name that looks misspelt",
        "An event, fluent or predicate that nothing defines has nearly the name of another. An "
        "error where other inputs are declared and this one is not, a warning otherwise. If it is"
        " meant, declare it: `event name(a, b).` or `fluent name(a).` Facts and rules that nothing reads, with "
        "nearly the name of a word of the language (`initiateAt`), are an error too; those about a fluent and its "
        "value (`fti(a=true, 5)`) are a warning.",
        "initiatedAt(gap(V)=true, T) :- happensAt(gap_start(V), T).\n"
        "terminatedAt(gap(V)=true, T) :- happensAt(gap_strat(V), T).",
        "initiatedAt(gap(V)=true, T) :- happensAt(gap_start(V), T).\n"
        "terminatedAt(gap(V)=true, T) :- happensAt(gap_end(V), T).",
    ),
    _code(
        "TW110",
        "unsafe variable",
        "A value is needed for a variable and no positive literal gives one: it occurs only in "
        "comparisons, under negation, or in the head. Bind it with an event, a fluent or a fact.",
        "initiatedAt(fast(V)=true, T) :- happensAt(move(V), T), Speed > 10.",
        "initiatedAt(fast(V)=true, T) :- happensAt(velocity(V, Speed), T), Speed > 10.",
    ),
    _code(
        "TW111",
        "no event in the rule",
        "A fluent changes when an event happens. A body with conditions only would fire at every "
        "time-point; at least one positive `happensAt`, `start`, `end`, `initiatedAt` or "
        "`terminatedAt` is needed, in every alternative. What holds while other fluents hold is "
        "written as a `holdsFor` rule.",
        "initiatedAt(alarm(X)=true, T) :- holdsAt(hot(X)=true, T).",
        "initiatedAt(alarm(X)=true, T) :- happensAt(start(hot(X)=true), T).",
    ),
    _code(
        "TW112",
        "another time-point",
        "All literals of a rule are read at the time-point of its head. Effects at a later time "
        "are delayed effects: `fi` and `ft`.",
        "initiatedAt(f(X)=true, T) :- happensAt(e(X), T), holdsAt(g(X)=true, T2).",
        "initiatedAt(f(X)=true, T) :- happensAt(e(X), T), holdsAt(g(X)=true, T).",
    ),
    _code(
        "TW113",
        "a literal of another kind of rule",
        "Rules with `initiatedAt`, `terminatedAt` and `happensAt` heads look at one time-point; "
        "`holdsFor` rules look at intervals. Their literals do not mix, and background rules, "
        "`initially` and `grounding` have no time at all.",
        "holdsFor(both(X)=true, I) :- holdsFor(a(X)=true, I), holdsAt(b(X)=true, T).",
        "holdsFor(both(X)=true, I) :- holdsFor(a(X)=true, I1), holdsFor(b(X)=true, I2), "
        "intersect_all([I1, I2], I).",
    ),
    _code(
        "TW120",
        "type clash",
        "A position holds numbers, because it is computed or compared with, and also receives a "
        "constant that is no number. Both places are named.",
        "initiatedAt(fast(V)=true, T) :- happensAt(velocity(V, S), T), limit(V, M), S > M.\nlimit(a, high).",
        "initiatedAt(fast(V)=true, T) :- happensAt(velocity(V, S), T), limit(V, M), S > M.\nlimit(a, 12.5).",
    ),
    _code(
        "TW121",
        "a value outside the declared ones",
        "The declaration lists the values of the fluent, and this is not one of them.",
        "state light(x) in {red, green}.\ninitiatedAt(light(X)=gren, T) :- happensAt(go(X), T).",
        "state light(x) in {red, green}.\ninitiatedAt(light(X)=green, T) :- happensAt(go(X), T).",
    ),
    _code(
        "TW130",
        "a cycle without a step in time",
        "Rules read the state before the effects of their time-point, so fluents may depend on "
        "each other in a cycle when it passes through `holdsAt` (or `holdsFor`) of a simple "
        "fluent. This cycle consists only of things that are read at the same time-point: derived"
        " events, `start` and `end`, `initiatedAt` in a body, determined fluents. Nothing comes "
        "first.",
        "happensAt(alarm(X), T) :- happensAt(start(on(X)=true), T).\n"
        "initiatedAt(on(X)=true, T) :- happensAt(alarm(X), T).",
        "happensAt(alarm(X), T) :- happensAt(button(X), T), \\+ holdsAt(on(X)=true, T).\n"
        "initiatedAt(on(X)=true, T) :- happensAt(alarm(X), T).",
    ),
    _code(
        "TW131",
        "background rules that call themselves",
        "Background rules are unfolded into the bodies that call them, so they cannot be "
        "recursive. Write out the facts instead.",
        "above(X, Y) :- on(X, Z), above(Z, Y).\nabove(X, Y) :- on(X, Y).",
        "above(X, Y) :- on(X, Y).\nabove(X, Y) :- on(X, Z), on(Z, Y).",
    ),
    _code(
        "TW132",
        "whole intervals inside a cycle",
        "Duration filters and Allen relations look at whole intervals, which are known only when "
        "they have ended. Fluents of a cycle are computed forward in time, point by point, so "
        "such a relation cannot be part of it.",
        "holdsFor(long(X)=true, I) :- holdsFor(on(X)=true, I1), intDurGreater(I1, 10, I).\n"
        "terminatedAt(on(X)=true, T) :- happensAt(tick(X), T), holdsAt(long(X)=true, T).",
        "ft(on(X)=true, 10).",
    ),
    _code(
        "TW140",
        "a delay must be a positive integer",
        "`fi` and `ft` take effect a positive whole number of time-points after the initiation.",
        "fi(light(X)=amber, light(X)=red, 0).",
        "fi(light(X)=amber, light(X)=red, 3).",
    ),
    _code(
        "TW141",
        "a delayed effect on another fluent",
        "`fi(F=V, F=V2, R)` changes the value of one and the same fluent instance. To change "
        "another fluent, let a rule react to the change: `happensAt(start(F=V2), T)`.",
        "fi(light(X)=amber, barrier(X)=closed, 3).",
        "fi(light(X)=amber, light(X)=red, 3).",
    ),
    _code(
        "TW142",
        "a delayed effect that changes nothing",
        "The target of `fi` must be another value than the source.",
        "fi(light(X)=amber, light(X)=amber, 3).",
        "fi(light(X)=amber, light(X)=red, 3).",
    ),
    _code(
        "TW150",
        "two contradictory declarations",
        "A name is declared twice, with different roles, types or values.",
        "event velocity(v: symbol, s: float).\nevent velocity(v: symbol, s: symbol).",
        "event velocity(v: symbol, s: float).",
    ),
    _code(
        "TW151",
        "declaration and rules disagree",
        "A declared input is computed by rules, or a declared state is computed by none.",
        "event alarm(x).\nhappensAt(alarm(X), T) :- happensAt(fire(X), T).",
        "happensAt(alarm(X), T) :- happensAt(fire(X), T).",
    ),
    _code(
        "TW152",
        "a pair both simple and determined",
        "The same fluent-value pair has effect rules (or `initially`, `fi`) and a `holdsFor` "
        "rule. A pair follows inertia or an interval expression, not both; different values of "
        "one fluent may differ.",
        "initiatedAt(busy(X)=true, T) :- happensAt(e(X), T).\n"
        "holdsFor(busy(X)=true, I) :- holdsFor(work(X)=true, I).",
        "initiatedAt(started(X)=true, T) :- happensAt(e(X), T).\n"
        "holdsFor(busy(X)=true, I) :- holdsFor(work(X)=true, I1), holdsFor(started(X)=true, I2), "
        "union_all([I1, I2], I).",
    ),
    _code(
        "TW201",
        "variable used once",
        "A variable that occurs once joins nothing; often it is misspelt. If that is meant, write"
        " `_` or let its name begin with `_`.",
        "initiatedAt(gap(V)=true, T) :- happensAt(gap_start(Vessel), T).",
        "initiatedAt(gap(V)=true, T) :- happensAt(gap_start(V), T).",
    ),
    _code(
        "TW202",
        "initiated and never terminated",
        "Nothing ends the pair: no `terminatedAt`, no `ft`, no other value. Once true it holds "
        "for ever. A hint.",
        "initiatedAt(seen(X)=true, T) :- happensAt(enter(X), T).",
        "initiatedAt(seen(X)=true, T) :- happensAt(enter(X), T).\n"
        "terminatedAt(seen(X)=true, T) :- happensAt(leave(X), T).",
    ),
    _code(
        "TW203",
        "a value that is never used",
        "Other rules read other values of this fluent, but none reads this one. A hint.",
        "initiatedAt(light(X)=orange, T) :- happensAt(wait(X), T).\n"
        "initiatedAt(light(X)=green, T) :- happensAt(change(X), T).\n"
        "initiatedAt(walk(X)=true, T) :- happensAt(press(X), T), holdsAt(light(X)=green, T).",
        "initiatedAt(light(X)=red, T) :- happensAt(wait(X), T).\n"
        "initiatedAt(light(X)=green, T) :- happensAt(change(X), T).\n"
        "initiatedAt(walk(X)=true, T) :- happensAt(press(X), T), holdsAt(light(X)=green, T).\n"
        "terminatedAt(walk(X)=true, T) :- happensAt(start(light(X)=red), T).",
    ),
    _code(
        "TW204",
        "unreachable rule",
        "The rule can never apply: it reads a value that nothing produces, or its conditions "
        "contradict each other.",
        "initiatedAt(light(X)=green, T) :- happensAt(go(X), T).\n"
        "initiatedAt(walk(X)=true, T) :- happensAt(press(X), T), holdsAt(light(X)=gren, T).",
        "initiatedAt(light(X)=green, T) :- happensAt(go(X), T).\n"
        "initiatedAt(walk(X)=true, T) :- happensAt(press(X), T), holdsAt(light(X)=green, T).",
    ),
    _code(
        "TW205",
        "the same rule twice",
        "A rule stands in the program twice. The second changes nothing; often one of them was "
        "meant to differ.",
        "initiatedAt(f(X)=true, T) :- happensAt(e(X), T).\ninitiatedAt(f(X)=true, T) :- happensAt(e(X), T).",
        "initiatedAt(f(X)=true, T) :- happensAt(e(X), T).",
    ),
    _code(
        "TW206",
        "a variable shared by negations only",
        "A variable that occurs only under negation is existential in each negation by itself: "
        "the two do not speak about the same individual.",
        "initiatedAt(f(X)=true, T) :- happensAt(e(X), T), \\+ holdsAt(a(Y)=true, T), \\+ "
        "holdsAt(b(Y)=true, T).",
        "initiatedAt(f(X)=true, T) :- happensAt(e(X), T), \\+ holdsAt(a(_)=true, T), \\+ "
        "holdsAt(b(_)=true, T).",
    ),
    _code(
        "TW207",
        "declared and never used",
        "No rule reads what is declared here. A hint.",
        "event velocity(v: symbol, s: float).\n"
        "event stop(v: symbol).\n"
        "initiatedAt(moving(V)=true, T) :- happensAt(velocity(V, S), T), S > 1.",
        "event velocity(v: symbol, s: float).\n"
        "initiatedAt(moving(V)=true, T) :- happensAt(velocity(V, S), T), S > 1.",
    ),
    _code(
        "TW208",
        "postponable without a delayed effect",
        "`p(F=V)` lets a new initiation restart the countdown of `F=V`, but no `fi` or `ft` starts one.",
        "p(light(_)=amber).",
        "fi(light(X)=amber, light(X)=red, 3).\np(light(_)=amber).",
    ),
    _code(
        "TW209",
        "a number in quotes",
        "What stands in quotes is a name, and `'227' = 227` is false. A field of the data that looks like a number is "
        "one, in quotes or not, so no row is about a vessel that the rules call `'227'`.",
        "initiatedAt(watched=true, T) :- happensAt(gap_start('227'), T).",
        "initiatedAt(watched=true, T) :- happensAt(gap_start(227), T).",
    ),
    _code(
        "TW210",
        "a rule about nobody",
        "A variable of the head that no condition binds ranges over the known instances of the fluent. Where that "
        "is determined, no other rule names its instances and no grounding lists them, none are known.",
        "holdsFor(may_vote(_Member, M)=true, I) :- holdsFor(open(M)=true, I).",
        "holdsFor(may_vote(_Member, M)=true, I) :- holdsFor(open(M)=true, I).\n"
        "grounding(may_vote(P, M)=true) :- member_of(P, M).",
    ),
    _code(
        "TW211",
        "a grounding of what nobody reads",
        "No rule reads or computes the event or fluent that the grounding lists. Often its name is misspelt, and then "
        "the one that was meant is about everybody.",
        "initiatedAt(moving(V)=true, T) :- happensAt(departs(V), T).\n"
        "grounding(movng(V)=true) :- vessel(V).\nvessel(a).",
        "initiatedAt(moving(V)=true, T) :- happensAt(departs(V), T).\n"
        "grounding(moving(V)=true) :- vessel(V).\nvessel(a).",
    ),
    _code(
        "TW212",
        "a variable shared by aggregates only",
        "An aggregate is made for each value of the variables that the rest of its rule uses. A variable that is "
        "summed or counted in one aggregate and occurs in another one too is such a variable: each sum is one of "
        "equal values. Where that is meant, bind it with a positive literal.",
        "mean(M, A) if S = sum(D) over [2] temp(M, D), C = count(D) over [2] temp(M, D), A = S / C.",
        "mean(M, A) if S = sum(D) over [2] temp(M, D), C = count(E) over [2] temp(M, E), A = S / C.",
    ),
    _code(
        "TW213",
        "a date in a rule",
        "Dates of the data are times, counted in ticks since 1970-01-01 (UTC); a tick is one second unless the program "
        "or the run says otherwise. Rules write times as such numbers: `2026-03-02` is computed there, 2026 - 3 - 2. "
        "`thalweg check` says which number the date is.",
        "query late(X, T).\nlate(X, T) :- paid(X, T), T >= 2026-03-02.",
        "query late(X, T).\nlate(X, T) :- paid(X, T), T >= 1772409600.",
    ),
    _code(
        "TW214",
        "a window over what holds only now",
        "In LARS, what a rule derives is there at the present point only, and at the next one only if it can be "
        "derived again. A window that looks for it at other points does not find it there: `always` is true at the "
        "first point at most, and `sometime` says no more than the atom alone. Look into a window over the input, or "
        "derive the atom for the points it speaks of, with a head `at(T) ...`.",
        "busy if signal(X), X > 3.\nsteady if [2] always busy.",
        "at(T) busy if [2] at(T) signal(X), X > 3.\nsteady if [2] always busy.",
    ),
)
