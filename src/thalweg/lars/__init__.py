"""LARS: rules over windows, kept true as the stream moves. Labels are interval sets; nothing scans a window.

Here live the analysis of LARS programs, their dataflow, the kernels over labelled tuples and the reasoner. `Reasoner`
is looked up when it is first used: the checker imports this room, and no numerical library with it.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from thalweg.lars.reasoner import Reasoner

__all__ = ["Reasoner"]


def __getattr__(name: str) -> object:
    if name == "Reasoner":
        from thalweg.lars.reasoner import Reasoner

        return Reasoner
    raise AttributeError(f"module 'thalweg.lars' has no attribute {name!r}")
