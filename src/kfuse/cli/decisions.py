"""What became of each column of a table, as a short table on standard error and in JSON."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from rich.text import Text

from kfuse.cli import console
from kfuse.cli.errors import spelled
from kfuse.tables import Decision, Features
from kfuse.tables.choice import EXCLUDED, NOT_CHOSEN
from kfuse.wording import counted

ORDINARY = {"min-max", "as it is"}  # scalings that need no mention if every column has them
MOST_ROWS = 30  # with a column each; in a longer table, columns share rows
MOST_NAMES = 6  # of columns that share a row
FILLED = {"category": "a category of their own", "yes/no": "a category of their own"}


def show(features: Features) -> None:
    """Print what became of the columns, unless all are numbers that were clustered by as usual.

    In a table of many columns, those with the same fate share a row.

    Parameters
    ----------
    features : Features
        The features of a table.
    """
    if sys.stderr is None or is_ordinary(features):
        return
    table = console.table(["columns", "role", "clustered by", "why"], left=["columns", "role", "clustered by", "why"])
    for (role, by, why), names in rows(features.decisions):
        style = "" if by != "no" else "dim"
        table.add_row(Text(names, style), Text(role, style), Text(by, style), Text(why, style))
    out = console.console(stderr=True)
    out.print()
    out.print(table)
    out.print()


def is_ordinary(features: Features) -> bool:
    """Return whether all columns are complete numbers without a special scaling, or left out by the user."""
    return all(
        one.reason in (EXCLUDED, NOT_CHOSEN)
        or (one.used and one.role == "number" and one.scaling in ORDINARY and not one.imputed and not one.reason)
        for one in features.decisions
    )


def rows(decisions: list[Decision]) -> Iterator[tuple[tuple[str, str, str], str]]:
    """Yield what is said about a column and its name, or the names of all columns about which the same is said."""
    if len(decisions) <= MOST_ROWS:
        yield from ((_said(one), _name(one)) for one in decisions)
        return
    groups: dict[tuple[str, str, str], list[str]] = {}
    for one in decisions:
        groups.setdefault(_said(one), []).append(_name(one))
    for said, names in groups.items():
        more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
        yield said, ", ".join(names[:MOST_NAMES]) + more


def _name(decision: Decision) -> str:
    return decision.column or "(no name)"


def _said(decision: Decision) -> tuple[str, str, str]:
    why = spelled(decision.reason)
    if decision.imputed:
        is_told = "taken as missing" in why  # some are named already, so this is the number of all
        missing = f"{decision.imputed:,} missing in all" if is_told else counted(decision.imputed, "missing value")
        filled = f"{missing}: {FILLED.get(decision.role, 'the median')}"
        why = f"{why}; {filled}" if why else filled
    return decision.role, decision.scaling or "no", why


def as_json(decision: Decision) -> dict[str, Any]:
    """Return a decision with its reason as text."""
    return {**decision._asdict(), "reason": spelled(decision.reason)}
