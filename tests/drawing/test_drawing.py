"""What plots, report and notebook share."""

import subprocess
import sys

import numpy as np
import pytest

from kfuse.drawing import curve, palette
from kfuse.wording import counted


def test_no_plotting_library_is_imported():
    code = (
        "import sys, kfuse.drawing.curve, kfuse.drawing.features, kfuse.drawing.layout, kfuse.drawing.palette, "
        "kfuse.drawing.points; print({'bokeh', 'matplotlib', 'numba'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


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


def test_numbers_that_would_overlap_are_dropped():
    assert curve.readable([8, 7, 3], 32) == [8, 3]


@pytest.mark.parametrize(("count", "text"), [(0, "0 rows"), (1, "1 row"), (2000, "2,000 rows")])
def test_counted(count, text):
    assert counted(count, "row") == text
