"""What people write who come from elsewhere, operators of other languages and characters as papers print them, and what
to write instead."""

from __future__ import annotations

import re

_NECK = "write `:-` or `if` between head and body"
FOREIGN = {
    "<-": (":-", _NECK),
    "←": (":-", _NECK),
    "-->": (":-", _NECK),
    ":=": (":-", f"{_NECK}, `=` between a fluent and its value, `is` for arithmetic"),
    "=>": (">=", "write `>=` to compare; a rule is written `head :- body`, head first"),
    "→": (":-", "a rule is written `head :- body`, head first"),
    "<=": ("=<", "write `=<`"),
    "≤": ("=<", "write `=<`"),
    "≥": (">=", "write `>=`"),
    "!=": ("\\=", "write `\\=`"),
    "<>": ("\\=", "write `\\=`"),
    "≠": ("\\=", "write `\\=`"),
    "=@=": ("==", "write `==`"),
    "<->": ("=", "write two rules"),
    "<=>": ("=", "write two rules"),
    "&&": (",", "write `,` between literals"),
    "&": (",", "write `,` between literals"),
    "∧": (",", "write `,` between literals"),
    "||": (";", "write `;` between alternatives, or two rules"),
}
"""Operators of other languages: what to go on with, and what to advise."""
_NEXT_WINDOW = "a window is written in square brackets before its operator: `[3m] sometime atom`"
PRINTED = {
    **dict.fromkeys("⊞⊟⊡", _NEXT_WINDOW),
    **dict.fromkeys("◇◊♢⋄⬦", "write `sometime`: `[3m] sometime atom`"),
    **dict.fromkeys("□◻▢", "write `always`: `[3m] always atom`"),
    "@": "write `at(T) atom`",
    "?": "ask with a line `query p(X, T).`",
    "∨": "write `;` between alternatives, or two rules",
    "∈": "write one rule per value, or a fact per value and the fact's predicate here",
    "∪": "write `union_all([I1, I2], I)`",
    "∩": "write `intersect_all([I1, I2], I)`",
    "∞": "leave the end of an interval open instead",
    "×": "write `*`",
    "·": "write `*`",
    "÷": "write `/`",
    **dict.fromkeys("−–—", "write `-`"),
    **dict.fromkeys("‘’‚‛′`´", "write `'`"),
    **dict.fromkeys("“”„″", "write `'` or `\"`"),
    **dict.fromkeys("\u00a0\u2002\u2003\u2009\u202f\u3000", "write an ordinary space"),
    **dict.fromkeys("\u00ad\u200b\u200c\u200d\u2060\ufeff", "remove it; it cannot be seen"),
}
"""Characters as papers print them and as they are copied from there: what to write instead."""
LIGATURES = {"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"}
LIGATURE = re.compile("[ﬀ-ﬆ]")
