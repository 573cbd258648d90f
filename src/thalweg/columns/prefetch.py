"""Asking for memory before it is needed.

A kernel that goes from list to list waits for memory at each of them, several hundred instructions long. One that asks
for the lists ahead goes on meanwhile, and finds them there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
import numpy.typing as npt
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core.errors import TypingError
from numba.extending import intrinsic

_INTRINSIC = "llvm.prefetch.p0"
_WRITE, _KEEP, _DATA = 1, 3, 1
"""The memory will be written, is worth a place in all caches, and holds no instructions."""

Emit = Callable[[Any, ir.IRBuilder, Any, Any], Any]


@intrinsic
def _ask(typing: Any, array: Any, at: Any) -> tuple[Any, Emit]:
    """Tell the processor that the element `at` of an array without gaps, counted through all its dimensions, will soon
    be used. An element that is not there does no harm."""
    if not isinstance(array, types.Array) or array.layout != "C":
        raise TypingError("only arrays without gaps")

    def emit(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        byte, flag = ir.IntType(8).as_pointer(), ir.IntType(32)
        address = builder.bitcast(builder.gep(data, [arguments[1]]), byte)
        known = builder.module.globals.get(_INTRINSIC)
        if known is None:
            kind = ir.FunctionType(ir.VoidType(), [byte, flag, flag, flag])
            known = ir.Function(builder.module, kind, _INTRINSIC)
        builder.call(known, [address, flag(_WRITE), flag(_KEEP), flag(_DATA)])
        return context.get_dummy_value()

    return types.void(array, types.intp), emit


ask: Callable[[npt.NDArray[np.int64] | npt.NDArray[np.int32], int], None] = cast(Any, _ask)
"""`_ask`, as its callers see it."""
