"""What commands print for people to read: headings, tables, bars and remarks."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from kfuse.drawing.palette import PALETTE

WIDE = 160  # columns of a pipe or file, which has no width of its own
LONGEST_BAR = 24


def console(*, stderr: bool = False) -> Console:
    """Return the console for standard output, or for standard error."""
    made = Console(highlight=False, stderr=stderr)
    return made if made.is_terminal else Console(highlight=False, stderr=stderr, width=WIDE)


def bar_character(out: Console) -> str:
    """Return the character that bars are made of, which the encoding of the console must have."""
    return "█" if out.encoding.startswith("utf") else "#"


def bar(share: float, character: str, style: str) -> Text:
    """Draw a share between 0 and 1 as a bar."""
    return Text(character * max(1, round(LONGEST_BAR * share)), style)


def table(titles: Sequence[str], *, left: Sequence[str] = ()) -> Table:
    """Build an empty table of right-aligned numbers; the columns in `left` hold text."""
    made = Table(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 0, 0, 1))
    for title in titles:
        made.add_column(title, justify="left" if title in left else "right", no_wrap=title not in left)
    return made


def size_table(sizes: Sequence[int], character: str, most: int = 20) -> Table:
    """Build a table of cluster sizes with bars; after `most` clusters, the others are one row."""
    made, total = table(["cluster", "rows", "share", ""], left=[""]), sum(sizes)
    for label, size in enumerate(sizes[:most]):
        drawn = bar(size / sizes[0], character, PALETTE[label % len(PALETTE)])
        made.add_row(str(label), f"{size:,}", f"{size / total:.1%}", drawn)
    if len(sizes) > most:
        rest = sum(sizes[most:])
        made.add_row(f"{most} to {len(sizes) - 1}", f"{rest:,}", f"{rest / total:.1%}", "")
    return made


def remark(out: Console, text: str) -> None:
    """Print a remark below a table."""
    out.print(Padding(Text(text, "dim"), (0, 0, 0, 1), expand=False))


def heading(text: str) -> Text:
    """Return the line above a table."""
    return Text.assemble("\n ", (text, "bold"), "\n")


def first_few(sizes: Sequence[int], most: int = 8) -> str:
    """List the first sizes, and how many more there are."""
    shown = ", ".join(f"{size:,}" for size in sizes[:most])
    return f"{shown}, and {len(sizes) - most:,} more" if len(sizes) > most else shown
