"""Speed of the command line, and its screenshots for the documentation.

``python -m study.command_line speed`` prints the time of ``kfuse --help``, and the time and memory of clustering
a million rows; ``python -m study.command_line pictures`` draws ``docs/images/cli.png`` and ``cli-compare.png``
with the Chromium on the PATH and the table of the package palmerpenguins.
"""

from __future__ import annotations

import io
import os
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl
from playwright.sync_api import sync_playwright
from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text
from sklearn.datasets import make_blobs

from kfuse import tables
from study import real_tables

IMAGES = Path(__file__).parents[1] / "docs" / "images"
KFUSE = [sys.executable, "-m", "kfuse.cli"]
WIDTH = 90
PAPER = TerminalTheme(
    (250, 250, 248),
    (40, 40, 40),
    [(40, 40, 40), (170, 0, 0), (0, 120, 60), (150, 100, 0), (0, 90, 170), (130, 40, 130), (0, 120, 130), (90, 90, 90)],
)
SCREENS = {
    "cli": ["kfuse cluster penguins.csv -k 3", "kfuse suggest penguins.csv -n 3 -q"],
    "cli-compare": ["kfuse compare penguins.csv --truth species -k 3"],
}


def speed() -> None:
    """Time the help, and clusterings of a million rows in separate processes."""
    runs = [_timed([*KFUSE, "--help"]) for _ in range(20)]
    shown = [statistics.median(run.seconds for run in runs), min(run.seconds for run in runs)]
    processor = statistics.median(run.processor for run in runs)
    print(f"kfuse --help: median {shown[0]:.2f} s, fastest {shown[1]:.2f} s of 20; processor {processor:.2f} s")
    with tempfile.TemporaryDirectory() as folder:
        _time_reading(Path(folder) / "wide.csv")
        for n_columns in (2, 4):
            X, _ = make_blobs(1_000_000, n_columns, centers=20, cluster_std=0.4, random_state=0)
            frame = pl.DataFrame(X, schema=[f"x{i}" for i in range(1, n_columns + 1)])
            for ending, write in {"csv": frame.write_csv, "parquet": frame.write_parquet}.items():
                path = Path(folder) / f"data.{ending}"
                write(path)
                size = path.stat().st_size / 1e6
                labels = str(path.with_name(f"labels.{ending}"))
                run = _timed([*KFUSE, "cluster", str(path), "-q", "-o", labels])
                cost = f"{run.seconds:.1f} s, processor {run.processor:.1f} s, {run.memory / 2**30:.2f} GiB"
                print(f"{n_columns} columns, {ending}, {size:.0f} MB: {cost}")


def _time_reading(path: Path) -> None:
    pl.DataFrame(np.random.default_rng(0).normal(size=(1_000_000, 10))).write_csv(path)
    start = time.perf_counter()
    tables.features(tables.read(path))
    seconds = time.perf_counter() - start
    print(f"10 columns, csv, {path.stat().st_size / 1e6:.0f} MB: read, converted and scaled in {seconds:.1f} s")


class Run(NamedTuple):
    """The cost of a process."""

    seconds: float
    processor: float  # seconds, of all cores
    memory: int  # bytes, at most


def _timed(command: list[str]) -> Run:
    """Run a command in a separate process and measure its cost."""
    start = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{shlex.join(command)} failed")
    return Run(time.perf_counter() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024)


def pictures() -> None:
    """Run the commands in a terminal and draw its content."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        Path("penguins.csv").write_bytes(real_tables.content("palmerpenguins/data/penguins.csv"))
        for name, commands in SCREENS.items():
            console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True)
            for command in commands:
                console.print(Text.assemble(("$ ", "bright_black"), (command, "bold")))
                console.print(Text.from_ansi(_on_a_terminal(command)))
            svg = console.export_svg(title="kfuse", theme=PAPER)
            _screenshot(svg, IMAGES / f"{name}.png")
    os.chdir(before)


def _on_a_terminal(command: str) -> str:
    """Run a command in a pseudo-terminal; return the final content of each line."""
    ours, theirs = os.openpty()
    environment = {**os.environ, "COLUMNS": str(WIDTH), "TERM": "xterm-256color", "COLORTERM": "truecolor"}
    shown = []
    with subprocess.Popen([*KFUSE, *shlex.split(command)[1:]], stdout=theirs, stderr=theirs, env=environment):
        os.close(theirs)
        with suppress(OSError):  # raised by Linux when the other end is closed
            while part := os.read(ours, 1 << 16):
                shown.append(part)
    os.close(ours)
    lines = b"".join(shown).decode().replace("\r\n", "\n").split("\n")
    return "\n".join(line.rsplit("\x1b[2K", 1)[-1] for line in lines).strip("\n") + "\n"


def _screenshot(svg: str, path: Path) -> None:
    with sync_playwright() as running:
        browser = running.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1000, "height": 600}, device_scale_factor=2)
        page.set_content(f"<body style='margin:0;width:1000px'>{svg}</body>")
        page.locator("svg").screenshot(path=path)
        browser.close()


if __name__ == "__main__":
    {"speed": speed, "pictures": pictures}[sys.argv[1] if len(sys.argv) > 1 else "speed"]()
