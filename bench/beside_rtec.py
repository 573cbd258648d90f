"""The vessel program beside RTEC: the same rules, facts and stream, by turns, in one run.

    python bench/beside_rtec.py RTEC [--swipl PATH] [--only NAME ...] [--rounds N]

`RTEC` is a checkout of RTEC (github.com/aartikis/RTEC), which is no part of this project; `swipl` is SWI-Prolog. The
rules of `examples/maritime/entity.ec` run as they stand, but for our declarations, which RTEC does not know, and with
the groundings that it asks for, one for each event and pair. Compared are CPU seconds: of recognition, as RTEC logs it
and as our reasoner takes for the same query times, and of the whole command, from the stream to files of intervals.
"""

from __future__ import annotations

import argparse
import csv
import re
import resource
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import thalweg
from measuring import stored
from thalweg.language.program import Program
from thalweg.language.rules import Clause, Declare, Effect, EffectRule, IntervalRule, Pair, Statement
from thalweg.language.terms import Compound, Variable, arguments, variables
from workloads import catalogue
from workloads.catalogue import Workload
from workloads.files import write_rtec

DOMAINS = {"V": "vesselType({}, _)", "Type": "kindOfArea({})"}
"""Where the groundings find whom a variable of a head stands for, each once."""
DURATIONS = """
intDurGreater(Intervals, Limit, Longer) :-
    findall((S, E), (member((S, E), Intervals), lasts(S, E, Length), Length > Limit), Longer).
lasts(S, inf, Length) :- !, queryTime(Q), Length is Q - S.
lasts(S, E, Length) :- Length is E - S.
"""
"""RTEC leaves this filter to its users."""
SIZES = {
    "most": (1_000_000, 5_000, 3600),
    "many": (200_000, 2_000, 3600),
    "some": (20_000, 100, 3600),
    "few": (2_000, 5, 60),
}
"""Events, vessels and seconds from query to query; the first takes RTEC minutes, and is run when asked for."""
MAIN = "from thalweg.cli.main import app as main; main()"
RECOGNISED = re.compile(r"^recognitions\(predictions,(\w+),\[\[(.*)\],(\w+)\],\[(.*)\]\)\.$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Case:
    """A workload with windows that do not overlap, as files for both."""

    name: str
    workload: Workload
    step: int
    folder: Path

    @property
    def end(self) -> int:
        return -(-self.workload.last // self.step) * self.step

    def path(self, name: str) -> Path:
        return self.folder / name


@dataclass(frozen=True, slots=True)
class Took:
    """CPU seconds of recognition and of the whole command, and the time-points that each pair was found to hold."""

    recognition: float
    command: float
    points: dict[str, int]


def write(case: Case) -> None:
    """Rules with groundings, background knowledge, the program as it is, and the stream."""
    source = case.workload.source()
    program = thalweg.parse(source)
    case.path("program.ec").write_text(source, encoding="utf-8")
    rules = [s for s in program.statements if isinstance(s, EffectRule | IntervalRule)]
    facts = [s for s in program.statements if isinstance(s, Clause)]
    texts = [*(_text(s, source) for s in rules), *groundings(program)]
    case.path("rules.prolog").write_text("\n".join(texts) + "\n", encoding="utf-8")
    kinds = sorted({str(fact[2]) for fact in case.workload.facts if fact[0] == "areaType"})
    known = [*(_text(s, source) for s in facts), *(f"kindOfArea({kind})." for kind in kinds), DURATIONS]
    case.path("background.prolog").write_text("\n".join(known), encoding="utf-8")
    write_rtec(case.workload.stream, case.path("events.csv"))


def _text(statement: Statement, source: str) -> str:
    return "\n".join(source.splitlines()[statement.span.line - 1 : statement.span.end_line])


def groundings(program: Program) -> list[str]:
    """A grounding for each input event and for each pair that rules give."""
    events = [s for s in program.statements if isinstance(s, Declare)]
    found = {f"grounding({s.name}(V{', _' * (len(s.arguments) - 1)})) :- {DOMAINS['V'].format('V')}." for s in events}
    for s in program.statements:
        if isinstance(s, IntervalRule) or (isinstance(s, EffectRule) and s.effect is Effect.INITIATES):
            found.add(_grounding(s.pair))
    return sorted(found)


def _grounding(pair: Pair) -> str:
    """The grounding of a pair: every argument that is a variable comes from its domain."""
    assert isinstance(pair.fluent, Compound)
    args = [term.name if isinstance(term, Variable) else str(term) for term in arguments(pair.fluent)]
    domains = [DOMAINS[variable.name].format(variable.name) for variable in variables(pair.fluent)]
    value = getattr(pair.value, "name", pair.value)
    return f"grounding({pair.fluent.functor}({', '.join(args)})={value}) :- {', '.join(domains)}."


def spent(command: Sequence[str], folder: Path) -> tuple[float, str]:
    """CPU seconds of a command, and what it printed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout


def compiled(case: Case, rtec: Path, swipl: str) -> None:
    """RTEC's own compilation of the rules, which is not counted."""
    goal = f"compileED('{case.path('rules.prolog')}', withoutOptimisation), halt."
    spent([swipl, "-l", str(rtec / "src" / "compiler.prolog"), "-g", goal], case.folder)


def theirs(case: Case, rtec: Path, swipl: str) -> Took:
    files = ", ".join(f"'{case.path(name)}'" for name in ("background.prolog", "compiled_rules.prolog"))
    options = (
        f"event_description_files=[{files}], input_mode=csv, input_providers=['{case.path('events.csv')}'], "
        f"window_size={case.step}, step={case.step}, start_time=0, end_time={case.end}, clock_tick=1, stream_rate=1, "
        f"results_directory='{case.folder}'"
    )
    command = [swipl, "-l", "continuousQueries.prolog", "-g", f"continuousQueries(vessels, [{options}]), halt."]
    seconds, printed = spent(command, rtec / "execution scripts")
    logged = [int(ms) for ms in re.findall(r"Recognition Time \(ms\)\s*: (\d+)", printed)]
    (results,) = case.folder.glob("log-*-recognised-intervals.txt")
    points: dict[str, int] = {}
    for name, args, value, intervals in RECOGNISED.findall(results.read_text(encoding="utf-8")):
        length = sum(int(end) - int(start) for start, end in re.findall(r"\((\d+),(\d+)\)", intervals))
        points[f"{name}({args})={value}"] = points.get(f"{name}({args})={value}", 0) + length
    return Took(sum(logged) / 1000, seconds, points)


def ours(case: Case) -> Took:
    command = [sys.executable, "-c", MAIN, "run", "program.ec", "--input", "events.csv", "--out", "result"]
    command += ["--window", str(case.step), "--step", str(case.step), "--start", "0", "--end", str(case.end)]
    seconds, _ = spent([*command, "--format", "csv"], case.folder)
    points: dict[str, int] = {}
    with case.path("result/timeline.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            pair = f"{row['fluent']}={row['value']}"
            points[pair] = points.get(pair, 0) + int(row["end"] or case.end + 1) - max(int(row["start"]), 1)
    return Took(stored(case.workload, step=case.step).seconds, seconds, points)


def compare(case: Case, rtec: Path, swipl: str, rounds: int) -> None:
    """Both by turns; one line each, and their ratios."""
    write(case)
    compiled(case, rtec, swipl)
    ours(case)  # compiles kernels
    queries = case.end // case.step
    print(f"\n{case.name}: {case.workload.events:,} events, {queries:,} queries, one every {case.step} s")
    print(f"{'':8}{'recognition':>24}{'whole command':>24}")
    for _ in range(rounds):
        rival, mine = theirs(case, rtec, swipl), ours(case)
        for who, took in (("RTEC", rival), ("here", mine)):
            print(f"{who:8}{took.recognition:22.2f} s{took.command:22.2f} s")
        gains = rival.recognition / mine.recognition, rival.command / mine.command
        print(f"{'ratio':8}{gains[0]:24.1f}{gains[1]:24.1f}")
    same = sum(mine.points.get(pair) == length for pair, length in rival.points.items())
    print(f"{same:,} of {len(rival.points | mine.points):,} pairs hold for as many time-points in both")


def main() -> None:
    parser = argparse.ArgumentParser(description="The vessel program beside RTEC.")
    parser.add_argument("rtec", type=Path, nargs="?", help="a checkout of RTEC; nothing is measured without it")
    parser.add_argument("--swipl", default="swipl", help="SWI-Prolog")
    parser.add_argument("--only", nargs="+", choices=tuple(SIZES), default=("many", "some", "few"))
    parser.add_argument("--rounds", type=int, default=2)
    chosen = parser.parse_args()
    if chosen.rtec is None:
        print("not measured: it needs the path of a checkout of RTEC")
        return
    for name in chosen.only:
        events, vessels, step = SIZES[name]
        with tempfile.TemporaryDirectory() as folder:
            workload = catalogue.vessels(events=events, vessels=vessels)
            case = Case(f"{name} ({vessels:,} vessels)", workload, step, Path(folder).resolve())
            compare(case, chosen.rtec.resolve(), chosen.swipl, chosen.rounds)


if __name__ == "__main__":
    main()
