"""The calibration: what it notes is what the fit decided by, and the page and its pictures are written."""

import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from kfuse.core.adaptive import n_clusters
from kfuse.core.result import Borders
from study.calibration import __main__ as calibration
from study.calibration import measure, tables
from study.structureless import FAMILIES, TUBES

ROOT = Path(__file__).parents[2]
NO_BORDERS = Borders(np.empty(0), np.empty(0, bool), np.empty(0), 2.0, 0, 0, np.empty(0), np.empty(0))
QUICK = ["--seeds", "1", "--seeds-of-two", "1", "--samples", "60", "--samples-of-two", "60"]


@pytest.mark.parametrize("kind", [*FAMILIES, *TUBES])
def test_families_have_the_shape_that_they_are_drawn_with(kind):
    family = (FAMILIES | TUBES)[kind]
    for n_features in family.dimensions:
        X = measure.draw(kind, family, n_features, 20, 0)
        assert X.shape == (20, n_features)
        assert np.isfinite(X).all()
        assert np.array_equal(X, measure.draw(kind, family, n_features, 20, 0))
        assert not np.array_equal(X, measure.draw(kind, family, n_features, 20, 1))


def test_the_number_is_what_the_signs_say():
    trials = [measure.measure("two", measure.two_gaussians(distance), 2, 200, 0) for distance in (0, 12)]
    assert [trial.found for trial in trials] == [1, 2]
    for trial in trials:
        assert trial.found == 1 + max(trial.borders.values())
    far = trials[1]
    assert far.borders["step"] == 1
    assert far.step > measure.least_step(far.dimension)


def test_the_largest_step_is_the_last_least_step_that_it_passes(monkeypatch):
    borders = measure.KFuse().fit(measure.draw("normal", FAMILIES["normal"], 1, 300, 0)).tree_.borders
    neutral = borders._replace(evidence=np.zeros_like(borders.evidence), dimension=1.0)
    step = measure.largest_step(borders)
    assert step > 0
    for least, passes in ((step, True), (step + 0.002, False)):
        monkeypatch.setattr(n_clusters, "STEP_IN_ONE_DIMENSION", least)
        assert bool(n_clusters.count_below_step(neutral)) == passes


def test_the_largest_allowance_is_that_of_the_weakest_small_part():
    """Below the line by 0.5 and 2.5 for one place, by 3 for four and by 5 for sixteen, which are not small."""
    places, below_line = np.array([1.0, 1.0, 4.0, 16.0]), np.array([0.5, 2.5, 1.5, 1.25])
    merges = SimpleNamespace(size=np.column_stack([places + 1, places]))
    call = measure.Call((merges,), np.exp(n_clusters.ALLOWANCE / np.sqrt(places) - below_line))
    assert measure.largest_allowance(call) == pytest.approx(3.0)
    assert measure.largest_allowance(measure.Call((SimpleNamespace(size=np.empty((0, 2))),), np.empty(0))) == 0.0


def test_watched_functions_are_put_back():
    before = n_clusters.count_clusters
    with measure.Recorder() as recorder:
        calls = recorder.watch(n_clusters, "count_clusters")
        assert n_clusters.count_clusters(NO_BORDERS) == 1
    assert calls == [((NO_BORDERS,), 1)]
    assert n_clusters.count_clusters is before


def test_page_and_pictures_are_written_and_read_again(tmp_path, capsys, monkeypatch):
    pytest.importorskip("matplotlib", reason="the pictures need matplotlib")
    few = {kind: FAMILIES[kind]._replace(dimensions=FAMILIES[kind].dimensions[:2]) for kind in ("uniform", "normal")}
    monkeypatch.setattr(measure, "FAMILIES", few)
    monkeypatch.setattr(calibration, "FAMILIES", few)
    out, measured = tmp_path / "page.md", tmp_path / "measured.json"
    calibration.main([*QUICK, "--measured", str(measured), "--out", str(out), "--pictures", str(tmp_path / "number")])
    assert {path.stem for path in (tmp_path / "number").glob("*.png")} == {"false_alarms", "power", "signs"}
    page = out.read_text("utf-8")
    assert "{" not in page
    assert page.count("\n| --- ") == 12
    capsys.readouterr()
    calibration.main(["--measured", str(measured)])
    assert capsys.readouterr().out.rstrip() == page.rstrip()


def test_the_committed_page_has_the_tables_of_the_script():
    page = (ROOT / "docs" / "calibration.md").read_text("utf-8")
    assert re.findall("^## .*$", page, re.MULTILINE) == re.findall("^## .*$", calibration.PAGE, re.MULTILINE)


def test_table_leaves_out_what_was_not_measured():
    assert tables.shown(float("nan")) == ""
    assert (
        tables.table(["a", "b"], [["1", tables.shown(tables.share([True, False]))]]).splitlines()[-1] == "| 1 | 0.50 |"
    )
