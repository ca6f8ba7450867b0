"""The browser that the tests of the report share, the models that they show, and how to open a page."""

import os
import shutil

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine, make_blobs
from sklearn.preprocessing import scale

from kfuse import KFuse, report
from kfuse.datasets import make_shapes
from tests.report.reading import table_is_filled


@pytest.fixture(scope="package")
def browser():
    playwright = pytest.importorskip("playwright.sync_api", reason="the browser tests need playwright")
    names = ("chromium", "chromium-browser", "google-chrome")
    found = os.environ.get("KFUSE_CHROMIUM") or next(filter(None, map(shutil.which, names)), None)
    if found is None:
        pytest.skip("no Chromium on the PATH: install it, or name it in KFUSE_CHROMIUM")
    with playwright.sync_playwright() as running:
        chromium = running.chromium.launch(executable_path=found, args=["--no-sandbox"])  # a container has none
        yield chromium
        chromium.close()


@pytest.fixture
def show(browser, tmp_path):
    """Open a report; at the end, nothing was complained about and nothing was fetched."""
    contexts, said, fetched = [], [], []

    def opened(model, X=None, *, device=None, **options):
        context = browser.new_context(offline=True, **{"viewport": {"width": 1366, "height": 768}, **(device or {})})
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(60_000)
        page.on("console", lambda message: message.type in ("error", "warning") and said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda request: fetched.append(request.url))
        path = report.write(model, X, tmp_path / "report.html", **options)
        page.goto(path.as_uri())
        page.wait_for_selector("body[data-ready=true]")
        table_is_filled(page)
        return page

    yield opened
    assert said == []
    assert [url for url in fetched if not url.startswith(("file:", "blob:", "data:"))] == []
    assert len([url for url in fetched if url.startswith("file:")]) == len(contexts)
    for context in contexts:
        context.close()


@pytest.fixture(scope="package")
def shapes():
    X, _ = make_shapes()
    return KFuse().fit(X), X


@pytest.fixture(scope="package")
def wine():
    X = load_wine(as_frame=True).data
    return KFuse().fit(scale(X)), X


@pytest.fixture(scope="package")
def towns():
    """A table with words, dates and gaps, of which two columns are clustered by."""
    X, y = make_blobs(400, 2, centers=5, cluster_std=0.4, random_state=0)
    table = pd.DataFrame(X, columns=["east", "north"]).assign(town=np.array(["A", "B", "C", "D", "<E>"])[y])
    table["when"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(y, "D")
    table.loc[::9, ["town", "north"]] = None
    return KFuse(5).fit(X), table
