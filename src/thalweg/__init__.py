"""Thalweg, a stream reasoner: events and states, open answers, windows over atoms.

The names below are the public face; they are looked up when first used, so that `import thalweg` stays light.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from thalweg.events.reasoner import Reasoner
    from thalweg.io.errors import InputError
    from thalweg.language.diagnostics import Diagnostic, ProgramError, Severity
    from thalweg.language.parser import load, parse
    from thalweg.language.program import Program
    from thalweg.result import Result
    from thalweg.runs import rows, run

__version__ = "0.1.0"

if _zip := getattr(__spec__.loader, "archive", None):  # inside a zip file
    from thalweg._archive import unpacked

    __path__ = [unpacked(_zip)]

_WHERE = {
    "Diagnostic": "thalweg.language.diagnostics",
    "InputError": "thalweg.io.errors",
    "ProgramError": "thalweg.language.diagnostics",
    "Severity": "thalweg.language.diagnostics",
    "Program": "thalweg.language.program",
    "load": "thalweg.language.parser",
    "parse": "thalweg.language.parser",
    "Reasoner": "thalweg.events.reasoner",
    "Result": "thalweg.result",
    "rows": "thalweg.runs",
    "run": "thalweg.runs",
}

__all__ = [
    "Diagnostic",
    "InputError",
    "Program",
    "ProgramError",
    "Reasoner",
    "Result",
    "Severity",
    "__version__",
    "load",
    "parse",
    "rows",
    "run",
]


def __getattr__(name: str) -> object:
    if name in _WHERE:
        return getattr(import_module(_WHERE[name]), name)
    raise AttributeError(f"module 'thalweg' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
