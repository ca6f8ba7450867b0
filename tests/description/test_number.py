"""Why this number of clusters: the figures of the sentence are those of the tree."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.datasets import make_moons
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kfuse import KFuse
from kfuse.datasets import make_shapes
from kfuse.description import explain_number
from kfuse.description.number import SEEN_AS, clarity, hedge, p_values_of
from kfuse.suggestion import written


@pytest.fixture(scope="module")
def shapes():
    return KFuse().fit(make_shapes(400)[0])


def test_the_suggested_number_has_its_evidence(shapes):
    best, other = shapes.tree_.suggest(2)
    words = explain_number(shapes)
    assert words.startswith(
        f"{best.n_clusters} clusters with {clarity(best.p_value)} borders (p {written(best.p_value)}): "
    )
    larger, smaller = best.weakest_border
    assert f"the weakest, between {larger} and {smaller} samples, shows as {SEEN_AS[best.sign]}." in words
    assert f" Next best: {other.n_clusters} clusters (" in words


@pytest.mark.parametrize("number", [1, 2, 3, 20, 300])
def test_any_other_number_has_its_p_value(shapes, number):
    words = explain_number(shapes, number)
    best, p_values = shapes.tree_.suggest(1)[0], p_values_of(shapes.tree_)
    p_value = p_values[min(number, p_values.size) - 1]
    how = (
        ""
        if number == 1
        else " (its weakest border is not significant)"
        if p_value == 1
        else f" (p {written(p_value)})"
    )
    noun = "cluster" if number == 1 else "clusters"
    suggested = f"{best.n_clusters} (p {written(best.p_value)})"
    assert words == f"{number} {noun}{how}: by itself, the data suggests {suggested}."


@pytest.mark.parametrize(
    ("p_value", "word", "text"),
    [(1e-12, "clear", "< 1e-09"), (0.01, "fairly clear", "= 0.01"), (0.02, "faint", "= 0.02")],
)
def test_how_sure(shapes, monkeypatch, p_value, word, text):
    best = shapes.tree_.suggest(1)[0]._replace(p_value=p_value)
    monkeypatch.setattr(type(shapes.tree_), "suggest", lambda *_: [best])
    assert f" with {word} borders (p {text}): " in explain_number(shapes)


def with_p_values(n_clusters, p_values):
    """A tree whose merges have these p-values, the highest first."""
    merges = np.array(p_values[::-1])
    p_value = np.nan if n_clusters == 1 else max(p_values[: n_clusters - 1])
    return SimpleNamespace(p_value=merges, suggest=lambda _: [SimpleNamespace(n_clusters=n_clusters, p_value=p_value)])


@pytest.mark.parametrize(
    ("n_clusters", "p_values", "words"),
    [
        (2, [0.03, 1.0], "2, but 1 is nearly as likely"),
        (2, [0.01, 1.0], ""),
        (2, [0.01], ""),
        (5, [1e-9, 1e-9, 0.001, 0.04, 0.5], "5, but 4 is nearly as likely"),
        (3, [1e-9, 1.0, 1.0], "3, but 2 is the largest number with clear borders"),
        (3, [0.02, 0.06, 1.0], "3, but 1 is at least as likely"),
        (1, [0.2, 0.2], "1, but 2 is nearly as likely"),
        (1, [0.3, 1.0], ""),
        (3, [1e-9, 1e-9, 0.1, 0.1], "4 is possible as well (p = 0.1)"),
        (5, [1e-9] * 19 + [0.04, 1.0], "21 is supported as well (p = 0.04)"),
        (1, [0.04, 1.0], "1, but 2 is supported as well (p = 0.04)"),
    ],
)
def test_where_the_evidence_is_thin_the_words_say_so(n_clusters, p_values, words):
    assert hedge(with_p_values(n_clusters, p_values)) == words


def test_thin_evidence_is_found_in_data():
    """Between the numbers of samples at which two Gaussians are one cluster, and two for sure, both are likely."""
    rng = np.random.default_rng(0)
    said = set()
    for n_samples in (100, 200, 400, 800, 3000):
        X = rng.normal(size=(n_samples, 2)) + np.repeat([[0, 0], [3.7, 0]], n_samples // 2, axis=0)
        said.add(hedge(KFuse().fit(X).tree_))
    assert said & {"2, but 1 is nearly as likely", "1, but 2 is nearly as likely"}
    assert hedge(KFuse().fit(X).tree_) == ""


def test_one_cluster_has_no_border():
    model = make_pipeline(StandardScaler(), KFuse()).fit(np.random.default_rng(0).normal(size=(200, 2)))
    assert model[-1].n_clusters_ == 1
    assert explain_number(model).startswith("1 cluster: no border in the data is clearer than chance would make it.")
    assert ": one cluster is suggested, since no border is clear." in explain_number(model, 3)


def test_the_printed_algorithm_judges_nothing():
    X, _ = make_moons(100, noise=0.05, random_state=0)
    words = explain_number(KFuse(2, fusion="paper").fit(X))
    assert words == "2 clusters, as requested: the printed algorithm does not judge numbers of clusters."


class TestRange:
    """A range may exclude the number that the data suggests; then the words say so."""

    X = make_shapes(400)[0]

    def explained(self, least, most):
        model = KFuse((least, most)).fit(self.X)
        return model, explain_number(model)

    @pytest.mark.parametrize(
        ("least", "most", "number", "limit"),
        [
            (2, 4, 3, "the best of the 2 to 4 that were allowed"),
            (3, 3, 3, "the most that was allowed"),
            (12, 12, 12, "the fewest that were allowed"),
            (150, 200, 150, "the fewest that were allowed"),
        ],
    )
    def test_the_limit_is_named(self, shapes, least, most, number, limit):
        model, words = self.explained(least, most)
        best, p_values = shapes.tree_.suggest(1)[0], p_values_of(shapes.tree_)
        p_value = p_values[min(number, p_values.size) - 1]
        how = "its weakest border is not significant" if p_value == 1 else f"p {written(p_value)}"
        assert model.n_clusters_ == number
        assert words == (
            f"{number} clusters ({how}), {limit}: by itself, the data suggests {best.n_clusters} "
            f"(p {written(best.p_value)})."
        )

    def test_the_best_within_the_range(self, shapes):
        model = KFuse((2, 7)).fit(self.X).at(5)
        model.n_clusters = (2, 7)  # as if five had the largest contrast
        assert ", the best of the 2 to 7 that were allowed: by itself, " in explain_number(model)

    def test_one_cluster_is_suggested(self):
        X = np.random.default_rng(0).normal(size=(200, 2))
        assert explain_number(KFuse((3, 3)).fit(X)).endswith(
            ", the fewest that were allowed: by itself, the data suggests 1."
        )

    def test_the_suggested_number_in_the_range_needs_no_word(self, shapes):
        _, words = self.explained(2, 300)
        assert words == explain_number(shapes)

    def test_other_numbers_were_not_chosen_by_the_range(self, shapes):
        model, _ = self.explained(2, 4)
        assert explain_number(model, 20) == explain_number(shapes, 20)
        assert explain_number(model.at(20)) == explain_number(shapes, 20)
