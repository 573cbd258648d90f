"""LARS: throughput and flatness in the window, against Laser's numbers and against clingo called at each tick.

    python bench/lars.py                all of it, some minutes
    python bench/lars.py --quick        fewer ticks
    python bench/lars.py --only micro   one part: micro, blocks, content, long
    python bench/lars.py --only long --block 1 --ticks 100000 --state FILE   a slice, tick by tick

CPU seconds of one core. A tick is `accept` of its facts and `advance`, which gives the changes as an Arrow table.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

from thalweg import parse
from thalweg.lars.reasoner import Reasoner
from thalweg.protocol import Rows
from workloads import content

ROOT = Path(__file__).resolve().parents[1]
FACTS = 200
"""Facts at each tick."""
WINDOWS = (1, 20, 80)
Column = np.ndarray[tuple[int], np.dtype[np.int64]]
Ticks = Callable[[int], tuple[str, list[Column]]]

COOLING = """
at(T) steam(V) if [W] at(T) temp(V), V >= 100.
at(T) liquid(V) if [W] at(T) temp(V), V < 100, V >= 1.
at(T) isSteam if [W] at(T) steam(V).
at(T) isLiquid if [W] at(T) liquid(V).
alarm if [W] always isSteam.
normal if [W] always isLiquid.
veryHot(T) if [W] at(T) steam(V), V >= 150.
veryCold(T) if [W] at(T) liquid(V), V = 1.
freeze if not alarm, not normal.
"""
RULES = {
    "diamond": "p1(X, Y) if [W] sometime p(X, Y).",
    "box": "z(X) if [W] always p(X).",
    "box2": "z(X, Y) if [W] always p(X, Y).",
    "join": "p1(X, Z) if [W] sometime p(X, Y), [W] sometime p(Y, Z).",
    "cooling": COOLING,
}
LASER = {
    "diamond": (231_000, 31_000, 12_000),
    "box": (317_000, 99_000, 42_000),
    "box2": (170_000, 77_000, 27_000),
    "join": (40_000, 13_000, 5_000),
    "cooling": (None, 19_000, None),
}
"""Facts per second of Laser on Python 3.11, measured once on a machine of this kind, for the windows above."""


def facts_of(kind: str) -> Ticks:
    """The facts of each tick: a name and its columns."""
    rng = np.random.default_rng(1)
    every = np.arange(FACTS)
    match kind:
        case "diamond":
            return lambda t: ("p", [every + FACTS * t, every + FACTS * t + 1])
        case "box":
            return lambda t: ("p", [rng.integers(0, FACTS // 3, FACTS, endpoint=True)])
        case "box2":
            return lambda t: ("p", [every, every + 1])
        case "join":
            return lambda t: ("p", [every + 2 * FACTS * t, every + 2 * FACTS * t + 1])
        case _:
            return lambda t: ("temp", [rng.integers(0, 200, FACTS)])


def rows(name: str, t: int, columns: list[Column]) -> Rows:
    """Rows of one tick."""
    times = np.full(len(columns[0]), t)
    ones = np.ones(len(times), np.int8)
    return Rows(name, ones, times, times, np.arange(len(times)), tuple(map(pa.array, columns)))


def line(what: str, measured: str, goal: str = "") -> None:
    """One row of the report."""
    print(f"{what:<52}{measured:>46}   {goal}", flush=True)


# --------------------------------------------------------------------------- micro-benchmarks


STRETCH = 100
"""Ticks that are timed together; longer than the longest window, so that every stretch has its share of tidying up."""


def ticking(kind: str, windows: Iterable[int], ticks: int, warm: int) -> dict[int, list[float]]:
    """CPU seconds per tick of each stretch, with the clock moved tick by tick; the first ticks are not counted. The
    windows take turns stretch by stretch, so that whatever else the machine does slows all of them alike."""
    make = facts_of(kind)
    batches = [rows(name, t, columns) for t in range(ticks + warm) for name, columns in [make(t)]]
    reasoners = {w: Reasoner(parse(f"program lars. {RULES[kind].replace('W', str(w))}")) for w in windows}
    took: dict[int, list[float]] = {w: [] for w in reasoners}
    for first in range(0, ticks + warm, STRETCH):
        for window, reasoner in reasoners.items():
            began = time.process_time()
            for t in range(first, min(first + STRETCH, ticks + warm)):
                reasoner.accept([batches[t]])
                reasoner.advance(t)
            if first >= warm:
                took[window].append((time.process_time() - began) / STRETCH)
    return took


def micro(ticks: int, kinds: Iterable[str] = tuple(RULES)) -> None:
    """The five programs of Laser at three windows; the median over the stretches of three runs."""
    for kind in kinds:
        ticking(kind, WINDOWS, STRETCH, 0)
        took: dict[int, list[float]] = {w: [] for w in WINDOWS}
        for _ in range(3):
            for window, found in ticking(kind, WINDOWS, ticks, 2 * STRETCH).items():
                took[window] += found
        middle = {w: float(np.median(found)) for w, found in took.items()}
        for window, laser in zip(WINDOWS, LASER[kind], strict=True):
            rate = FACTS / middle[window]
            ratio = f", {rate / laser:.0f} x Laser" if laser else ""
            goal = "goal 20 x" if window == 20 else ""
            line(f"{kind}, window {window}", f"{middle[window] * 1e6:.0f} us/tick, {rate:,.0f} facts/s{ratio}", goal)
        more = middle[WINDOWS[-1]] / middle[WINDOWS[0]] - 1
        line(f"{kind}, time per tick from window 1 to 80", f"{more:+.0%}", "goal at most +20 %")


def blocks(ticks: int) -> None:
    """The diamond with ticks handled in blocks of 100."""
    make = facts_of("diamond")
    batches = [rows(*_swap(make(t), t)) for t in range(ticks)]

    def once() -> float:
        reasoner = Reasoner(parse("program lars. p1(X, Y) if [20] sometime p(X, Y)."), blocks=True)
        began = time.process_time()
        for first in range(0, ticks, 100):
            reasoner.accept(batches[first : first + 100])
            reasoner.advance(first + 99)
        return FACTS * ticks / (time.process_time() - began)

    line("diamond, window 20, blocks of 100 ticks", f"{max(once() for _ in range(3)):,.0f} facts/s", "goal 1,000,000")


def _swap(made: tuple[str, list[Column]], t: int) -> tuple[str, int, list[Column]]:
    return made[0], t, made[1]


# --------------------------------------------------------------------------- against clingo


RUNS = 5


def ours(program: str, stream: list[list[content.Fact]], warm: int, *, predict: bool = True) -> float:
    """CPU milliseconds per tick; without `predict`, choices are not made ahead, and their ends are not known."""
    reasoner = Reasoner(parse(f"program lars. {program}"), predict=predict)
    batches = [list(_batch(facts, t)) for t, facts in enumerate(stream)]
    for t in range(warm):
        reasoner.accept(batches[t])
        reasoner.advance(t)
    began = time.process_time()
    for t in range(warm, len(batches)):
        reasoner.accept(batches[t])
        reasoner.advance(t)
    return 1000 * (time.process_time() - began) / (len(batches) - warm)


def _batch(facts: list[content.Fact], t: int) -> Iterator[Rows]:
    by_name: dict[str, list[tuple[int, ...]]] = defaultdict(list)
    for name, args in facts:
        by_name[name].append(args)
    for name, found in by_name.items():
        times = np.full(len(found), t)
        columns = tuple(pa.array(column) for column in zip(*found, strict=True))
        yield Rows(name, np.ones(len(found), np.int8), times, times, np.arange(len(found)), columns)


def clingos(rules: str, background: str, stream: list[list[content.Fact]], window: int, warm: int) -> float:
    """CPU milliseconds per tick of grounding and solving the window with clingo, in this process."""
    import clingo

    texts = [content.facts_text(facts, t) for t, facts in enumerate(stream)]
    began = time.process_time()
    for t in range(warm, len(stream)):
        control = clingo.Control(["--warn=none"])
        control.add("base", [], rules + background + " ".join(texts[max(0, t - window) : t + 1]))
        control.ground([("base", [])])
        control.solve(on_model=lambda model: model.symbols(atoms=True))
    return 1000 * (time.process_time() - began) / (len(stream) - warm)


def against_clingo(ticks: int) -> None:
    """The two content programs, at windows of 20 and 80 ticks: the best of some runs, which take turns."""
    folder = ROOT / "examples" / "content_caching"
    strategy, retrieval = ((folder / f"{name}.lars").read_text() for name in ("strategy", "retrieval"))
    for title, text, asp, more in (
        ("caching strategy", strategy, content.STRATEGY_ASP, ""),
        ("content retrieval", retrieval, content.RETRIEVAL_ASP, content.network()),
    ):
        took: dict[tuple[str, int], list[float]] = defaultdict(list)
        for _ in range(RUNS):
            for window in (20, 80):
                warm = 2 * window
                stream = list(
                    content.requests(ticks + warm, items=3, window=window, seed=1)
                    if more
                    else content.parameters(ticks + warm, stay=3 * window, seed=1)
                )
                program = text.replace("[20]", f"[{window}]") + more
                took["ours", window].append(ours(program, stream, warm))
                took["later", window].append(ours(program, stream, warm, predict=False))
                took["clingo", window].append(clingos(asp, more, stream, window, warm))
        best = {key: min(found) for key, found in took.items()}
        for window in (20, 80):
            mine, later, peer = (best[who, window] for who in ("ours", "later", "clingo"))
            shown = f"{mine:.2f} ms/tick; clingo {peer:.2f}: {peer / mine:.1f} x"
            line(f"{title}, window {window}", shown, "goal 3 x")
            line("  without the ends of choices", f"{later:.2f} ms/tick: {peer / later:.1f} x")
        more_time = best["ours", 80] / best["ours", 20] - 1
        line(f"{title}, time per tick from window 20 to 80", f"{more_time:+.0%}", "flat")


# --------------------------------------------------------------------------- long runs

LONG = """
at(T+2) due(X) if [5] at(T) order(X), not [5] sometime hold(X).
late(X) if due(X), not [3] sometime shipped(X).
busy if [3] always order(_).
take(X) if [4] sometime offer(X), not leave(X).
leave(X) if [4] sometime offer(X), not take(X).
last(X) if [3 #] sometime offer(X).
many(N) if N = count(X) over [6] order(X), N > 2.
"""
"""Heads in the future, negation, `always`, a choice, a tuple window, an aggregate."""


def rows_of(first: int, count: int, *, texts: bool = False) -> list[Rows]:
    """The facts of some ticks: an order at most ticks, and of some recent orders that they were shipped, are on hold or
    on offer. Orders are numbers, or texts."""
    rng = np.random.default_rng(first)
    ticks = np.arange(first, first + count)
    found = []
    for name in ("order", "shipped", "hold", "offer"):
        times = ticks[ticks % 7 > 0] if name == "order" else ticks[rng.random(count) < 0.3]
        keys = times if name == "order" else times - rng.integers(0, 4, len(times))
        column = pa.array([f"Order {k}" for k in keys.tolist()], pa.string()) if texts else pa.array(keys)
        found.append(Rows(name, np.ones(len(times), np.int8), times, times, np.arange(len(times)), (column,)))
    return [r for r in found if len(r)]


def long(ticks: int, block: int, state: Path | None, *, texts: bool) -> None:
    """Many ticks over ever new keys, numbers or texts: time and memory must not grow. With a file for the state, the
    run goes on from there and leaves its own there at each fifth."""
    reasoner = Reasoner(parse(f"program lars. {LONG}"), predict=False, blocks=block > 1)
    start = 0
    if state is not None and state.exists():
        reasoner.restore(state.read_bytes())
        start = reasoner.now + 1
    memory, spent, began = [], [], time.process_time()
    for first in range(start, start + ticks, block):
        reasoner.accept(rows_of(first, block, texts=texts))
        reasoner.advance(first + block - 1)
        if (first + block - start) % (ticks // 5) == 0:
            memory.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
            spent.append(time.process_time() - began)
            kept = reasoner.snapshot()
            if state is not None:
                state.write_bytes(kept)
    early, late = spent[1] - spent[0], spent[4] - spent[3]
    size = f"{memory[0]:.0f} MB after a fifth, {memory[-1]:.0f} at the end"
    line(f"{ticks:,} ticks from {start:,} on, {block} at a time: memory", size, "goal no growth")
    line("  snapshot at the end", f"{len(kept):,} bytes")
    line("  last fifth over second fifth", f"{late / early:.2f} x, {1e6 * spent[-1] / ticks:.0f} us/tick", "about 1")


def main() -> None:
    """All parts, or one."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", choices=["micro", "blocks", "content", "long"])
    parser.add_argument("--kind", choices=list(RULES), help="one of the micro-benchmarks")
    parser.add_argument("--ticks", type=int, help="length of the long run")
    parser.add_argument("--block", type=int, default=100, help="ticks of the long run that are handled together")
    parser.add_argument("--state", type=Path, help="a file from which the long run goes on")
    parser.add_argument("--texts", action="store_true", help="the keys of the long run are texts")
    given = parser.parse_args()
    parts: dict[str, Callable[[], None]] = {  # the long run first: it looks at the peak of this process
        "long": lambda: long(
            given.ticks or (50_000 if given.quick else 1_000_000), given.block, given.state, texts=given.texts
        ),
        "micro": lambda: micro(500 if given.quick else 2000, [given.kind] if given.kind else tuple(RULES)),
        "blocks": lambda: blocks(1000 if given.quick else 2000),
        "content": lambda: against_clingo(150 if given.quick else 400),
    }
    for name, part in parts.items():
        if given.only in (None, name):
            part()


if __name__ == "__main__":
    main()
