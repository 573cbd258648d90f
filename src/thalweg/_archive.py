"""The package inside a zip file, as `spark-submit --py-files` brings it: unpacked once, so that compiled kernels can be
kept beside their source and data files can be opened."""

from __future__ import annotations

import os
import tempfile
import zipfile
from pathlib import Path
from zlib import crc32


def unpacked(archive: str) -> str:
    """The directory of the package, for all processes of a user on this machine. What is in the file decides, not
    which file it is: Spark makes copies of it for every application and worker."""
    with zipfile.ZipFile(archive) as found:
        mark = crc32(repr(sorted((entry.filename, entry.CRC) for entry in found.infolist())).encode())
    home = Path(tempfile.gettempdir()) / f"thalweg-package-{os.getuid()}-{mark:08x}"
    if not home.exists():
        passing = Path(tempfile.mkdtemp(prefix="thalweg-package-"))
        with zipfile.ZipFile(archive) as found:
            found.extractall(passing)
        try:
            passing.rename(home)
        except OSError:  # another process was faster
            if not home.exists():
                raise
    return str(home / "thalweg")
