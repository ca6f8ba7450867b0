"""The number of clusters: found where there are clusters, one where there are none."""

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_circles, make_moons

from kfuse import KFuse
from kfuse.core.adaptive.fusion import Merges
from kfuse.core.adaptive.n_clusters import (
    _evidence,
    _median_line,
    count_below_step,
    count_clusters,
    is_valley,
    shown,
    strengths,
    suggest,
)
from kfuse.core.adaptive.p_values import support
from kfuse.core.adaptive.significance import LEVEL
from kfuse.core.result import Borders


def borders_of(strength, dimension=2.0, evidence=None, is_valley=None, n_peaks=0, n_islands=0, separation=None):
    """Borders in the tree's order, the highest last; all are across a valley unless said otherwise."""
    n = len(strength)
    seen = Borders(
        strength=np.array(strength, dtype=float),
        is_valley=np.ones(n, dtype=bool) if is_valley is None else np.array(is_valley),
        evidence=np.full(n, -np.inf) if evidence is None else np.array(evidence, dtype=float),
        dimension=dimension,
        n_peaks=n_peaks,
        n_islands=n_islands,
        openness=np.full(n, np.inf),
        separation=np.zeros(n) if separation is None else np.array(separation, dtype=float),
    )
    return seen._replace(n_steps=count_below_step(seen))


def suggestions(ascending, n, **options):
    """The suggestions of a tree of a hundred samples whose weakest merges are the highest."""
    return ranked(borders_of(ascending[::-1], **options), n)


def ranked(borders, n):
    return suggest(borders, support(borders).of_numbers(), n_samples=100, n=n)


def found(strength, **options):
    return count_clusters(borders_of(strength, **options))


@pytest.mark.large
@pytest.mark.parametrize("n_features", [2, 5, 20])
@pytest.mark.parametrize("n_samples", [200, 1000])
@pytest.mark.parametrize("kind", ["uniform", "normal"])
def test_one_cluster_where_there_is_no_structure(kind, n_samples, n_features):
    found = [
        KFuse().fit(getattr(np.random.default_rng(seed), kind)(size=(n_samples, n_features))).n_clusters_
        for seed in range(20)
    ]
    assert found.count(1) >= 18, found


def separated_gaussians(n_clusters, n_features, seed):
    rng = np.random.default_rng(seed)
    centres = []
    while len(centres) < n_clusters:
        centre = rng.uniform(0, 15 * n_clusters ** (1 / n_features), n_features)
        if all(np.linalg.norm(centre - other) > 8 for other in centres):
            centres.append(centre)
    sizes = rng.integers(50, 200, n_clusters)
    return np.repeat(centres, sizes, axis=0) + rng.standard_normal((sizes.sum(), n_features))


@pytest.mark.large
@pytest.mark.parametrize("n_features", [2, 5])
def test_separated_gaussians_are_counted(n_features):
    cases = [(k, seed) for k in range(2, 16) for seed in range(3)]
    wrong = [(k, seed) for k, seed in cases if KFuse().fit(separated_gaussians(k, n_features, seed)).n_clusters_ != k]
    assert len(wrong) <= 0.05 * len(cases), wrong


def test_suggestions_rank_the_chosen_number_first():
    model = KFuse().fit(load_iris().data)
    ranked = model.tree_.suggest(4)
    assert len(ranked) == 4
    assert ranked[0].n_clusters == model.n_clusters_ == 2
    assert ranked[1].n_clusters == 3
    contrasts = [suggestion.contrast for suggestion in ranked[1:]]
    assert contrasts == sorted(contrasts, reverse=True)
    assert all(0 <= s.strongest_border <= s.weakest_inside and 0 <= s.contrast <= 1 for s in ranked)


def test_a_clear_gap_decides():
    strength = np.array([0.01, 0.02, 0.9, 0.95, 1.0, 1.1, 1.3])
    best = suggestions(strength, n=1)[0]
    assert best.n_clusters == 3
    assert best.contrast == pytest.approx(0.9 / 1.9 - 0.02 / 1.02)
    assert (best.strongest_border, best.weakest_inside) == (0.02, 0.9)


def test_without_a_step_there_is_one_cluster():
    assert found([1.1, 1.0, 0.95, 0.9, 0.85, 0.8, 0.75, 0.7, 0.65, 0.6, 0.55, 0.5, 0.45, 0.4]) == 1


def test_the_fewer_borders_the_higher_the_step_must_be():
    inside = [1.6, 1.3, 1.1, 1.0, 0.9]
    assert found([*inside, 0.6]) == 1
    assert found([*inside, 0.6, 0.58, 0.56]) == 4


def test_the_fewer_dimensions_the_higher_the_step_must_be():
    strength = [1.6, 1.3, 1.1, 1.0, 0.9, 0.4]
    assert [found(strength, dimension=m) for m in (0.5, 1.0, 2.0, 5.0)] == [1, 1, 2, 2]


def test_peaks_on_both_sides_count_towards_a_step_and_their_lack_against_it():
    low, high = [1.6, 1.3, 1.1, 1.0, 0.9, 0.7], [1.6, 1.3, 1.1, 1.0, 0.9, 0.4]
    untested = [-np.inf] * 5
    assert [found(low, evidence=[*untested, e]) for e in (-np.inf, 0.0, 2.5)] == [1, 1, 2]
    assert [found(high, evidence=[*untested, e]) for e in (-np.inf, 0.0, -2.5)] == [2, 2, 1]


def test_the_border_with_the_least_evidence_decides():
    strength = [1.6, 1.3, 1.1, 1.0, 0.9, 0.7, 0.7]
    assert found(strength, evidence=[-np.inf] * 5 + [2.5, 2.5]) == 3
    assert found(strength, evidence=[-np.inf] * 5 + [2.5, -3.0]) == 1


def test_borders_that_peaks_show_do_not_speak_for_one_that_they_deny():
    """Beside four borders with peaks on both sides, a patch of noise is judged as if it were the only border."""
    strength = [1.6, 1.3, 1.1, 1.0, 0.9, 0.3, 0.05, 0.05, 0.05, 0.05]
    untested = [-np.inf] * 5
    assert found(strength, evidence=[*untested, -3.0, 60.0, 60.0, 60.0, 60.0]) == 5
    assert found(strength, evidence=[*untested, -3.0, 0.0, 0.0, 0.0, 0.0]) == 6


def test_a_side_as_sparse_as_the_border_has_no_border():
    strength = [1.6, 1.3, 1.1, 1.0, 0.9, 0.1, 0.1]
    assert found(strength) == 3
    assert found(strength, is_valley=[True] * 5 + [False, True]) == 2
    assert found(strength, is_valley=[False] * 6 + [True]) == 1


def test_the_largest_number_that_a_sign_supports_is_found():
    strength = [1.6, 1.3, 1.1, 1.0, 0.9, 0.1, 0.1]
    assert [found(strength, n_peaks=n) for n in (0, 1, 2, 3)] == [3, 3, 3, 4]
    assert [found(strength, n_islands=n) for n in (0, 2, 4)] == [3, 3, 5]
    assert found(strength, n_peaks=99) == 8


def test_steps_above_the_usual_strength_do_not_count():
    assert found([9.0, 3.0, 1.1, 1.0]) == 1
    assert found([99.0, 1.1, 1.05, 1.0, 0.9]) == 1


def test_a_number_is_judged_by_the_merges_that_its_cut_undoes():
    """The two weakest merges are not the two highest: the cut into three undoes one of usual strength."""
    evidence = {s.n_clusters: s for s in ranked(borders_of([1.0, 1.1, 0.1, 1.2, 1.0, 0.1]), 50)}
    assert (evidence[3].strongest_border, evidence[3].weakest_inside, evidence[3].contrast) == (1.0, 0.1, 0.0)
    assert (evidence[2].strongest_border, evidence[2].weakest_inside, evidence[2].contrast) == (0.1, 0.1, 0.0)
    assert next(iter(evidence)) == 1


def test_more_clusters_than_the_root_of_the_samples_can_be_found():
    assert suggestions([0.1] * 20 + [1.0] * 5, n=1)[0].n_clusters == 21
    assert suggestions([2.0] * 25, n=1, n_islands=20)[0].n_clusters == 21


def test_alternatives_leave_a_fusion_inside():
    strength = np.array([0.1] * 20 + [1.0] * 5)
    numbers = [s.n_clusters for s in suggestions(strength, n=50)]
    assert sorted(numbers) == list(range(2, 22))


@pytest.mark.parametrize(
    ("strength", "most"),
    [
        ([2.0] * 30, 10),  # the root of the samples
        ([2.0] * 5, 5),  # as many as leave a fusion inside
        ([0.9] * 13 + [1.0] * 5, 14),  # one more than the weak fusions
    ],
)
def test_alternatives_go_as_far_as_they_may(strength, most):
    numbers = [s.n_clusters for s in suggestions(strength, n=50)]
    assert numbers[0] == 1
    assert sorted(numbers) == list(range(1, most + 1))


def test_suggestions_say_what_is_at_their_border():
    strength = np.linspace(1, 2, 9)
    found = {s.n_clusters: (s.strongest_border, s.weakest_inside) for s in suggestions(strength, n=50)}
    assert found == {1: (0, 1)} | {n: (strength[n - 2], strength[n - 1]) for n in range(2, 10)}


def test_fewer_clusters_than_found_are_ranked_by_the_step_of_separation():
    """Five are found; separation falls by 1.5 behind two clusters, by 8 behind three and by 2 behind four."""
    borders = borders_of([1.0, 1.0, 0.2, 0.3, 0.1, 0.4], n_peaks=4, separation=[0, 0, 1, 2, 16, 24])
    certain = np.append(np.nan, np.array([1e-9, 1e-9, 1e-9, 1e-9, 0.9, 1.0]))
    ranked = [one.n_clusters for one in suggest(borders, certain, n_samples=100, n=10)]
    assert ranked[:4] == [5, 3, 4, 2]
    doubtful = np.append(np.nan, np.array([1e-9, 0.9, 0.9, 0.9, 0.9, 1.0]))
    assert [one.n_clusters for one in suggest(borders, doubtful, n_samples=100, n=10)][:2] == [5, 2]


def equal_merges(log_index, log_weight, sizes):
    """Merges of two parts of the same size."""
    nothing = np.zeros(sizes.size)
    pairs = np.column_stack([sizes, sizes]).astype(float)
    return Merges(log_index, log_index, log_weight, nothing, pairs, np.zeros_like(pairs), np.zeros_like(pairs))


def test_strength_is_one_on_the_median_line_but_for_the_allowance():
    sizes = np.array([4, 16, 64, 256, 1024] * 5)
    log_weight = 0.5 * np.log(sizes)  # as long as the side of a square
    log_index = log_weight + 3 - 1.5 * np.log(sizes)
    found = strengths(equal_merges(log_index, log_weight, sizes))
    np.testing.assert_allclose(found, np.exp(4 / np.sqrt(sizes)))


def test_half_the_density_counts_as_much_as_a_quarter_of_the_links():
    sizes = np.full(9, 100)
    log_weight, valley = np.zeros(9), np.zeros(9)
    log_weight[0], valley[1] = np.log(0.25), np.log(0.5)
    found = strengths(equal_merges(log_weight + valley - 1.5 * np.log(sizes), log_weight, sizes))
    assert found[0] == pytest.approx(found[1])
    assert found[0] == pytest.approx(found[2] / 2)


@pytest.mark.large
@pytest.mark.parametrize("n_samples", [300, 1000, 3000])
@pytest.mark.parametrize("noise", [0.03, 0.06])
@pytest.mark.parametrize("shape", [make_moons, make_circles])
def test_thin_clusters_are_not_cut_up(shape, noise, n_samples):
    options = {"factor": 0.5} if shape is make_circles else {}
    found = [
        KFuse().fit(shape(n_samples, noise=noise, random_state=seed, **options)[0]).n_clusters_ for seed in range(5)
    ]
    assert found == [2] * 5


def test_one_sample_is_one_cluster():
    model = KFuse().fit([[1.0, 2.0]])
    assert model.n_clusters_ == 1
    (only,) = model.tree_.suggest()
    assert only[:4] == (1, 1.0, 0.0, np.inf)
    assert np.isnan(only.p_value)
    assert only[5:] == ("none", None, None)


def test_the_printed_algorithm_suggests_nothing():
    tree = KFuse(2, fusion="paper").fit(load_iris().data).tree_
    with pytest.raises(ValueError, match="use fusion='adaptive'"):
        tree.suggest()


def test_outliers_are_no_side_of_a_valley():
    """A pair of samples, and a part as sparse as the border but for rounding."""
    sizes = np.array([[50.0, 2.0], [50.0, 40.0], [50.0, 40.0], [4.0, 50.0]])
    density = np.array([[0.0, 3.0], [0.0, -1.0 + 1e-12], [0.0, -0.9], [0.0, 3.0]])
    column = np.zeros(4)
    merges = Merges(column, column, column, np.full(4, -1.0), sizes, density, np.zeros((4, 2)))
    np.testing.assert_array_equal(is_valley(merges), [False, False, True, True])


def test_one_far_row_or_pair_leaves_the_number():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2)) + np.repeat([[0, 0], [9, 0], [0, 9]], 100, axis=0)
    assert KFuse().fit(X).n_clusters_ == 3
    for far in ([[1e6, 0]], [[1e6, 0], [1e6, 1]], [[1e6, 0], [-1e6, 3]]):
        model = KFuse().fit(np.vstack([X, far]))
        assert model.n_clusters_ == 3
        assert np.bincount(model.labels_).min() >= 90


def test_alternatives_go_by_their_step_as_far_as_it_is_certain_then_by_contrast():
    """Steps of 4, 2, 1 and 0.5 between strengths: the largest is not certain at all, the next one partly."""
    strength = np.exp([-7.0, -3.0, -1.0, 0.0, 0.5])
    seen = borders_of(strength[::-1], is_valley=[False] * 5)
    p_value = np.array([np.nan, 1.0, LEVEL**0.6, LEVEL**5, LEVEL])
    assert [one.n_clusters for one in suggest(seen, p_value, n_samples=36, n=9)] == [1, 3, 4, 5, 2]
    lesser = np.array([np.nan, 1.0, LEVEL**0.4, LEVEL**5, LEVEL])
    assert [one.n_clusters for one in suggest(seen, lesser, n_samples=36, n=9)] == [1, 4, 3, 5, 2]
    unsure = np.array([np.nan, 1.0, 1.0, 1.0, 1.0])
    contrasts = {one.n_clusters: one.contrast for one in suggest(seen, unsure, n_samples=36, n=9)}
    assert list(contrasts) == [1, *sorted((2, 3, 4, 5), key=lambda number: -contrasts[number])]


def test_contrast_is_the_difference_of_shares():
    for strengths_of, expected in (((1.0, 0.25), 0.5 - 0.2), ((0.25, 1.0), 0.0), ((np.inf, 3.0), 1.0 - 0.75)):
        inside, border = strengths_of
        assert _evidence(4, border, inside) == (4, pytest.approx(expected), border, inside)


def test_the_median_line_is_the_best_of_21_slopes_up_to_one_half():
    rng = np.random.default_rng(0)
    for slope in (-0.3, 0.0, 0.26, 0.5, 0.9):
        x = rng.random(31) * 9
        y = slope * x + 2.0 + rng.normal(0, 0.1, 31)
        lines = [one * x + np.median(y - one * x) for one in np.arange(21) / 40]
        expected = lines[int(np.argmin([np.abs(y - line).sum() for line in lines]))]
        np.testing.assert_allclose(_median_line(x, y), expected)


def test_strengths_are_numbers_however_extreme():
    sizes = np.full(5, 100)
    found = strengths(equal_merges(np.array([0.0, 0.0, 0.0, 1e4, -1e4]), np.zeros(5), sizes))
    np.testing.assert_allclose(found[[0, 3, 4]], np.exp([0.4, 500.0, -500.0]))
    assert strengths(equal_merges(np.empty(0), np.empty(0), np.empty(0, dtype=int))).size == 0


def test_the_borders_below_a_step_are_those_across_a_valley():
    """Two merges across a valley are below the step; the highest of all is no valley, so it is not one of them."""
    borders = borders_of([1.0, 1.0, 0.1, 1.0, 0.1, 1.0], is_valley=[True, True, True, False, True, False])
    assert shown(borders).tolist() == [False, False, True, False, True, False]


def test_the_borders_of_peaks_and_islands_are_the_highest_merges():
    borders = borders_of([1.0, 1.0, 0.1, 1.0], is_valley=[True, True, True, False])
    assert borders.n_steps == 1
    for signs in ({"n_peaks": 2}, {"n_islands": 2}):
        assert shown(borders._replace(**signs)).tolist() == [False, False, True, True]


def test_no_border_is_shown_if_none_is_counted():
    for n_merges in (0, 3):
        assert not shown(borders_of([1.0] * n_merges)).any()
