"""Files that hold something else than text, told by their first bytes, and text whose lines do not end as lines do."""

from __future__ import annotations

import codecs
from pathlib import Path

from thalweg.io.errors import InputError

_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_OTHERS = (
    (b"PK\x03\x04", "a ZIP archive, as workbooks are too", "unpack it; of a workbook save each sheet as CSV"),
    (b"\xd0\xcf\x11\xe0", "an old workbook or document", "save each sheet as CSV"),
    (b"SQLite format 3\0", "a SQLite database", "write the rows of a table as CSV"),
    (b"%PDF", "a PDF", "write its rows as CSV"),
)
_COMPRESSIONS = ((b"\x1f\x8b", "gzip", ".gz"), (b"(\xb5/\xfd", "zstd", ".zst"), (b"BZh", "bzip2", ".bz2"))


def refuse_foreign(path: Path, shown: str) -> None:
    """An error where the first bytes of a file that is to be read as text say that it is none. `shown`: its name."""
    with path.open("rb") as file:
        head = file.read(16)
    if head.startswith(_UTF16):
        _refuse(shown, "UTF-16", f"save it as UTF-8, or write iconv -f UTF-16 -t UTF-8 {shown}")
    for magic, what, hint in _OTHERS:
        if head.startswith(magic):
            _refuse(shown, what, hint)
    endings = [ending for _, _, ending in _COMPRESSIONS]
    for magic, what, ending in _COMPRESSIONS:
        if head.startswith(magic) and path.suffix.lower() not in endings:
            _refuse(shown, f"compressed with {what}", f"give it a name that ends with {ending}")


def refuse_returns(shown: str, block: bytes) -> None:
    """An error where the lines of the first block of a file end with carriage returns only: they would be one line."""
    if b"\r" in block and block.count(b"\n") == 1:
        _refuse(shown, "text whose lines end with carriage returns only", f"write tr '\\r' '\\n' < {shown}")


def _refuse(shown: str, what: str, hint: str) -> None:
    raise InputError("format", f"{shown} cannot be read: it is {what}", hint)
