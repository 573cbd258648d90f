"""Check programs: errors, warnings and hints, then what the analysis knows."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from thalweg.cli._options import Query

if TYPE_CHECKING:
    from thalweg.language.diagnostics import Diagnostic
    from thalweg.language.program import Program


def check(
    files: Annotated[list[Path], typer.Argument(help="Program files, each checked by itself.")],
    background: Annotated[
        list[Path] | None, typer.Option("--background", "-b", help="Background knowledge for all of them.")
    ] = None,
    query: Query = None,
    strict: Annotated[bool, typer.Option("--strict", help="Warnings count as errors.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON document for tools.")] = False,
) -> None:
    """Check programs and print what the analysis knows about them. Exit code 1 when there are errors, 2 when a
    file cannot be read."""
    from thalweg.cli._files import refuse_missing

    refuse_missing([*files, *(background or [])])
    results = [_Result(path, background or [], query, strict) for path in files]
    if json:
        typer.echo(_as_json(results))
    else:
        typer.echo("\n\n".join("\n".join([_as_text(result), *_advice(result, results)]) for result in results))
    if any(result.failed for result in results):
        raise typer.Exit(1)


class _Result:
    """One checked file."""

    def __init__(self, path: Path, background: list[Path], query: str | None, strict: bool) -> None:
        from thalweg.analysis.checker import check_read
        from thalweg.analysis.checker import strict as as_errors
        from thalweg.language.diagnostics import has_errors
        from thalweg.language.parser import read_files

        self.path = path
        self.background = background
        self.program, found = read_files(path, *background)
        if query is not None:
            self.program = _asking(self.program, query)
        found = check_read(self.program, found)
        self.diagnostics = as_errors(found) if strict else found
        self.failed = has_errors(self.diagnostics)


def _asking(program: Program, query: str) -> Program:
    from thalweg.cli._errors import reported
    from thalweg.plans import with_query

    with reported():
        return with_query(program, query)


def _as_text(result: _Result) -> str:
    from thalweg.analysis.report import analyse, describe
    from thalweg.answers.describe import describe as describe_answers
    from thalweg.language.diagnostics import render
    from thalweg.language.rules import Kind

    parts = [render(result.diagnostics, result.program.sources)] if result.diagnostics else []
    parts.append(f"{result.path}: {_summary(result)}")
    if result.failed:
        parts.append(more_about(result.diagnostics))
    else:
        parts.append(describe(analyse(result.program)))
        if result.program.kind is Kind.ANSWERS:
            parts.append(describe_answers(result.program))
    return "\n".join(part for part in parts if part)


def _advice(result: _Result, results: list[_Result]) -> list[str]:
    """What is said of a file that is knowledge for others that were given and does not reach them: each is checked by
    itself."""
    from thalweg.analysis.roles import EntityKind, Part, entities
    from thalweg.analysis.wording import listed
    from thalweg.language.rules import Clause

    if not all(isinstance(statement, Clause) for statement in result.program.statements):
        return []
    has = {(e.name, e.arity) for e in entities(result.program).of_kind(EntityKind.PREDICATE) if e.rules}
    advice = []
    for other in results:
        asked = entities(other.program).of_kind(EntityKind.PREDICATE)
        reads = [f"{e.name}/{e.arity}" for e in asked if e.part is Part.UNKNOWN and (e.name, e.arity) in has]
        if other is not result and reads:
            given = [*other.background, result.path]
            command = f"thalweg check {other.path} {' '.join(f'--background {path}' for path in given)}"
            advice.append(f"{other.path} reads {listed(reads)} of it, but each file is checked by itself: {command}")
    return advice


def more_about(diagnostics: Iterable[Diagnostic]) -> str:
    """Where the errors are explained."""
    codes = dict.fromkeys(d.code for d in diagnostics if d.severity == "error")
    return f"More about it: thalweg code {' '.join(codes)}"


def _summary(result: _Result) -> str:
    from thalweg.language.rules import Clause

    statements = result.program.statements
    facts = sum(isinstance(statement, Clause) and not statement.body for statement in statements)
    counts = [
        f"{result.program.kind} program",
        _counted(len(statements) - facts, "statement"),
        _counted(facts, "fact"),
    ]
    for severity in ("error", "warning", "hint"):
        number = sum(diagnostic.severity == severity for diagnostic in result.diagnostics)
        if number or severity == "error":
            counts.append(_counted(number, severity))
    return ", ".join(counts)


def _counted(number: int, noun: str) -> str:
    from thalweg.language.wording import counted

    return counted(number, noun) if number else f"no {noun}s"


def _as_json(results: list[_Result]) -> str:
    from json import dumps

    from thalweg.analysis.report import analyse, facts

    documents = []
    for result in results:
        document: dict[str, object] = {
            "file": str(result.path),
            "ok": not result.failed,
            "diagnostics": [diagnostic.as_json() for diagnostic in result.diagnostics],
        }
        if not result.failed:
            document["analysis"] = facts(analyse(result.program))
        documents.append(document)
    return dumps({"files": documents}, indent=2, ensure_ascii=False)
