"""Why a row counts for nothing: the codes in the column `reason` of the tables `rejected`, the same whether it is the
reader of the input that says so, a reasoner, the definition or Spark. docs/input.md explains each."""

from __future__ import annotations

UNKNOWN_NAME = "unknown-name"
WRONG_ARITY = "wrong-arity"
WRONG_TYPE = "wrong-type"
MISSING = "missing-value"
OUT_OF_RANGE = "out-of-range"
NO_TIME = "no-time"
BAD_TIME = "bad-time"
END_BEFORE_START = "end-before-start"
BAD_OP = "bad-op"
MALFORMED = "malformed"

UNREADABLE = frozenset(
    [
        UNKNOWN_NAME,
        WRONG_ARITY,
        WRONG_TYPE,
        MISSING,
        OUT_OF_RANGE,
        NO_TIME,
        BAD_TIME,
        END_BEFORE_START,
        BAD_OP,
        MALFORMED,
    ]
)
"""What is wrong with a row whenever it comes; the reader of the input looks for it."""

TOO_LATE = "too-late"
BEFORE_START = "before-the-start"
UNKNOWN_RETRACTION = "unknown-retraction"
OFF_TICK = "not-on-the-tick"
TOO_FAR_AHEAD = "too-far-ahead"
