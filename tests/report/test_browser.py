"""The report in a browser: opened from a file, without a network, used as a reader would."""

import csv
import itertools
import re

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from kfuse import KFuse
from kfuse.datasets import make_shapes
from kfuse.description import explain_number, sentences
from kfuse.drawing.palette import COLOURS
from tests.report.reading import colours_on_screen, downloaded, pixels_of, plain, slide_to

NASTY = "</script><script>document.title='broken'</script>, \"quoted\" & <b>é</b> $$x$$"


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
        heights.append(page.evaluate("kfuse.state().cutHeight"))
        assert page.inner_text("#why") == explain_number(model, number)
        assert plain(page.locator("#sentences .sentence").all_inner_texts()) == sentences(model, X, n_clusters=number)
    linkage = model.tree_.to_linkage()[:, 2]
    assert [int((linkage > height).sum()) + 1 for height in heights] == [3, 1, 9]


def test_the_table_has_medians_density_and_typical_rows(show, wine):
    model, X = wine
    ids = [f"wine {i}" for i in range(len(X))]
    page = show(model, X, ids=ids)
    slide_to(page, 5)
    labels = model.cut(5)
    head = page.locator("#table thead th").all_inner_texts()
    assert head[:4] == ["cluster", "rows", "density", "typical rows"]
    assert sorted(head[4:]) == sorted(X.columns)
    for label, row in enumerate(page.locator("#table tbody tr").all()):
        inside = labels == label
        cells = row.locator("td").all_inner_texts()
        median = np.median(model.density_[inside]) / np.median(model.density_)
        assert float(cells[1]) == pytest.approx(median, rel=0.006)
        densest = np.flatnonzero(inside)[np.argsort(-model.density_[inside], kind="stable")[:3]]
        assert cells[2] == ", ".join(ids[i] for i in densest)
        np.testing.assert_allclose([float(c) for c in cells[3:]], X[inside][head[4:]].median(), rtol=6e-4)


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
    names, values = (page.locator(f"#tip {kind}").all_inner_texts() for kind in ("dt", "dd"))
    shown = dict(zip(names, map(float, values), strict=True))
    np.testing.assert_allclose([shown["wide"], shown[NASTY]], X[row], rtol=1e-5)
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
    assert NASTY in page.locator("#table thead th").all_inner_texts()
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
    strokes = page.evaluate(
        "Array.from(document.querySelectorAll('#tree .branch'), path => path.getAttribute('stroke'))"
    )
    assert sorted(strokes) == sorted([*COLOURS[: model.n_clusters_], "#8C8C8C"])
    # The longest stem of the largest cluster ends where it merges with others: no other line crosses its middle.
    lines = [line for line in page.evaluate("kfuse.branchPlaces()") if line["label"] == 0]
    x0, y0, _, y1 = max((one["ends"] for one in lines if one["ends"][0] == one["ends"][2]), key=lambda e: e[1] - e[3])
    page.locator("#tree").scroll_into_view_if_needed()
    box = page.locator("#tree").bounding_box()
    page.mouse.click(box["x"] + x0, box["y"] + (y0 + y1) / 2)
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


def test_every_suggestion_is_written_on_the_curve(show):
    for model in (KFuse().fit(make_shapes(300)[0]), KFuse().fit(np.random.default_rng(0).normal(size=(300, 2)))):
        page = show(model)
        box = page.locator("#curve").bounding_box()
        texts = page.locator("#curve .suggestion")
        assert texts.all_text_contents() == [str(s.n_clusters) for s in model.tree_.suggest(3)]
        places = [text.bounding_box() for text in texts.all()]
        for place in places:
            assert box["x"] < place["x"] < place["x"] + place["width"] < box["x"] + box["width"]
            assert box["y"] <= place["y"] < place["y"] + place["height"] < box["y"] + box["height"]
        for one, other in itertools.combinations(places, 2):
            assert abs(one["x"] - other["x"]) > 7 or abs(one["y"] - other["y"]) > 9


def test_other_axes_can_be_chosen(show, wine):
    model, X = wine
    page = show(model, X)
    options = page.locator("#across option").all_inner_texts()
    assert options[:2] == ["principal component 1", "principal component 2"]
    assert sorted(options[2:]) == sorted([*X.columns, "density"])
    page.select_option("#across", label="alcohol")
    drawn = page.evaluate("Array.from(kfuse.shownAxes()[0].values)")
    np.testing.assert_allclose(drawn, X["alcohol"], rtol=1e-6)
    places = np.array([page.evaluate("i => kfuse.place(i)", i)[0] for i in range(20)])
    assert np.corrcoef(places, X["alcohol"][:20])[0, 1] > 0.9999


def test_slider_steps_leave_no_stray_pixels(show, shapes):
    model, X = shapes
    page = show(model, X)
    before = pixels_of(page)
    for number in (2, 20, 1, model.n_clusters_):
        slide_to(page, number)
    np.testing.assert_array_equal(pixels_of(page), before)


def test_every_sample_is_drawn_where_its_values_are(show, shapes):
    model, X = shapes
    page = show(model, X)
    pixels = pixels_of(page)
    for row in range(0, len(X), 50):
        x, y = page.evaluate("i => kfuse.place(i)", row)
        around = pixels[round(y) - 2 : round(y) + 3, round(x) - 2 : round(x) + 3]
        assert int(COLOURS[model.labels_[row]][1:], 16) in around or (around == 0x1A1A1A).any()  # or under a number


def test_categories_are_in_the_table_the_tip_and_the_colours(show, towns):
    model, table = towns
    page = show(model, table)
    head = page.locator("#table thead th").all_inner_texts()
    for label, row in enumerate(page.locator("#table tbody tr").all()):
        inside = table["town"][model.labels_ == label]
        cell = row.locator("td, th").nth(head.index("town")).inner_text()
        share = int(100 * inside.value_counts().max() / len(inside) + 0.5)
        assert cell.split("\n")[0] == f"{inside.mode()[0]} {share} %"
    page.select_option("#colour", label="town")
    legend = page.locator("#legend > span").all_text_contents()
    counts = [int(text.rsplit(" ", 1)[1]) for text in legend]
    assert sorted(counts) == sorted([*table["town"].value_counts(), table["town"].isna().sum()])
    assert legend[-1].startswith("other or missing ")
    assert colours_on_screen(page) == [0, 1, 2, 3, 4]
    page.select_option("#colour", label="when")
    assert page.locator("#legend").inner_text().split() == ["2024-01-01", "or", "less", "2024-01-05", "or", "more"]
    assert colours_on_screen(page) == []
    page.select_option("#colour", label="cluster")
    assert colours_on_screen(page) == [0, 1, 2, 3, 4]
    page.select_option("#up", label="north")
    assert f"{table['north'].isna().sum()} rows without a value on these axes are not drawn." in page.inner_text(
        "#selected"
    )


def test_many_clusters_have_their_numbers_on_the_plot(show):
    X, _ = make_blobs(1500, 2, centers=30, cluster_std=0.1, random_state=1)
    page = show(KFuse(30).fit(X), X)
    numbers = [int(text) for text in page.locator("#samples .numbers text").all_text_contents()]
    assert len(numbers) >= 25
    assert numbers == sorted(set(numbers))
    assert page.locator("#sentences li").count() == page.locator("#table tbody tr").count() == 30
