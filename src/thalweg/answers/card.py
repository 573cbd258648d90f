"""An open answer as a small card for notebooks: evidence ticked, what is needed greyed, the deadline."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

import pyarrow as pa

_STYLE = (
    "display:inline-block;border:1px solid #c8c8c8;border-radius:6px;padding:.5em .8em;margin:.25em;"
    "font-family:system-ui,sans-serif;font-size:13px;vertical-align:top"
)


@dataclass(frozen=True, slots=True)
class Card:
    """One open answer: a row of the table `open`, or a certain one: a row of `answers`."""

    answer: str
    evidence: tuple[str, ...]
    needed: tuple[str, ...] = ()
    decided_by: int | None = None
    where: str | None = None

    @property
    def status(self) -> str:
        """What the heading says besides the answer."""
        if not self.needed:
            return "certain"
        return "no deadline" if self.decided_by is None else f"decided by {self.decided_by}"

    def _repr_html_(self) -> str:
        condition = f' <span style="color:#666">where {escape(self.where)}</span>' if self.where else ""
        ticked = "".join(_line("✓", text, "#1a7f37") for text in self.evidence)
        greyed = "".join(_line("○", text, "#8c8c8c") for text in self.needed)
        return (
            f'<div style="{_STYLE}"><b>{escape(self.answer)}</b>{condition}'
            f'<div style="color:#666">{escape(self.status)}</div>{ticked}{greyed}</div>'
        )

    def __str__(self) -> str:
        lines = [f"{self.answer}  ({self.status})" + (f"  where {self.where}" if self.where else "")]
        return "\n".join([*lines, *(f"  ✓ {t}" for t in self.evidence), *(f"  ○ {t}" for t in self.needed)])


def _line(mark: str, text: str, colour: str) -> str:
    return f'<div style="color:{colour}">{mark} {escape(text)}</div>'


@dataclass(frozen=True, slots=True)
class Cards:
    """Some cards side by side."""

    cards: tuple[Card, ...]
    more: int = 0

    def _repr_html_(self) -> str:
        rest = f'<div style="color:#666">and {self.more:,} more</div>' if self.more else ""
        return "<div>" + "".join(card._repr_html_() for card in self.cards) + rest + "</div>"

    def __str__(self) -> str:
        shown = "\n".join(map(str, self.cards))
        return f"{shown}\nand {self.more:,} more" if self.more else shown


def cards(table: pa.Table, limit: int = 12) -> Cards:
    """The first rows of a table `open` or `answers` as cards."""
    rows = table.slice(0, limit).to_pylist()
    made = tuple(
        Card(
            row["answer"],
            tuple(row["evidence"]),
            tuple(row.get("needed") or ()),
            row.get("decided_by"),
            row["where"],
        )
        for row in rows
    )
    return Cards(made, max(0, len(table) - limit))
