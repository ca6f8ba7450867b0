"""Speed of large reports, and the documentation's images of reports and plots.

``python -m study.report speed`` prints sizes and times; ``python -m study.report pictures`` draws
``docs/images/report*.png`` and ``docs/images/plots.png``. The browser is the Chromium on the PATH.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from playwright.sync_api import sync_playwright
from sklearn.datasets import load_wine, make_blobs
from sklearn.preprocessing import scale

from kfuse import KFuse, plots, report
from kfuse.datasets import make_shapes

IMAGES = Path(__file__).parents[1] / "docs" / "images"

# Steps of the slider: time in the script, until the next frame is on the screen, and until the table is there.
STEPS = """async (numbers) => {
  const table = document.getElementById("table");
  const wait = () => new Promise((r) => setTimeout(r, 5));
  const idle = async () => { while (table.getAttribute("aria-busy") !== "false") await wait(); };
  const frame = () => new Promise((r) => requestAnimationFrame(() => setTimeout(r)));
  const steps = [];
  for (const number of numbers) {
    await idle(); await frame(); await frame();
    const start = performance.now();
    kfuse.cut(number);
    const cut = performance.now();
    kfuse.setNumber(number);
    const script = performance.now();
    await frame();
    const screen = performance.now();
    await idle();
    steps.push([cut - start, script - cut, screen - cut, performance.now() - cut]);
  }
  return steps;
}"""


@contextmanager
def opened(path: Path, **how: Any) -> Iterator[Any]:
    """Open a report in headless Chromium."""
    with sync_playwright() as running:
        browser = running.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_context(**{"viewport": {"width": 1366, "height": 860}, **how}).new_page()
        page.goto(path.resolve().as_uri())
        page.wait_for_selector("body[data-ready=true]", timeout=120_000)
        page.wait_for_selector("#table[aria-busy=false]", timeout=120_000)
        yield page
        browser.close()


def speed() -> None:
    """Write reports of 100,000 and 327,000 rows and time their sliders."""
    data = {
        "2 columns": make_shapes(100_000)[0],
        "10 columns": make_blobs(100_000, 10, centers=12, random_state=0)[0],
        "4 columns": make_blobs(327_000, 4, centers=12, random_state=0)[0],
    }
    for name, X in data.items():
        model = KFuse().fit(X)
        with tempfile.TemporaryDirectory() as folder:
            start = time.perf_counter()
            path = report.write(model, X, Path(folder) / "report.html")
            seconds = time.perf_counter() - start
            size = path.stat().st_size / 1e6
            print(f"{len(X):,} rows, {name}: {size:.1f} MB, written in {seconds:.1f} s")
            start = time.perf_counter()
            with opened(path) as page:
                print(f"  opened and drawn in {time.perf_counter() - start:.1f} s")
                steps = np.array(page.evaluate(STEPS, list(range(2, 21))))
        words = ("cut", "cut, colours and tree", "and on the screen", "and the table")
        for what, ms in zip(words, steps.T, strict=True):
            print(f"  a step of the slider, {what}: {np.median(ms):.0f} ms, at best {ms.min():.0f} ms")


def pictures() -> None:
    """Draw the images of the documentation."""
    phone = {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True}
    wine, towns = _wine(), _towns()
    with tempfile.TemporaryDirectory() as folder:
        for name, (model, table, title), how in (
            ("report", wine, {"viewport": {"width": 1366, "height": 900}}),
            ("report-dark", towns, {"color_scheme": "dark"}),
            ("report-phone", wine, phone),
        ):
            path = report.write(model, table, Path(folder) / f"{name}.html", title=title)
            with opened(path, **how) as page:
                page.wait_for_timeout(300)
                page.screenshot(path=IMAGES / f"{name}.png", full_page=name == "report")
    _draw_plots().savefig(IMAGES / "plots.png", dpi=80)


def _wine() -> tuple[KFuse, Any, str]:
    wine = load_wine(as_frame=True)
    table = wine.data.assign(cultivar=wine.target.map({0: "A", 1: "B", 2: "C"}))
    return KFuse().fit(scale(wine.data)), table, "Wine"


def _towns() -> tuple[KFuse, Any, str]:
    X, y = make_blobs(4000, 2, centers=34, cluster_std=0.35, random_state=3)
    return KFuse(30).fit(X), pd.DataFrame(X, columns=["east", "north"]).assign(town=[f"T{i}" for i in y]), "30 clusters"


def _draw_plots() -> Any:
    figure = Figure(figsize=(15, 8.4), layout="constrained")
    axes = figure.subplots(2, 3)
    X, _ = make_shapes()
    model = KFuse().fit(X)
    wine = load_wine(as_frame=True).data
    told = wine[["alcohol", "flavanoids", "color_intensity", "hue", "proline"]]
    drawn = {
        "subclusters": plots.subclusters(model, ax=axes[0, 0]),
        "density": plots.density(model, ax=axes[0, 1]),
        "scatter": plots.scatter(X, model.labels_, axes[0, 2]),
        "dendrogram": plots.dendrogram(model, ax=axes[1, 0], most_leaves=21),
        "fusion_curve": plots.fusion_curve(model, axes[1, 1]),
        "profiles": plots.profiles(KFuse().fit(scale(wine)), told, axes[1, 2]),
    }
    for name, ax in drawn.items():
        ax.set_title(name, loc="left", fontsize=12, fontweight="bold")
    return figure


if __name__ == "__main__":
    {"speed": speed, "pictures": pictures}[sys.argv[1] if len(sys.argv) > 1 else "speed"]()
