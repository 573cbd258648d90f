"""LARS as SEMANTICS section 3 defines it: streams, windows, truth, answer streams, by brute force.

A stream is a set of ground atoms per point of a timeline that is open to the right. `answer_streams` tries all
subsets of the possible heads, `prefer` picks the one a reasoner has to report. Nothing here is fast.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations

from thalweg.language.program import Program
from thalweg.language.rules import Aggregate, Call, Clause, Compare, Literal, Window, Windowed
from thalweg.language.terms import Atom, Compound, Number, Term, Variable, arguments, signature, variables

Facts = frozenset[tuple[int, Term]]
Bindings = Mapping[str, Term]
Head = tuple[int | None, Term]
"""An atom that a rule derives: at a point, or (None) at the point of evaluation."""


@dataclass(frozen=True, slots=True)
class Stream:
    """The timeline `[low, high]` (None: open), the atoms on it, the data among them, and the background."""

    low: int
    facts: Facts
    data: Facts
    background: frozenset[Term] = frozenset()
    high: int | None = None

    def has_point(self, u: int) -> bool:
        return u >= self.low and (self.high is None or u <= self.high)

    def holds(self, u: int, atom: Term) -> bool:
        return self.has_point(u) and ((u, atom) in self.facts or atom in self.background)


# --------------------------------------------------------------------------- terms


def text(term: Term) -> str:
    """Canonical text of a ground term; the order of texts is the order in which tuple windows cut."""
    match term:
        case Number(value):
            return str(int(value)) if value == int(value) else repr(float(value))
        case Compound(functor, args):
            return f"{functor}({','.join(map(text, args))})"
        case Atom(name):
            return name
        case _:
            raise TypeError(f"{term!r} is not ground")


def evaluate(term: Term, bound: Bindings) -> int | float:
    """The value of an arithmetic expression."""
    match term:
        case Number(value):
            return value
        case Variable(name) if isinstance(bound.get(name), Number):
            return evaluate(bound[name], bound)
        case Compound("-", (only,)):
            return -evaluate(only, bound)
        case Compound("abs", (only,)):
            return abs(evaluate(only, bound))
        case Compound(op, (left, right)):
            a, b = evaluate(left, bound), evaluate(right, bound)
            match op:
                case "+":
                    return a + b
                case "-":
                    return a - b
                case "*":
                    return a * b
                case "/" if b:
                    return a / b
                case "//" if b:
                    return int(a / b)
                case "mod" if b:
                    return a % b
                case "min":
                    return min(a, b)
                case "max":
                    return max(a, b)
    raise ValueError(f"{term!r} has no value")


def number(value: int | float) -> Number:
    return Number(int(value)) if value == int(value) else Number(value)


def substitute(term: Term, bound: Bindings) -> Term:
    match term:
        case Variable(name):
            return bound.get(name, term)
        case Compound(functor, args):
            return Compound(functor, tuple(substitute(a, bound) for a in args))
        case Number(value):
            return number(value)
        case _:
            return term


def match_term(pattern: Term, term: Term, bound: Bindings) -> Bindings | None:
    """The bindings that make the pattern equal to a ground term; time terms ``T+k`` are solved for ``T``."""
    match pattern:
        case Variable("_"):
            return bound
        case Variable(name) if name not in bound:
            return {**bound, name: term}
        case Compound("+" | "-" as op, (Variable(name), Number(k))) if isinstance(term, Number):
            value = number(term.value - k if op == "+" else term.value + k)
            return match_term(Variable(name), value, bound)
        case Compound(functor, args) if not isinstance(term, Number):
            if signature(term) != (functor, len(args)):
                return None
            for p, a in zip(args, arguments(term), strict=True):
                found = match_term(p, a, bound)
                if found is None:
                    return None
                bound = found
            return bound
        case _:
            return bound if substitute(pattern, bound) == term else None


# --------------------------------------------------------------------------- windows


def _last(atoms: Iterable[tuple[int, Term]], n: int, t: int, start: int) -> tuple[int, Facts]:
    """Where the last n atoms at or before t begin, and which atoms at that point are cut off."""
    order = sorted((a for a in atoms if a[0] <= t), key=lambda a: (a[0], text(a[1])))
    if n == 0:
        return t, frozenset(a for a in order if a[0] == t)
    if len(order) < n:
        return start, frozenset()
    low = order[-n][0]
    return low, frozenset(a for a in order[:-n] if a[0] == low)


def pick(stream: Stream, window: Window, t: int, pattern: Term) -> Stream:
    """The substream that the window selects at t. Tuple windows count data; derived atoms are never cut."""
    if window.kind == "time":
        base = t // window.hop * window.hop
        low, high = max(stream.low, base - window.past), base + window.future
        return Stream(
            low,
            frozenset(f for f in stream.facts if low <= f[0] <= high),
            stream.data,
            stream.background,
            high,
        )
    top = t if window.future == 0 else None
    if window.kind == "tuple":
        low, cut = _last(stream.data, window.past, t, stream.low)
        facts = frozenset(f for f in stream.facts if f[0] >= low and (top is None or f[0] <= top)) - cut
        return Stream(low, facts, stream.data, stream.background, top)
    return _partition(stream, window, t, pattern, top)


def _partition(stream: Stream, window: Window, t: int, pattern: Term, top: int | None) -> Stream:
    places = [arguments(pattern).index(v) for v in window.by]
    mine = [f for f in stream.facts if signature(f[1]) == signature(pattern)]

    def key(fact: tuple[int, Term]) -> tuple[Term, ...]:
        return tuple(arguments(fact[1])[i] for i in places)

    counted = [f for f in mine if f in stream.data]
    bounds = {
        k: _last([f for f in counted if key(f) == k], window.past, t, stream.low) for k in map(key, counted)
    }
    low = min((b[0] for b in bounds.values()), default=stream.low)
    facts = frozenset(
        f
        for f in mine
        if f[0] >= bounds.get(key(f), (stream.low,))[0]
        and f not in bounds.get(key(f), (0, frozenset()))[1]
        and (top is None or f[0] <= top)
    )
    return Stream(low, facts, stream.data, stream.background, top)


# --------------------------------------------------------------------------- truth


def _true(op: str, left: Term, right: Term, bound: Bindings) -> bool:
    if op in ("=", "==", "\\=", "\\=="):
        try:
            same = evaluate(left, bound) == evaluate(right, bound)
        except ValueError:
            same = substitute(left, bound) == substitute(right, bound)
        return same == (op in ("=", "=="))
    a, b = evaluate(left, bound), evaluate(right, bound)
    return {"<": a < b, ">": a > b, "=<": a <= b, ">=": a >= b, "=:=": a == b, "=\\=": a != b}[op]


def _compare(literal: Compare, bound: Bindings) -> Iterator[Bindings]:
    try:
        match literal:
            case Compare("is" | "=", Variable(name), right) if name not in bound:
                try:
                    yield {**bound, name: number(evaluate(right, bound))}
                except ValueError:
                    if literal.op == "=":
                        yield {**bound, name: substitute(right, bound)}
            case Compare("is", left, right):
                if evaluate(left, bound) == evaluate(right, bound):
                    yield bound
            case Compare(op, left, right):
                if _true(op, left, right, bound):
                    yield bound
    except ValueError:
        return


def _aggregate(
    literal: Aggregate, stream: Stream, t: int, bound: Bindings, shared: frozenset[str]
) -> Iterator[Bindings]:
    """Over the occurrences of the atom (atoms at points); variables used elsewhere in the rule make groups."""
    window = pick(stream, literal.window, t, literal.atom)
    groups: dict[tuple[tuple[str, Term], ...], list[int | float]] = {}
    names = sorted({v.name for v in variables(literal.atom)} & shared)
    if all(n in bound for n in names) and literal.function in ("count", "sum"):
        groups[tuple((n, bound[n]) for n in names)] = []
    outer = {k: v for k, v in bound.items() if k in shared}
    for _, atom in window.facts:
        found = match_term(literal.atom, atom, outer)
        if found is not None:
            value = 1 if literal.function == "count" else evaluate(literal.template, found)
            groups.setdefault(tuple((n, found[n]) for n in names), []).append(value)
    for key, values in groups.items():
        functions: dict[str, Callable[..., float]] = {"count": len, "sum": sum, "min": min, "max": max}
        total = functions[literal.function](values)
        found = match_term(literal.result, number(total), {**bound, **dict(key)})
        if found is not None:
            yield found


def _all_points(window: Stream) -> list[int]:
    """The points of a timeline; of an open one, those that a literal with an atom in the stream can ask for."""
    last = max((u for u, _ in window.facts), default=window.low) + 100
    return list(range(window.low, (last if window.high is None else window.high) + 1))


def _places(literal: Windowed, stream: Stream, t: int, bound: Bindings) -> Iterator[Bindings]:
    window = pick(stream, literal.window, t, literal.atom) if literal.window else stream
    candidates = {a for _, a in window.facts} | set(window.background)
    for atom in sorted(candidates, key=text):
        found = match_term(literal.atom, atom, bound)
        if found is None:
            continue
        points = [u for u, a in window.facts if a == atom and window.has_point(u)]
        if literal.mode == "sometime":
            if points or (atom in window.background and (window.high is None or window.high >= window.low)):
                yield found
        elif literal.mode == "always":
            if window.high is not None and window.high >= window.low:
                if all(window.holds(u, atom) for u in range(window.low, window.high + 1)):
                    yield found
            elif window.high is None and atom in window.background:
                yield found
        else:
            assert literal.time is not None
            if atom in window.background:
                points = _all_points(window)
            for u in points:
                at = match_term(literal.time, Number(u), found)
                if at is not None:
                    yield at


def solutions(
    literal: Literal, stream: Stream, t: int, bound: Bindings, shared: frozenset[str]
) -> Iterator[Bindings]:
    """The bindings under which a literal, taken positively, is true at t."""
    match literal:
        case Call(goal):
            for atom in {a for u, a in stream.facts if u == t} | stream.background:
                found = match_term(goal, atom, bound)
                if found is not None:
                    yield found
        case Compare():
            yield from _compare(literal, bound)
        case Windowed():
            yield from _places(literal, stream, t, bound)
        case Aggregate():
            yield from _aggregate(literal, stream, t, bound, shared)
        case _:
            raise TypeError(f"no such literal in LARS: {literal!r}")


def _negated(literal: Literal) -> bool:
    return getattr(literal, "negated", False)


def in_order(rule: Clause) -> tuple[Literal, ...]:
    """Binding literals first, then computations and tests as written, then aggregates, then negation."""
    rank = {Call: 0, Windowed: 0, Aggregate: 1, Compare: 2}
    return tuple(sorted(rule.body, key=lambda x: 9 if _negated(x) else rank[type(x)]))


def shared_names(rule: Clause, literal: Literal) -> frozenset[str]:
    """Variables of the rule outside one of its literals."""
    others = [x for x in rule.body if x is not literal]
    terms = [rule.head, rule.at or rule.head, *(p for x in others for p in parts(x))]
    if isinstance(literal, Aggregate):
        terms.append(literal.result)
    return frozenset(v.name for term in terms for v in variables(term))


def parts(literal: Literal) -> list[Term]:
    """The terms a literal is made of."""
    match literal:
        case Call(goal):
            return [goal]
        case Compare(_, left, right):
            return [left, right]
        case Windowed(atom, time=time):
            return [atom] if time is None else [atom, time]
        case Aggregate(template=template, atom=atom, result=result):
            return [template, atom, result]
        case _:
            return []


def _ready(rest: tuple[Literal, ...], bound: Bindings) -> tuple[Literal, tuple[Literal, ...]]:
    """The next literal and the others: a comparison waits until its variables have values."""
    for i, literal in enumerate(rest):
        if isinstance(literal, Compare):
            assigns = literal.op in ("is", "=") and isinstance(literal.left, Variable)
            terms = [literal.right] if assigns else [literal.left, literal.right]
            if any(v.name not in bound for term in terms for v in variables(term)):
                continue
        return literal, rest[:i] + rest[i + 1 :]
    return rest[0], rest[1:]


def instances(rule: Clause, stream: Stream, t: int, bound: Bindings | None = None) -> Iterator[Bindings]:
    """The bindings of the rule's variables under which its body is true at t."""

    def go(rest: tuple[Literal, ...], b: Bindings) -> Iterator[Bindings]:
        if not rest:
            yield b
            return
        first, rest = _ready(rest, b)
        found = solutions(first, stream, t, b, shared_names(rule, first))
        if _negated(first):
            if next(found, None) is None:
                yield from go(rest, b)
        else:
            for more in found:
                yield from go(rest, more)

    yield from go(in_order(rule), bound or {})


def head_of(rule: Clause, bound: Bindings) -> Head:
    """What a rule instance derives."""
    args = tuple(
        number(evaluate(a, bound)) if _computes(a) else substitute(a, bound) for a in arguments(rule.head)
    )
    head = Compound(signature(rule.head)[0], args) if args else rule.head
    return (None if rule.at is None else int(evaluate(rule.at, bound))), head


def _computes(term: Term) -> bool:
    return isinstance(term, Compound) and term.functor in {
        "+",
        "-",
        "*",
        "/",
        "//",
        "mod",
        "abs",
        "min",
        "max",
    }


# --------------------------------------------------------------------------- answer streams


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer stream: its atoms beyond the data, and the heads (per rule) that derive them."""

    derived: Facts
    heads: frozenset[tuple[int, Head]]


def rules_of(program: Program) -> list[Clause]:
    """The clauses with a body; those without one are background."""
    return [s for s in program.statements if isinstance(s, Clause) and s.body]


def _fires(rules: list[Clause], stream: Stream, t: int) -> Iterator[tuple[int, Bindings, Head]]:
    for i, rule in enumerate(rules):
        for bound in instances(rule, stream, t):
            head = head_of(rule, bound)
            if head[0] is None or head[0] >= stream.low:
                yield i, bound, head


def _placed(head: Head, t: int) -> tuple[int, Term]:
    return (t if head[0] is None else head[0]), head[1]


def _base(program: Program, data: Iterable[tuple[int, Term]], t: int, start: int) -> Stream:
    """The data that counts at t, with the background."""
    known = frozenset((u, substitute(a, {})) for u, a in data if start <= u <= t)
    facts = {substitute(s.head, {}) for s in program.statements if isinstance(s, Clause) and not s.body}
    return Stream(start, known, known, frozenset(facts))


def candidates(
    program: Program, data: Iterable[tuple[int, Term]], t: int, start: int = 0
) -> list[tuple[int, Term]]:
    """Every atom, with its point, that an answer stream at t may have beyond the data: what the search goes through."""
    base = _base(program, data, t, start)
    possible = _possible(rules_of(program), base, t) - base.data
    return sorted((f for f in possible if f[1] not in base.background), key=lambda f: (f[0], text(f[1])))


def answer_streams(
    program: Program, data: Iterable[tuple[int, Term]], t: int, start: int = 0
) -> list[Answer]:
    """All answer streams at t for the input `data`, of which only what is stamped up to t counts."""
    rules, base = rules_of(program), _base(program, data, t, start)
    known = base.data

    def stream(extra: Iterable[tuple[int, Term]]) -> Stream:
        return Stream(start, known | frozenset(extra), known, base.background)

    possible = candidates(program, known, t, start)
    found = []
    for size in range(len(possible) + 1):
        for chosen in combinations(possible, size):
            here = stream(chosen)
            fired = list(_fires(rules, here, t))
            if {_placed(h, t) for _, _, h in fired if h[1] not in base.background} - known != set(chosen):
                continue
            if not any(
                _is_model(rules, fired, stream(s), t) for n in range(size) for s in combinations(chosen, n)
            ):
                found.append(Answer(frozenset(chosen), frozenset((i, h) for i, _, h in fired)))
    return found


def _is_model(rules: list[Clause], reduct: list[tuple[int, Bindings, Head]], stream: Stream, t: int) -> bool:
    """Does the stream satisfy every rule instance of the reduct at t?"""
    return all(
        stream.holds(*_placed(head, t)) or next(instances(rules[i], stream, t, bound), None) is None
        for i, bound, head in reduct
    )


def _possible(rules: list[Clause], base: Stream, t: int) -> set[tuple[int, Term]]:
    """What rules could derive if every negated literal held and windows and aggregates saw any part of the stream."""
    seen: set[tuple[int, Term]] = set(base.facts)
    while True:
        stream = Stream(base.low, frozenset(seen), base.data, base.background)
        new = {
            _placed(head, t)
            for rule in rules
            for bound in _loosely(in_order(rule), rule, stream, t, {})
            if (head := head_of(rule, bound))[0] is None or head[0] >= base.low
        } - seen
        if not new:
            return seen
        seen |= new


def _loosely(
    rest: tuple[Literal, ...], rule: Clause, stream: Stream, t: int, bound: Bindings
) -> Iterator[Bindings]:
    if not rest:
        yield bound
        return
    first, rest = _ready(rest, bound)
    if _negated(first):
        yield from _loosely(rest, rule, stream, t, bound)
    elif isinstance(first, Aggregate):
        shared = shared_names(rule, first)
        loose = sorted(stream.facts - stream.data, key=lambda f: (f[0], text(f[1])))
        for n in range(len(loose) + 1):
            for part in combinations(loose, n):
                less = Stream(stream.low, stream.data | frozenset(part), stream.data, stream.background)
                for more in _aggregate(first, less, t, bound, shared):
                    yield from _loosely(rest, rule, stream, t, more)
    else:
        if isinstance(first, Windowed) and first.mode != "at":
            first = Windowed(first.atom, "sometime")
        elif isinstance(first, Windowed):
            first = Windowed(first.atom, "at", None, first.time)
        for more in solutions(first, stream, t, bound, frozenset()):
            yield from _loosely(rest, rule, stream, t, more)


def prefer(answers: list[Answer], previous: frozenset[Head], choices: frozenset[tuple[str, int]]) -> Answer:
    """The answer with the fewest changes of chosen heads; then the one where an earlier rule (head) applies."""

    def chosen(answer: Answer) -> frozenset[Head]:
        return frozenset(h for _, h in answer.heads if signature(h[1]) in choices)

    fewest = min(len(chosen(a) ^ previous) for a in answers)
    best = [a for a in answers if len(chosen(a) ^ previous) == fewest]
    order = sorted(
        {(i, h) for a in best for i, h in a.heads if signature(h[1]) in choices},
        key=lambda x: (x[0], text(x[1][1]), -1 if x[1][0] is None else x[1][0]),
    )
    return max(best, key=lambda a: [x in a.heads for x in order])
