"""Ways to use the report other than the mouse on a desk, and what is beyond single clicks: drags, keys, a phone."""

import re

import numpy as np
import pandas as pd

from kfuse.drawing.palette import DARK_COLOURS
from tests.report.reading import colours_on_screen

PHONE = {"viewport": {"width": 390, "height": 844}, "device_scale_factor": 2, "is_mobile": True, "has_touch": True}


def test_the_tip_shows_words_dates_and_gaps(show, towns):
    model, table = towns
    page = show(model, table)
    box = page.locator("#samples").bounding_box()
    for row in (0, 1):
        x, y = page.evaluate("i => kfuse.place(i)", row)
        page.mouse.move(box["x"] + x, box["y"] + y)
        page.wait_for_selector("#tip")
        found = int(re.match(r"row (\d+)", page.inner_text("#tip .name"))[1])
        names, values = (page.locator(f"#tip {kind}").all_inner_texts() for kind in ("dt", "dd"))
        shown = dict(zip(names, values, strict=True))
        expected = table.loc[found]
        assert shown["when"] == str(expected["when"].date())
        assert shown["town"] == ("missing" if pd.isna(expected["town"]) else expected["town"])
        assert (shown["north"] == "missing") == bool(pd.isna(expected["north"]))


def test_the_lasso_selects_what_it_surrounds(show, shapes, tmp_path):
    model, X = shapes
    page = show(model, X)
    places = np.array([page.evaluate("i => kfuse.place(i)", int(i)) for i in range(len(X))])
    box = page.locator("#samples").bounding_box()
    low, high = np.quantile(places, 0.3, axis=0), np.quantile(places, 0.7, axis=0)
    page.click("#lasso")
    corners = [(low[0], low[1]), (high[0], low[1]), (high[0], high[1]), (low[0], high[1])]
    page.mouse.move(box["x"] + corners[0][0], box["y"] + corners[0][1])
    page.mouse.down()
    for x, y in corners[1:]:
        page.mouse.move(box["x"] + x, box["y"] + y, steps=4)
    page.mouse.up()
    inside = ((places > low) & (places < high)).all(axis=1)
    assert inside.sum() > 20
    assert page.inner_text("#selected").startswith(f"Lasso: {inside.sum()} rows, ")
    with page.expect_download() as waiting:
        page.click("#rows")
    waiting.value.save_as(tmp_path / "rows.csv")
    rows, labels = np.loadtxt(tmp_path / "rows.csv", delimiter=",", skiprows=1, dtype=int).T
    np.testing.assert_array_equal(rows, np.flatnonzero(inside))
    np.testing.assert_array_equal(labels, model.labels_[inside])


def test_the_keyboard_is_enough(show, shapes):
    model, X = shapes
    page = show(model, X)
    page.locator("#sentences button").nth(1).focus()
    page.keyboard.press("Enter")
    assert page.inner_text("#selected") == f"Cluster 1: {(model.labels_ == 1).sum()} rows"
    page.keyboard.press("Escape")
    assert colours_on_screen(page) == list(range(model.n_clusters_))
    before = page.evaluate("[kfuse.place(0), kfuse.place(1)]")
    page.locator("#samples").focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("x => kfuse.place(0)[0] < x - 39", arg=before[0][0])
    page.keyboard.press("+")
    apart = abs(before[1][0] - before[0][0])
    page.wait_for_function("apart => Math.abs(kfuse.place(1)[0] - kfuse.place(0)[0]) > 1.2 * apart", arg=apart)
    page.keyboard.press("0")
    np.testing.assert_allclose(page.evaluate("[kfuse.place(0), kfuse.place(1)]"), before)


def test_dragging_and_scrolling_move_and_zoom(show, shapes):
    model, X = shapes
    page = show(model, X)
    box = page.locator("#samples").bounding_box()
    x, y = page.evaluate("kfuse.place(0)")
    page.mouse.move(box["x"] + 300, box["y"] + 200)
    page.mouse.down()
    page.mouse.move(box["x"] + 350, box["y"] + 230, steps=5)
    page.mouse.up()
    page.wait_for_function(
        "p => Math.hypot(kfuse.place(0)[0] - p[0] - 50, kfuse.place(0)[1] - p[1] - 30) < 4", arg=[x, y]
    )
    page.mouse.wheel(0, -400)
    page.wait_for_function("x => Math.abs(kfuse.place(0)[0] - x) > 5", arg=x + 50)
    page.click("#reset")
    np.testing.assert_allclose(page.evaluate("kfuse.place(0)"), [x, y])


def test_dark_follows_the_reader_and_the_button(show, shapes):
    model, X = shapes
    page = show(model, X, device={"color_scheme": "dark"})
    assert colours_on_screen(page, DARK_COLOURS) == list(range(model.n_clusters_))
    background = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    assert max(map(int, re.findall(r"\d+", background))) < 60
    page.click("#theme")
    assert colours_on_screen(page) == list(range(model.n_clusters_))


def test_a_phone_shows_everything_without_sideways_scrolling(show, towns):
    model, table = towns
    page = show(model, table, device=PHONE)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    for part in ("#number", "#why", "#samples canvas", "#sentences", "#tree", "#curve", "#table"):
        box = page.locator(part).bounding_box()
        assert box["width"] > 100
        assert box["x"] >= 0
    place = page.evaluate("kfuse.place(0)")
    page.locator("#samples").scroll_into_view_if_needed()
    box = page.locator("#samples").bounding_box()
    page.touchscreen.tap(box["x"] + place[0], box["y"] + place[1])
    page.wait_for_selector("#tip")
    assert page.inner_text("#selected").startswith("Cluster ")
