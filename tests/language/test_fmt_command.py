"""`thalweg fmt`, and that the light commands stay light."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from thalweg import __version__
from thalweg.cli.main import app

UGLY = "p(a,b).   % one\nq:-p(a,_),\\+p(b,_).\n"
NEAT = "p(a, b).  % one\nq :-\n    p(a, _),\n    not p(b, _).\n"


@pytest.fixture
def ugly(tmp_path: Path) -> Path:
    path = tmp_path / "rules.ec"
    path.write_text(UGLY, encoding="utf-8")
    return path


def test_fmt_prints_the_canonical_form(ugly: Path) -> None:
    result = CliRunner().invoke(app, ["fmt", str(ugly)])
    assert (result.exit_code, result.output) == (0, NEAT)
    assert ugly.read_text(encoding="utf-8") == UGLY


def test_fmt_check_fails_where_a_file_would_change(ugly: Path) -> None:
    result = CliRunner().invoke(app, ["fmt", "--check", str(ugly)])
    assert (result.exit_code, result.output) == (1, f"would change {ugly}\n")
    assert ugly.read_text(encoding="utf-8") == UGLY


def test_fmt_write_changes_the_file_once(ugly: Path) -> None:
    assert CliRunner().invoke(app, ["fmt", "--write", str(ugly)]).output == f"changed {ugly}\n"
    assert ugly.read_text(encoding="utf-8") == NEAT
    assert CliRunner().invoke(app, ["fmt", "--write", str(ugly)]).output == ""
    assert CliRunner().invoke(app, ["fmt", "--check", str(ugly)]).exit_code == 0


def test_fmt_never_touches_a_file_with_errors(ugly: Path) -> None:
    ugly.write_text("p(a b).\n", encoding="utf-8")
    result = CliRunner().invoke(app, ["fmt", "--write", str(ugly), str(ugly.with_name("gone.ec"))])
    assert result.exit_code == 1
    assert "TW007" in result.output
    assert "gone.ec" in result.output
    assert ugly.read_text(encoding="utf-8") == "p(a b).\n"


def test_fmt_takes_the_tick_from_an_included_file_and_keeps_the_include(tmp_path: Path) -> None:
    (tmp_path / "base.ec").write_text("tick 1m.\np(a).\n", encoding="utf-8")
    path = tmp_path / "more.ec"
    path.write_text(":- ['base.ec'].\nfi(f(X)=a,f(X)=b,30m).\n", encoding="utf-8")
    result = CliRunner().invoke(app, ["fmt", str(path)])
    assert (result.exit_code, result.output) == (0, ":- ['base.ec'].\nfi(f(X)=a, f(X)=b, 30m).\n")


def test_fmt_leaves_durations_as_they_are_written_where_another_file_has_the_tick(tmp_path: Path) -> None:
    path = tmp_path / "part.ec"
    path.write_text("fi(f(X)=a,f(X)=b,1.5h).\nft(f(X)=b,30).\n", encoding="utf-8")
    result = CliRunner().invoke(app, ["fmt", str(path)])
    assert (result.exit_code, result.output) == (0, "fi(f(X)=a, f(X)=b, 1.5h).\nft(f(X)=b, 30).\n")


def test_fmt_says_what_is_wrong_and_nothing_about_includes(tmp_path: Path) -> None:
    path = tmp_path / "part.ec"
    path.write_text(":- ['base.ec'].\np(a b).\n", encoding="utf-8")
    output = CliRunner().invoke(app, ["fmt", str(path)]).output
    assert "TW007" in output
    assert "TW030" not in output


def test_the_version_and_unknown_commands() -> None:
    assert CliRunner().invoke(app, ["--version"]).output == f"thalweg {__version__}\n"
    assert CliRunner().invoke(app, ["nonsense"]).exit_code == 2


def test_the_help_names_every_command() -> None:
    folder = Path(sys.modules[app.__class__.__module__].__file__ or "")
    assert folder
    output = CliRunner().invoke(app, ["--help"]).output
    for module in (Path(__file__).parents[2] / "src/thalweg/cli").glob("[a-z]*.py"):
        if module.stem != "main":
            assert f" {module.stem} " in output


CALLS = 450_000
"""Calls of Python functions in less than half a second of a quiet machine: the same number however busy it is."""
SECONDS = 3.0
"""CPU seconds, which grow where other work takes the caches."""
_LIGHT = """
import sys, time
calls = 0
def count(frame, event, argument):
    global calls
    calls += event == "call"
sys.setprofile(count)
{action}
sys.setprofile(None)
heavy = [m for m in (
    "numpy", "numba", "pyarrow", "pyspark", "pandas", "polars", "clingo", "pydantic",
) if m in sys.modules]
print(heavy, file=sys.stderr)
print(calls, time.process_time(), file=sys.stderr)
"""


@pytest.mark.parametrize("arguments", [["--help"], ["fmt", "FILE"], ["check", "FILE"]], ids=lambda a: a[0])
def test_light_commands_import_nothing_heavy_and_do_not_do_much(arguments: list[str], tmp_path: Path) -> None:
    path = tmp_path / "small.ec"
    path.write_text("initiatedAt(f(X)=true, T) :- happensAt(e(X), T).\n", encoding="utf-8")
    argv = ["thalweg", *(str(path) if a == "FILE" else a for a in arguments)]
    action = f"sys.argv = {argv!r}\nfrom thalweg.cli.main import app\ntry:\n    app()\nexcept SystemExit:\n    pass"
    heavy, calls, seconds = _run_light(action)
    assert heavy == "[]"
    assert 0 < calls < CALLS
    assert seconds < SECONDS


def test_importing_thalweg_and_parsing_import_nothing_heavy() -> None:
    heavy, *_ = _run_light("import thalweg\nthalweg.parse('dom(a).')")
    assert heavy == "[]"


def _run_light(action: str) -> tuple[str, int, float]:
    """What was imported, how many functions were called, and the CPU seconds."""
    command = [sys.executable, "-c", _LIGHT.format(action=action)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    heavy, work = done.stderr.splitlines()[-2:]
    calls, seconds = work.split()
    return heavy, int(calls), float(seconds)


def test_a_file_that_is_not_there_is_said_plainly() -> None:
    result = CliRunner().invoke(app, ["fmt", "--write", "nowhere.ec"])
    assert (result.exit_code, result.output) == (2, "error: there is no file nowhere.ec\n")


def test_a_file_that_is_not_utf_8_is_said_with_its_place(tmp_path: Path) -> None:
    path = tmp_path / "latin.ec"
    path.write_bytes(b"known(a).\nknown(\xfc).\n")
    result = CliRunner().invoke(app, ["fmt", "--write", str(path)])
    assert result.exit_code == 1
    assert f"{path}:2:7: error[TW002]: byte 0xFC is not UTF-8" in result.output
    assert path.read_bytes() == b"known(a).\nknown(\xfc).\n"


def test_the_place_of_a_byte_that_is_not_utf_8_is_counted_in_characters(tmp_path: Path) -> None:
    path = tmp_path / "mixed.ec"
    path.write_bytes(b"\xef\xbb\xbf" + "known('äöü', ".encode() + b"\xfc).\n")
    result = CliRunner().invoke(app, ["check", str(path)])
    assert f"{path}:1:14: error[TW002]: byte 0xFC is not UTF-8" in result.output
    assert "= help: save the file as UTF-8" in result.output
    assert "U+FEFF" not in result.output


def test_check_and_write_do_not_go_together(tmp_path: Path) -> None:
    path = tmp_path / "rules.ec"
    path.write_text("known( a ).\n")
    result = CliRunner().invoke(app, ["fmt", "--check", "--write", str(path)])
    assert (result.exit_code, path.read_text()) == (2, "known( a ).\n")
    assert "choose one" in result.output


def test_fmt_reads_standard_input() -> None:
    result = CliRunner().invoke(app, ["fmt", "-"], input=UGLY)
    assert (result.exit_code, result.output) == (0, NEAT)
    assert CliRunner().invoke(app, ["fmt", "-", "--check"], input=NEAT).exit_code == 0
    assert CliRunner().invoke(app, ["fmt", "-", "--write"], input=UGLY).exit_code == 2


def test_a_file_that_cannot_be_rewritten_is_left_as_it_was(ugly: Path) -> None:
    """The limit on the size of files stands for a full disk."""
    line = f"ulimit -f 0; exec {sys.executable} -m thalweg fmt --write {ugly}"
    found = subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=False)
    assert found.returncode == 1 and "cannot write" in found.stderr
    assert ugly.read_text(encoding="utf-8") == UGLY
    assert list(ugly.parent.iterdir()) == [ugly]


def test_rewriting_keeps_the_mode_and_follows_links(ugly: Path) -> None:
    ugly.chmod(0o640)
    link = ugly.with_name("link.ec")
    link.symlink_to(ugly)
    assert CliRunner().invoke(app, ["fmt", "--write", str(link)]).exit_code == 0
    assert link.is_symlink() and ugly.read_text(encoding="utf-8") == NEAT
    assert ugly.stat().st_mode & 0o777 == 0o640
