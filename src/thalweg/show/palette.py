"""Colours that can be told apart on light and dark ground; further ones are made from their number."""

from __future__ import annotations

PALETTE = (
    "#4477aa",
    "#d1662b",
    "#2e8b57",
    "#a8479c",
    "#b8860b",
    "#3b9aa8",
    "#c0435a",
    "#6a62c4",
    "#7a8f1f",
    "#8a6a4f",
    "#6f7f92",
    "#d0719b",
    "#774053",
    "#2bab2b",
    "#235c4e",
    "#844315",
    "#3551de",
    "#849b78",
    "#812bab",
    "#4e5c23",
    "#d32222",
    "#de358a",
    "#5d22d3",
    "#de35de",
)


def colour(key: int) -> str:
    """The colour of a number."""
    return PALETTE[key] if key < len(PALETTE) else f"hsl({key * 137.5 % 360:g} 48% 50%)"
