"""Options that several commands have: how the program's stream is read and cut into windows."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Rules = Annotated[Path, typer.Argument(help="The rules.")]
Background = Annotated[list[Path] | None, typer.Option("--background", "-b", help="Background knowledge.")]
Window = Annotated[str | None, typer.Option(help="Window, in time-points or with a unit: 3600, 1h.")]
Step = Annotated[str | None, typer.Option(help="Time between queries.")]
Start = Annotated[str | None, typer.Option(help="Rows that arrive at or before it are rejected.")]
End = Annotated[str | None, typer.Option(help="Rows that arrive after it are not read.")]
Tick = Annotated[
    str | None, typer.Option(help="Distance of the points of input fluents (40), or length of a time-point (1s).")
]
Lateness = Annotated[str | None, typer.Option(help="Open answers, LARS: how late rows may be.")]
Query = Annotated[
    str | None, typer.Option(help="Open answers: the query, such as 'malf(X,T)', instead of the file's own.")
]
Horizon = Annotated[str | None, typer.Option(help="Open answers: how long premises stay open.")]
