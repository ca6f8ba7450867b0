"""How sure borders are: what each sign says, and how it becomes a p-value."""

import numpy as np
import pytest

from kfuse.core.adaptive.n_clusters import count_below_step, steps
from kfuse.core.adaptive.p_values import persistence, support
from kfuse.core.adaptive.significance import LEVEL, NEEDED, p_values
from kfuse.core.result import Borders

USUAL = [1.6, 1.3, 1.1, 1.0, 0.9]


def borders_of(strength, evidence=None, openness=None, is_valley=None, dimension=2.0):
    """The borders of a tree with merges of these strengths, the last one highest."""
    n = len(strength)
    evidence = np.full(n, -np.inf) if evidence is None else np.array(evidence, dtype=float)
    openness = np.full(n, np.inf) if openness is None else np.array(openness, dtype=float)
    is_valley = np.ones(n, dtype=bool) if is_valley is None else np.array(is_valley)
    return Borders(np.array(strength, dtype=float), is_valley, evidence, dimension, 0, 0, openness, np.zeros(n))


def flat(n, **options):
    """Merges without any step."""
    return borders_of(np.ones(n), **options)


def test_without_a_sign_nothing_is_sure():
    seen = support(flat(4))
    assert (seen.p_value == 1).all()
    assert (seen.sign == "none").all()


def test_p_values_stay_between_almost_zero_and_one():
    found = p_values(np.array([-np.inf, -3.0, 0.0, NEEDED, 1e9, np.inf]))
    np.testing.assert_allclose(found[:4], [1, 1, 1, LEVEL])
    assert (found[4:] > 0).all()
    np.testing.assert_allclose(p_values(np.array([699.0, 700.0, 701.0])), np.exp([-699.0, -700.0, -700.0]))


def test_a_step_that_just_counts_has_the_level_as_its_p_value():
    least = 1.5 / 2.0**1.3
    just = borders_of([*USUAL, 0.9 * np.exp(-least)])
    assert support(just).p_value[-1] == pytest.approx(LEVEL)
    assert support(just).sign[-1] == "step"
    assert (support(just).p_value[:-1] > 0.4).all()


def test_a_number_that_a_step_supports_has_no_p_value_above_the_level():
    rng = np.random.default_rng(0)
    n_found = 0
    for _ in range(200):
        borders = borders_of(np.exp(np.append(rng.normal(0, 0.3, 9), rng.normal(-2, 1, 3))))
        count = count_below_step(borders)
        n_found += count > 0
        assert (support(borders).p_value[borders.strength.size - count :] <= LEVEL * (1 + 1e-12)).all()
    assert n_found > 100


def test_a_step_supports_all_merges_below_it_across_a_valley_and_no_others():
    borders = borders_of([*USUAL, 0.1, 0.1, 0.1], is_valley=[True] * 6 + [False, True])
    p_value = support(borders).p_value
    assert (p_value[[5, 7]] < 0.001).all()
    assert p_value[6] == 1


def test_however_high_a_step_is_its_p_value_is_that_of_ample_evidence():
    assert steps(borders_of([*USUAL, 1e-9])).evidence[0] > 3
    assert support(borders_of([*USUAL, 1e-9])).p_value[-1] == pytest.approx(LEVEL**3)


def test_evidence_of_peaks_is_minus_the_logarithm_of_the_p_value():
    seen = support(flat(3, evidence=[-np.inf, 0.5, 7.0]))
    np.testing.assert_allclose(seen.p_value, [1.0, np.exp(-0.5) / 2, np.exp(-7.0)])
    assert seen.sign.tolist() == ["none", "peaks", "peaks"]


def test_many_borders_with_some_evidence_are_sure_together():
    alone, together = support(flat(1, evidence=[1.0])), support(flat(20, evidence=[1.0] * 20))
    assert alone.p_value[0] == pytest.approx(np.exp(-1.0))
    np.testing.assert_allclose(together.p_value, np.exp(-1.0) / 20)
    assert (support(flat(500, evidence=[-NEEDED] * 500)).p_value == 1).all(), "raised to that value: no evidence"


def test_islands_have_the_level_at_their_limit_and_twice_the_limit_once_one_is_shown():
    np.testing.assert_allclose(support(flat(1, openness=[1.0])).p_value, [LEVEL])
    np.testing.assert_allclose(support(flat(2, openness=[np.inf, 0.5])).p_value, [1, LEVEL / 16])
    np.testing.assert_allclose(support(flat(3, openness=[2.0, 0.9, 0.5])).p_value, [LEVEL, LEVEL / 16, LEVEL / 16])
    np.testing.assert_allclose(support(flat(2, openness=[1.5, 1.1])).p_value, LEVEL * np.array([1.5, 1.1]) ** 4)
    assert support(flat(1, openness=[0.5])).sign[0] == "islands"


def test_the_sign_with_the_most_evidence_counts():
    seen = support(borders_of([*USUAL, 0.1], evidence=[-np.inf] * 5 + [20.0], openness=[np.inf] * 5 + [0.9]))
    assert seen.sign[-1] == "peaks"
    assert seen.p_value[-1] == pytest.approx(np.exp(-20.0))


def test_the_weakest_border_of_a_number_is_one_that_its_cut_undoes():
    seen = support(flat(4, evidence=[-np.inf, 9.0, 2.0, 5.0]))
    assert [seen.weakest(n) for n in (2, 3, 4, 5)] == [3, 2, 2, 0]
    of_numbers = seen.of_numbers()
    assert np.isnan(of_numbers[0])
    np.testing.assert_array_equal(of_numbers[1:], seen.p_value[[3, 2, 2, 0]])


def test_a_cluster_is_as_sure_as_its_least_sure_border():
    ends = np.array([[0, 0], [0, 1], [1, 2], [1, 3]])
    found = persistence(ends, np.array([0.1, 0.9, 0.5, 0.7]), 4)
    np.testing.assert_array_equal(found, [0.9, 0.5, 0.5, 0.7])


def test_one_cluster_has_no_border_to_doubt():
    np.testing.assert_array_equal(persistence(np.zeros((3, 2), dtype=int), np.zeros(3), 1), [1.0])


def test_between_parts_of_no_cluster_the_surest_border_counts():
    ends = np.array([[0, -1], [0, -1], [-1, 1], [-1, -1]])
    np.testing.assert_array_equal(persistence(ends, np.array([0.2, 0.8, 0.6, 0.0]), 2), [0.8, 0.6])
