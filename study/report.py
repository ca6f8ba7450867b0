"""Speed of a report of 100,000 rows, and the documentation's images of reports and plots.

``python -m study.report speed`` prints sizes and times; ``python -m study.report pictures`` draws
``docs/images/report.png`` and ``docs/images/plots.png``. The browser is the Chromium on the PATH.
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
from matplotlib.figure import Figure
from playwright.sync_api import sync_playwright
from sklearn.datasets import load_wine, make_blobs
from sklearn.preprocessing import scale

from kfuse import KFuse, plots, report
from kfuse.datasets import make_shapes

IMAGES = Path(__file__).parents[1] / "docs" / "images"

# Steps of the slider: time in the script, and until the next frame is on the screen.
STEPS = """async () => {
  const table = document.getElementById("table");
  const wait = () => new Promise((r) => setTimeout(r, 5));
  const idle = async () => { while (table.getAttribute("aria-busy") !== "false") await wait(); };
  const frame = () => new Promise((r) => requestAnimationFrame(() => setTimeout(r)));
  const steps = [];
  for (let number = 2; number <= 20; number++) {
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
def opened(path: Path, width: int = 1366, height: int = 768) -> Iterator[Any]:
    """Open a report in headless Chromium with software rendering."""
    flags = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
    with sync_playwright() as running:
        browser = running.chromium.launch(executable_path=shutil.which("chromium"), args=flags)
        page = browser.new_page(viewport={"width": width, "height": height})
        page.goto(path.resolve().as_uri())
        page.wait_for_selector("body[data-ready=true]", timeout=120_000)
        page.wait_for_selector("#table[aria-busy=false]", timeout=120_000)
        yield page
        browser.close()


def speed() -> None:
    """Write reports of 100,000 rows and time their sliders."""
    data = {"2 columns": make_shapes(100_000)[0], "10 columns": make_blobs(100_000, 10, centers=12, random_state=0)[0]}
    for name, X in data.items():
        model = KFuse().fit(X)
        with tempfile.TemporaryDirectory() as folder:
            start = time.perf_counter()
            path = report.write(model, X, Path(folder) / "report.html")
            seconds = time.perf_counter() - start
            size = path.stat().st_size / 1e6
            print(f"100,000 rows, {name}: {size:.1f} MB, written in {seconds:.1f} s")
            start = time.perf_counter()
            with opened(path) as page:
                print(f"  opened and drawn in {time.perf_counter() - start:.1f} s")
                steps = np.array(page.evaluate(STEPS))
        words = ("cut", "cut, colours and tree", "and on the screen", "and the table")
        for what, ms in zip(words, steps.T, strict=True):
            print(f"  a step of the slider, {what}: {np.median(ms):.0f} ms, at best {ms.min():.0f} ms")


def pictures() -> None:
    """Draw the images of the documentation."""
    X = load_wine(as_frame=True).data
    with tempfile.TemporaryDirectory() as folder:
        path = report.write(KFuse().fit(scale(X)), X, Path(folder) / "wine.html", title="Wine")
        with opened(path, 1366, 960) as page:
            box = page.locator("#samples").bounding_box()
            for across in np.linspace(0.55, 0.8, 100):  # until the pointer is over a sample
                page.mouse.move(box["x"] + across * box["width"], box["y"] + 0.3 * box["height"])
                if page.locator("#tip").is_visible():
                    break
            page.wait_for_timeout(500)
            page.screenshot(path=IMAGES / "report.png", full_page=True)
    _draw_plots().savefig(IMAGES / "plots.png", dpi=80)


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
