"""The command line that the generators of the examples share."""

from __future__ import annotations

from argparse import ArgumentDefaultsHelpFormatter, ArgumentParser
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from workloads.columns import Stream, delayed, size
from workloads.files import Fact, write_all, write_facts

Sizes = Mapping[str, float]
Made = tuple[Stream, Sequence[Fact]]
FORMS = ("rtec", "csv", "parquet")


def generator(
    title: str,
    make: Callable[[Sizes, int], Made],
    *,
    sizes: Mapping[str, tuple[float, str]],
    facts_file: str | None = None,
    argv: Sequence[str] | None = None,
) -> list[Path]:
    """Read the sizes (name to default and meaning), make the stream and write it; the paths written.

    Whole-number defaults take whole numbers. `facts_file` names the file for the facts of the stream.
    """
    parser = ArgumentParser(description=title, formatter_class=ArgumentDefaultsHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("out"), help="folder to write to")
    parser.add_argument("--forms", nargs="+", choices=FORMS, default=["rtec"], help="how to write the stream")
    parser.add_argument("--seed", type=int, default=1, help="the same seed gives the same stream")
    parser.add_argument("--late", type=float, default=0.0, help="share of the rows that arrive late")
    parser.add_argument("--delay-unit", type=float, default=3600.0, help="delays are Gamma(2, 2) of these")
    for name, (default, meaning) in sizes.items():
        parser.add_argument(f"--{name}", type=type(default), default=default, help=meaning)
    chosen = parser.parse_args(argv)
    given = {name: getattr(chosen, name.replace("-", "_")) for name in sizes}
    stream, facts = make(given, chosen.seed)
    if chosen.late:
        stream = delayed(stream, chosen.late, seed=chosen.seed, unit=chosen.delay_unit)
    written = write_all(stream, chosen.out, chosen.forms)
    if facts_file is not None:
        written.append(
            write_facts(chosen.out / facts_file, f"{title} Generated with seed {chosen.seed}.", facts)
        )
    print(f"{size(stream):,} rows of {len(stream)} names in {chosen.out}")
    return written
