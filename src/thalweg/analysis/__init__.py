"""Questions about a Program, one function each, answered in plain data: who is who, which types, what
depends on what, is it safe, how can it be split, how long must input be kept. Nothing here changes a program,
and nothing here imports a numerical library: checking starts at once."""

from thalweg.analysis.checker import check

__all__ = ["check"]
