"""Numbers of things, as one says them."""

from __future__ import annotations

from collections.abc import Mapping


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """So many of something; the plural has an s unless it is given.

    >>> counted(1, "row"), counted(0, "row"), counted(1200, "query time"), counted(2, "entity", "entities")
    ('1 row', '0 rows', '1,200 query times', '2 entities')
    """
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def tallied(sizes: Mapping[str, int]) -> str:
    """Tables by name with their numbers of rows; of one row the name says no more than one.

    >>> tallied({"timeline": 2, "changes": 1, "open": 0})
    '2 timeline, 1 change, 0 open'
    """
    return ", ".join(counted(number, name.removesuffix("s"), name) for name, number in sizes.items())
