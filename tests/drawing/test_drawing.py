"""What plots, report and notebook share."""

import numpy as np
import pandas as pd
import pytest

from kfuse.description.columns import read
from kfuse.drawing import curve, palette
from kfuse.drawing.features import most_telling
from kfuse.wording import counted


def test_colours_and_markers_tell_the_first_clusters_apart():
    labels = np.arange(len(palette.COLOURS))
    markers = [palette.marker_of(label)[0] for label in labels]
    assert len(set(palette.colours_of(labels))) == len(labels)
    assert [list(palette.MARKERS)[number] for number in palette.marker_numbers(labels)] == markers
    assert len(set(markers)) == 3
    assert palette.colours_of([-1]) == palette.GREY


@pytest.mark.parametrize(("n_clusters", "ends"), [(1, (0, 0.1)), (2, (0.1, 0.4)), (3, (0.4, 1))])
def test_a_step_of_the_curve_joins_its_levels(n_clusters, ends):
    assert curve.step_at(np.array([0.1, 0.4]), n_clusters) == ends


def test_numbers_that_would_overlap_are_raised():
    assert curve.raised([(8, 0.5), (7, 0.5), (9, 0.5), (8, 0.51), (7, 0.2), (3, 0.5)], 32, 1.0) == [0, 1, 1, 2, 0, 0]


@pytest.mark.parametrize("dark", [False, True])
def test_colours_stand_out_from_the_background(dark):
    def luminance(colour):
        parts = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
        return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4) @ [0.2126, 0.7152, 0.0722]

    colours, background = (palette.DARK_COLOURS, "#1C1E21") if dark else (palette.COLOURS, "#FFFFFF")
    contrasts = [sorted([luminance(c) + 0.05, luminance(background) + 0.05]) for c in colours[:14]]
    assert min(high / low for low, high in contrasts) > 2
    assert len(set(colours)) == len(palette.COLOURS)


def test_the_most_telling_columns_come_first():
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1, -1], 50)
    noise, apart = rng.normal(size=150), labels + rng.normal(0, 0.1, 150)
    words = np.where(labels == 0, "a", "b")
    columns = read(pd.DataFrame({"n": noise, "a": apart, "one": 1.0, "w": words}))
    told = [column.name for column in most_telling(columns, labels, 9)]
    assert sorted(told) == ["a", "n", "w"]
    assert told[-1] == "n"
    assert most_telling(columns, labels, 1)[0].name == told[0]


@pytest.mark.parametrize(("count", "text"), [(0, "0 rows"), (1, "1 row"), (2000, "2,000 rows")])
def test_counted(count, text):
    assert counted(count, "row") == text
