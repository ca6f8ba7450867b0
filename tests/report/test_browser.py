"""The report in a browser: opened from a file, without a network, used as a reader would."""

import csv
import io
import os
import re
import shutil

import numpy as np
import pytest
from matplotlib.image import imread
from sklearn.datasets import load_wine
from sklearn.preprocessing import scale

from kfuse import KFuse
from kfuse.datasets import make_shapes
from kfuse.drawing.palette import COLOURS, PALETTE

pytest.importorskip("bokeh", reason="the report needs bokeh")
playwright = pytest.importorskip("playwright.sync_api", reason="the browser tests need playwright")

from kfuse import report  # noqa: E402

NASTY = "</script><script>document.title='broken'</script>, \"quoted\" & <b>é</b> $$x$$"


@pytest.fixture(scope="module")
def browser():
    names = ("chromium", "chromium-browser", "google-chrome")
    found = os.environ.get("KFUSE_CHROMIUM") or next(filter(None, map(shutil.which, names)), None)
    if found is None:
        pytest.skip("no Chromium on the PATH: install it, or name it in KFUSE_CHROMIUM")
    with playwright.sync_playwright() as running:
        # The software renderer draws the same on every machine; a container has no sandbox.
        flags = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
        chromium = running.chromium.launch(executable_path=found, args=flags)
        yield chromium
        chromium.close()


@pytest.fixture
def show(browser, tmp_path):
    """Open a report; at the end, nothing was complained about and nothing was fetched."""
    context = browser.new_context(viewport={"width": 1366, "height": 768}, offline=True)
    page = context.new_page()
    page.set_default_timeout(60_000)
    said, fetched = [], []
    page.on("console", lambda message: message.type in ("error", "warning") and said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: fetched.append(request.url))

    def opened(model, X=None, **options):
        path = report.write(model, X, tmp_path / "report.html", **options)
        page.goto(path.as_uri())
        page.wait_for_selector("body[data-ready=true]")
        table_is_filled(page)
        return page

    yield opened
    assert said == []
    assert [url for url in fetched if not url.startswith(("file:", "blob:", "data:"))] == []
    assert len([url for url in fetched if url.startswith("file:")]) == 1
    context.close()


def table_is_filled(page):
    page.wait_for_selector("#table[aria-busy=false]")


def slide_to(page, number):
    """Move the slider as a reader with a keyboard does."""
    slider = page.locator("#number")
    slider.focus()
    now = int(slider.input_value())
    for _ in range(abs(number - now)):
        slider.press("ArrowRight" if number > now else "ArrowLeft")
    page.wait_for_function("number => kfuse.state().asked === number", arg=number)
    table_is_filled(page)


def downloaded(page, tmp_path):
    with page.expect_download() as waiting:
        page.click("#download")
    path = tmp_path / waiting.value.suggested_filename
    waiting.value.save_as(path)
    return path


def colours_on_screen(page):
    """The colours of the palette that the samples' picture has on the screen, as many as a reader would notice."""
    page.mouse.move(0, 0)
    page.evaluate("scrollTo(0, 0)")  # the controls stay in sight, and would lie over the picture
    page.wait_for_timeout(300)
    picture = imread(io.BytesIO(page.locator("#samples").screenshot()))[..., :3]
    pixels = np.round(255 * picture).astype(int) @ [65536, 256, 1]
    return [place for place, colour in enumerate(COLOURS) if (pixels == int(colour[1:], 16)).sum() > 20]


@pytest.fixture(scope="module")
def shapes():
    X, _ = make_shapes()
    return KFuse().fit(X), X


@pytest.fixture(scope="module")
def wine():
    X = load_wine(as_frame=True).data
    return KFuse().fit(scale(X)), X


def duplicated():
    X = np.repeat(make_shapes(40)[0], 3, axis=0)
    return KFuse(n_clusters=30).fit(X)


MODELS = {
    "adaptive": lambda: KFuse().fit(make_shapes(700, noise=2)[0]),
    "printed": lambda: KFuse(3, fusion="paper").fit(make_shapes(300)[0]),
    "outliers": lambda: KFuse(outliers="label").fit(make_shapes(600, noise=2)[0]),
    "more clusters than leaves": duplicated,
    "ties": lambda: KFuse(4).fit(np.mgrid[:8, :8].reshape(2, -1).T.astype(float)),
    "one sample": lambda: KFuse(1).fit([[1.0, 2.0]]),
    "one column": lambda: KFuse(2).fit([[0.0], [0.1], [0.2], [5.0], [5.1]]),
}


@pytest.mark.parametrize("name", MODELS)
def test_every_cut_in_the_page_is_the_models(show, name):
    model = MODELS[name]()
    page = show(model, most_clusters=60)
    most = int(page.get_attribute("#number", "max"))
    assert most == min(60, model.tree_.most_clusters)
    for number in range(1, most + 1):
        labels = page.evaluate("number => Array.from(kfuse.cut(number).labels)", number)
        np.testing.assert_array_equal(labels, model.cut(number))


def test_opens_with_the_models_clusters(show, shapes):
    model, X = shapes
    page = show(model, X, names=["x", "y"], title="Shapes")
    assert page.title() == page.inner_text("h1") == "Shapes"
    assert page.inner_text("#count") == str(model.n_clusters_)
    assert colours_on_screen(page) == list(range(model.n_clusters_))


def test_the_slider_changes_colours_table_and_cut(show, shapes):
    model, X = shapes
    page = show(model, X)
    heights = []
    for number in (3, 1, 9):
        slide_to(page, number)
        sizes = np.bincount(model.tree_.cut(number))
        assert colours_on_screen(page) == list(range(number))
        cells = page.locator("#table tbody tr td:nth-child(2)").all_inner_texts()
        assert [int(re.match(r"[\d,]+", cell)[0].replace(",", "")) for cell in cells] == sizes.tolist()
        heights.append(
            page.evaluate("Bokeh.documents.map(d => d.get_model_by_name('cut')).find(m => m !== null).location")
        )
    linkage = model.tree_.to_linkage()[:, 2]
    assert [int((linkage > height).sum()) + 1 for height in heights] == [3, 1, 9]


def test_the_table_has_medians_density_and_typical_rows(show, wine):
    model, X = wine
    ids = [f"wine {i}" for i in range(len(X))]
    page = show(model, X, ids=ids)
    slide_to(page, 5)
    labels = model.cut(5)
    head = page.locator("#table thead th").all_inner_texts()
    assert head == ["cluster", "rows", "density", "typical rows", *X.columns]
    for label, row in enumerate(page.locator("#table tbody tr").all()):
        inside = labels == label
        cells = row.locator("td").all_inner_texts()
        median = np.median(model.density_[inside]) / np.median(model.density_)
        assert float(cells[1]) == pytest.approx(median, rel=0.006)
        densest = np.flatnonzero(inside)[np.argsort(-model.density_[inside], kind="stable")[:3]]
        assert cells[2] == ", ".join(ids[i] for i in densest)
        np.testing.assert_allclose([float(c) for c in cells[3:]], X[inside].median(), rtol=6e-4)


def test_hovering_shows_the_rows_values(show, shapes):
    model, X = shapes
    X = X * [1, 1000]
    page = show(model, X, names=["wide", NASTY])
    box = page.locator("#samples").bounding_box()
    steps = np.mgrid[0.1:0.9:40j, 0.1:0.9:40j].reshape(2, -1).T
    for across, up in steps:
        page.mouse.move(box["x"] + across * box["width"], box["y"] + up * box["height"])
        if page.locator("#tip").is_visible():
            break
    row = int(re.match(r"row (\d+)", page.inner_text("#tip .name"))[1])
    assert page.inner_text("#tip .name") == f"row {row} · cluster {model.labels_[row]}"
    assert page.locator("#tip dt").all_inner_texts()[:2] == ["wide", NASTY]
    values = [float(text) for text in page.locator("#tip dd").all_inner_texts()[:2]]
    np.testing.assert_allclose(values, X[row], rtol=1e-5)
    page.mouse.move(0, 0)
    page.wait_for_selector("#tip", state="hidden")


@pytest.mark.parametrize("number", [2, 7, 12])
def test_the_download_has_the_labels(show, shapes, tmp_path, number):
    model, X = shapes
    page = show(model, X)
    slide_to(page, number)
    path = downloaded(page, tmp_path)
    assert path.name == f"labels-{number}.csv"
    rows, labels = np.loadtxt(path, delimiter=",", skiprows=1, dtype=int).T
    np.testing.assert_array_equal(rows, np.arange(len(X)))
    np.testing.assert_array_equal(labels, model.tree_.cut(number))


def test_nasty_words_are_harmless_everywhere(show, wine, tmp_path):
    model, X = wine
    ids = [f"{NASTY}\n{i}" for i in range(len(X))]
    page = show(model, X.set_axis([NASTY, *X.columns[1:]], axis=1), ids=ids, title=NASTY)
    assert page.title() == page.inner_text("h1") == NASTY
    assert page.locator("#table thead th").nth(4).inner_text() == NASTY
    assert page.locator("#table b:not(.bar b)").count() == 0
    with downloaded(page, tmp_path).open(newline="", encoding="utf-8") as handle:
        table = list(csv.reader(handle))
    assert table == [["id", "label"], *([one, str(label)] for one, label in zip(ids, model.labels_, strict=True))]


def test_selects_a_cluster_and_shows_all_again(show, shapes):
    model, X = shapes
    page = show(model, X)
    page.locator("#table tbody tr").nth(3).click()
    assert page.inner_text("#selected") == f"Cluster 3: {(model.labels_ == 3).sum()} rows"
    assert colours_on_screen(page) == [3]
    page.click("#all")
    assert colours_on_screen(page) == list(range(model.n_clusters_))


def test_the_tree_is_coloured_and_selects_branches(show, shapes):
    model, X = shapes
    page = show(model, X)
    lines = page.evaluate("Bokeh.documents.map(d => d.get_model_by_name('tree source')).find(m => m !== null).data")
    assert set(lines["colour"]) == {*PALETTE, "#8C8C8C"}
    # The stem of the largest cluster ends where it merges with others: no other line crosses its middle.
    longest = max(
        (i for i in range(len(lines["node"])) if lines["colour"][i] == PALETTE[0] and lines["x0"][i] == lines["x1"][i]),
        key=lambda i: lines["y1"][i] - lines["y0"][i],
    )
    middle = (lines["y0"][longest] + lines["y1"][longest]) / 2
    page.evaluate("place => kfuse.tapTree(place)", {"x": lines["x0"][longest], "y": middle})
    assert page.inner_text("#selected") == f"Branch: {(model.labels_ == 0).sum()} rows"
    assert colours_on_screen(page) == [0]


def test_suggestions_and_clicks_on_the_curve_set_the_number(show, shapes):
    model, X = shapes
    page = show(model, X)
    buttons = page.locator("#suggested button").all_inner_texts()
    assert [int(text) for text in buttons] == [s.n_clusters for s in model.tree_.suggest(3)]
    page.locator("#suggested button").nth(1).click()
    assert page.inner_text("#count") == buttons[1]
    box = page.locator("#curve").bounding_box()
    page.mouse.click(box["x"] + 0.9 * box["width"], box["y"] + 0.5 * box["height"])
    page.wait_for_function("Number(document.getElementById('count').textContent) > 15")
    page.click("#fewer")
    assert page.inner_text("#count") == str(int(page.input_value("#number")))


def test_other_axes_can_be_chosen(show, wine):
    model, X = wine
    page = show(model, X)
    options = page.locator("#across option").all_inner_texts()
    assert options == ["principal component 1", "principal component 2", *X.columns, "density"]
    page.select_option("#across", label="alcohol")
    drawn = page.evaluate(
        "Array.from(Bokeh.documents.map(d => d.get_model_by_name('samples source')).find(m => m !== null).data.x)"
    )
    np.testing.assert_allclose(drawn, X["alcohol"], rtol=1e-6)
