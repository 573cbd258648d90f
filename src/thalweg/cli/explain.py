"""Explain a result: why something holds or happens at a time-point, or why not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from thalweg.cli._options import Background, End, Horizon, Lateness, Query, Rules, Start, Step, Tick, Window

if TYPE_CHECKING:
    from collections.abc import Callable

    from thalweg.explain.tree import Node


def explain(
    rules: Rules,
    question: Annotated[str, typer.Argument(help="What is asked: 'status(m1)=voting @ 130', 'malf(wt25, 3)'.")],
    input: Annotated[list[str], typer.Option("--input", "-i", help="Events: a file, a directory or a glob.")],
    window: Window = None,
    step: Step = None,
    background: Background = None,
    start: Start = None,
    end: End = None,
    tick: Tick = None,
    lateness: Lateness = None,
    horizon: Horizon = None,
    query: Query = None,
    insert: Annotated[
        list[str] | None, typer.Option(help="What if this happened too: 'press(lamp) @ 5'.")
    ] = None,
    retract: Annotated[
        list[str] | None, typer.Option(help="What if this had not happened: 'press(lamp) @ 5'.")
    ] = None,
    minimal: Annotated[
        bool, typer.Option("--minimal", help="Rows that suffice and of which each is needed, instead of the tree.")
    ] = False,
    changed: Annotated[
        bool, typer.Option("--changed", help="Why it was found or withdrawn at that query time.")
    ] = False,
    format: Annotated[str, typer.Option(help="text, html or json.")] = "text",
    allow_gaps: Annotated[bool, typer.Option("--allow-gaps", help="Allow a window below the step.")] = False,
) -> None:
    """Explain a result.

    If what is asked holds, the tree says why: rules, intervals, and at the leaves rows of the input. If it does
    not, the nearest rule instances are shown with the conditions that fail.
    """
    from thalweg.cli._errors import reported
    from thalweg.io.errors import InputError
    from thalweg.runs import run

    with reported():
        if format not in _FORMATS:
            raise InputError("format", f"format {format} is none of {', '.join(_FORMATS)}")
        if changed and minimal:
            raise InputError("changed", "--changed and --minimal are two questions", "choose one")
        if not rules.is_file():
            raise InputError("program", f"there is no file {rules}")
        result = run(
            rules,
            input,
            window=window,
            step=step,
            start=start,
            end=end,
            tick=tick,
            background=background or (),
            lateness=lateness,
            horizon=horizon,
            query=query,
            allow_gaps=allow_gaps,
        )
        if insert or retract:
            result = result.what_if(insert=insert or (), retract=retract or ()).result
        if changed:
            node = result.why_changed(question)
        elif minimal:
            node = result.why(question, minimal=True)
        else:
            node = result.why(question) if result.holds(question) else result.why_not(question)
        typer.echo(_FORMATS[format](node))


def _page(node: Node) -> str:
    from html import escape

    style = (
        "body{font:14px/1.5 system-ui,sans-serif;margin:2em}ul{list-style:none;padding-left:1.2em;"
        "border-left:1px solid #8886}small{opacity:.6;margin-left:.6em}.input span{font-weight:600}"
        ".fails span{color:#c0392b}@media(prefers-color-scheme:dark){body{background:#14181f;color:#e6eaf1}}"
    )
    return (
        f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{escape(node.text)}</title>'
        f"<style>{style}</style></head><body>{node.to_html()}</body></html>"
    )


_FORMATS: dict[str, Callable[[Node], str]] = {"text": str, "html": _page, "json": lambda node: node.to_json()}
