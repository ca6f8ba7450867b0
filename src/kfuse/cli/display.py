"""What is printed for people to read."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

WIDE = 160  # columns of a pipe or file, which has no width of its own
LONGEST_BAR = 24


def console() -> Console:
    """Give the console for standard output."""
    made = Console(highlight=False)
    return made if made.is_terminal else Console(highlight=False, width=WIDE)


def bar_of(out: Console) -> str:
    """Give the character that bars are made of."""
    return "█" if out.encoding.startswith("utf") else "#"


def bar(share: float, character: str, style: str) -> Text:
    """Draw a share from 0 to 1."""
    return Text(character * max(1, round(LONGEST_BAR * share)), style)


def table(titles: Sequence[str], *, left: Sequence[str] = ()) -> Table:
    """Make a table of numbers, with some columns of words."""
    made = Table(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 0, 0, 1))
    for title in titles:
        made.add_column(title, justify="left" if title in left else "right", no_wrap=title not in left)
    return made


def remark(out: Console, words: str) -> None:
    """Print a remark below a table."""
    out.print(Padding(Text(words, "dim"), (0, 0, 0, 1), expand=False))


def heading(words: str) -> Text:
    """Give a line above a table."""
    return Text.assemble("\n ", (words, "bold"), "\n")
