"""The LARS examples: golden results, the definition on a part of them, and clingo, asked at every tick."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from lars_examples import EXAMPLES, LARS, by_reference

import thalweg
from thalweg.lars.reasoner import Reasoner
from thalweg.reference.lars_terms import text
from workloads import content

clingo = pytest.importorskip("clingo")


@pytest.mark.parametrize("name", LARS)
def test_a_lars_example_gives_its_golden_result(name: str) -> None:
    assert LARS[name].result() == LARS[name].golden_rows()


def test_the_golden_bus_is_the_one_of_the_definition() -> None:
    chosen = LARS["bus and tram"]
    golden = chosen.golden_rows()
    for t, heads in by_reference(chosen, range(90, 180)):
        here = {(atom, at) for atom, at, first, last in golden if int(first) <= t and (not last or t <= int(last))}
        assert here == {(text(atom), "" if at is None else str(at)) for at, atom in heads}


PEERS = {"strategy": (content.STRATEGY_ASP, ""), "retrieval": (content.RETRIEVAL_ASP, content.network())}


def stable_models(program: str) -> list[set[str]]:
    control = clingo.Control(["--models=0", "--warn=none"])
    control.add("base", [], program)
    control.ground([("base", [])])
    found: list[set[str]] = []
    control.solve(on_model=lambda model: found.append({str(s) for s in model.symbols(atoms=True)}))
    return found


@pytest.mark.parametrize("name", PEERS)
def test_the_answers_are_among_those_of_clingo_at_every_tick(name: str) -> None:
    chosen, (rules, background) = LARS[name], PEERS[name]
    stream: list[list[content.Fact]] = [[] for _ in range(121)]
    for t, predicate, args in chosen.rows():
        if t < len(stream):
            stream[t].append((predicate, tuple(map(int, args))))
    asp = [content.facts_text(facts, t) for t, facts in enumerate(stream)]
    reasoner = Reasoner(chosen.program())
    batch, _ = thalweg.rows(chosen.program(), str(chosen.home / chosen.sample))
    reasoner.accept(batch)
    for t in range(len(stream)):
        reasoner.advance(t)
        ours = {row["atom"] for row in reasoner.answers().to_pylist() if row["at"] is None}
        names = {atom.split("(")[0] for atom in ours} | {"lfu", "lru", "fifo", "random", "get", "skip", "quality"}
        models = stable_models(rules + background + " ".join(asp[max(0, t - 20) : t + 1]))
        assert ours in [{atom for atom in model if atom.split("(")[0] in names} for model in models]


SAMPLES = {"bus_and_tram": ["day.csv"], "content_caching": ["parameters.csv", "requests.csv", "network.lars"]}


@pytest.mark.parametrize("folder", SAMPLES)
def test_the_lars_generator_makes_the_sample_again(folder: str, tmp_path: Path) -> None:
    out = tmp_path / "day.csv" if folder == "bus_and_tram" else tmp_path
    subprocess.run([sys.executable, str(EXAMPLES / folder / "generate.py"), "--out", str(out)], check=True)
    for file in SAMPLES[folder]:
        assert (tmp_path / file).read_bytes() == (EXAMPLES / folder / "sample" / file).read_bytes()


@pytest.mark.parametrize("name", LARS)
def test_the_lars_readme_runs_the_example(name: str) -> None:
    chosen = LARS[name]
    lines = (chosen.home / "README.md").read_text(encoding="utf-8").splitlines()
    commands = [shlex.split(line) for line in lines if line.startswith("    thalweg run ")]
    wanted = {chosen.rules, chosen.sample, *chosen.background, str(chosen.until)}
    assert any(wanted <= set(words) for words in commands)
