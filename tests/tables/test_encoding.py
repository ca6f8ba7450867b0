"""Scaling, categories among numbers, places on the Earth, and advice about the clusters."""

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import pairwise_distances
from sklearn.metrics.pairwise import haversine_distances
from sklearn.preprocessing import minmax_scale, scale

from kfuse import KFuse, tables
from kfuse.tables import TableError, encoding, scales
from kfuse.tables.remarks import explained
from tests.tables.lookalikes import airports, penguins, titanic

RNG = np.random.default_rng(0)
NORMAL = RNG.normal(size=500)
LOGNORMAL = np.exp(2 * RNG.normal(size=500))
OUTLIERS = np.concatenate([NORMAL, [60.0, -40.0]])


class TestScaling:
    @pytest.mark.parametrize(
        ("values", "expected"),
        [
            (NORMAL, "minmax"),
            (RNG.random(500), "minmax"),
            (LOGNORMAL, "log"),
            (-LOGNORMAL, "robust"),
            (OUTLIERS, "robust"),
            (LOGNORMAL[:19], "minmax"),
            (np.repeat([0.0, 5.0], [400, 100]), "log"),
            (np.repeat([0.0, 5.0], [490, 10]), "minmax"),
        ],
    )
    def test_auto_follows_skew_and_tails(self, values, expected):
        assert scales.choose(values) == expected
        assert scales.choose(1000 * values) == expected

    def test_by_name(self):
        values = LOGNORMAL
        np.testing.assert_array_equal(scales.scaled(values, "minmax"), minmax_scale(values))
        np.testing.assert_allclose(scales.scaled(values, "standard"), scale(values))
        q05, q95 = np.percentile(values, [5, 95])
        np.testing.assert_allclose(scales.scaled(values, "robust"), (values - np.median(values)) / (q95 - q05))
        logs = scales.scaled(values, "log")
        np.testing.assert_allclose(logs, minmax_scale(np.log1p(values / np.median(values))), atol=1e-12)
        np.testing.assert_allclose(scales.scaled(1000 * values, "log"), logs, atol=1e-12)
        assert scales.scaled(values, "none") is values

    @pytest.mark.parametrize("how", ["minmax", "standard", "robust", "log"])
    def test_constants_become_equal_and_order_is_kept(self, how):
        assert np.ptp(scales.scaled(np.full(30, 7.0), how)) == 0
        ordered = np.sort(OUTLIERS)
        assert (np.diff(scales.scaled(ordered, how)) >= 0).all()

    def test_heavy_tails_keep_their_clusters(self):
        """Two groups of values that one extreme value would squeeze into one."""
        groups = np.concatenate([RNG.normal(0, 1, 150), RNG.normal(20, 1, 150), [1e6]])
        frame = pl.DataFrame({"x": groups, "y": np.concatenate([RNG.normal(0, 1, 300), [0.0]])})
        truth = np.repeat([0, 1], 150)
        for how, found in (("auto", True), ("minmax", False)):
            X = tables.features(frame, scale=how).X
            labels = KFuse(2).fit_predict(X)[:300]
            assert (len(np.unique(labels + 10 * truth)) == 2) == found

    def test_json_name_of_the_choice(self):
        frame = pl.DataFrame({"a": NORMAL, "b": LOGNORMAL, "c": OUTLIERS[:500][::-1].copy()})
        titles = [one.scaling for one in tables.features(frame.with_columns(c=pl.Series(OUTLIERS[2:]))).decisions]
        assert titles == ["min-max", "log", "robust"]


class TestCategories:
    def test_two_that_differ_are_one_unit_apart(self):
        block = encoding.category(
            tables.roles.Column("c", "category", pl.Series(["a", "b", "c", None])), pl.Series(["a", "b", "c", None])
        )
        np.testing.assert_allclose(pairwise_distances(block.X), 1 - np.eye(4))
        assert block.names == ["c = (missing)", "c = a", "c = b", "c = c"]

    def test_alone_they_count_from_0_to_1(self):
        frame = pl.DataFrame({"c": ["a", "b"] * 20, "grade": ["low", "medium", "high", "low"] * 10})
        found = tables.features(frame)
        assert found.names == ["c = a", "c = b", "grade"]
        np.testing.assert_allclose(pairwise_distances(found.X)[0, 1], np.hypot(1, 0.5))

    def test_beside_numbers_they_count_as_much_as_one_does_among_neighbours(self):
        numbers = RNG.normal(size=(300, 4))
        frame = pl.DataFrame(numbers, schema=list("wxyz")).with_columns(c=pl.Series(["a", "b"] * 150))
        found = tables.features(frame)
        Z = minmax_scale(numbers)
        fifth = np.sort(pairwise_distances(Z), axis=1)[:, 5]
        np.testing.assert_allclose(found.X[:, :4], Z, atol=1e-12)
        apart = np.linalg.norm(found.X[0, 4:] - found.X[1, 4:])
        np.testing.assert_allclose(apart, np.median(fifth) / 2)

    def test_a_category_that_says_nothing_does_not_decide(self):
        """Two groups of numbers and a category that is drawn at random: the groups are found."""
        group = np.arange(300) % 2
        numbers = RNG.normal(size=(300, 3)) + 6 * group[:, None]
        frame = pl.DataFrame(numbers, schema=list("xyz")).with_columns(c=pl.Series(RNG.choice(["a", "b", "c"], 300)))
        model = KFuse().fit(tables.features(frame).X)
        assert model.n_clusters_ == 2
        assert len(np.unique(model.labels_ + 10 * group)) == 2

    def test_the_unit_does_not_depend_on_the_order_of_rows(self, monkeypatch):
        monkeypatch.setattr(encoding, "MOST_QUERIES", 50)
        X = RNG.normal(size=(300, 3)).round(1)
        unit = encoding.neighbor_unit(X, 3)
        assert 0 < unit < 1
        assert encoding.neighbor_unit(X[RNG.permutation(300)], 3) == unit

    def test_few_distinct_rows_have_no_unit(self):
        assert encoding.neighbor_unit(np.zeros((30, 2)), 2) == 1

    def test_missing_flags_are_a_category(self):
        frame = pl.DataFrame({"x": RNG.random(30), "f": [True, False, None] * 10})
        assert tables.features(frame).names == ["x", "f = (missing)", "f = 0.0", "f = 1.0"]


class TestPlaces:
    def test_are_points_on_the_sphere(self):
        frame = airports()
        found = tables.features(frame, columns=["lat", "lon"], scale="none")
        np.testing.assert_allclose(np.linalg.norm(found.X, axis=1), 1)
        angles = haversine_distances(np.radians(frame.select("lat", "lon").to_numpy()))
        np.testing.assert_allclose(pairwise_distances(found.X), 2 * np.sin(angles / 2), atol=1e-7)
        assert found.columns == ["lat", "lon"]
        assert {one.scaling for one in found.decisions if one.used} == {"on the sphere"}

    def test_give_the_clusters_of_the_haversine_distance(self):
        frame = airports()
        sphere = KFuse(2).fit_predict(tables.features(frame, columns=["lat", "lon"]).X)
        radians = tables.features(frame, positions="radians")
        assert radians.columns == ["lat", "lon"]
        np.testing.assert_array_equal(radians.X, np.radians(frame.select("lat", "lon").to_numpy()))
        np.testing.assert_array_equal(KFuse(2, metric="haversine").fit_predict(radians.X), sphere)
        assert (sphere == np.arange(150) % 2).all() or (sphere != np.arange(150) % 2).all()

    def test_have_no_seam(self):
        lon = np.concatenate([RNG.normal(179, 3, 80), RNG.normal(0, 3, 80)])
        frame = pl.DataFrame({"latitude": RNG.normal(0, 3, 160), "longitude": (lon + 180) % 360 - 180})
        labels = KFuse(2).fit_predict(tables.features(frame).X)
        assert len(np.unique(labels[:80])) == len(np.unique(labels[80:])) == 1

    @pytest.mark.parametrize(
        ("names", "is_place"),
        [
            (("lat", "lon"), True),
            (("Latitude", "Longitude"), True),
            (("start_lat", "start_lng"), True),
            (("decimalLatitude", "decimalLongitude"), True),
            (("lat", "long"), True),
            (("start_lat", "end_lon"), False),
            (("flat", "balloon"), False),
            (("platform", "colony"), False),
        ],
    )
    def test_are_known_by_name(self, names, is_place):
        frame = pl.DataFrame(RNG.normal(size=(40, 2)), schema=list(names))
        assert (tables.features(frame).X.shape[1] == 3) == is_place

    def test_are_degrees(self):
        frame = pl.DataFrame(RNG.normal(0, 500, size=(40, 2)), schema=["lat", "lon"])
        assert tables.features(frame).X.shape[1] == 2

    def test_can_be_numbers(self):
        frame = airports()
        assert tables.features(frame, positions="numbers", columns=["lat", "lon"]).names == ["lat", "lon"]
        assert tables.features(frame, columns=["alt"], number=["lat", "lon"]).names == ["alt", "lat", "lon"]

    def test_haversine_takes_two_columns_of_degrees_by_any_name(self):
        frame = pl.DataFrame({"north": [1.0, 50.0, 7.5], "east": [100.0, 120.0, 3.25], "name": ["a", "b", "c"]})
        assert tables.features(frame, positions="radians").columns == ["north", "east"]
        with pytest.raises(TableError, match="no columns are called latitude and longitude"):
            tables.features(frame, positions="radians", columns=["north"])
        with pytest.raises(TableError, match="no columns are called"):
            tables.features(frame.with_columns(north=pl.lit(100.0) + pl.col("north")), positions="radians")


class TestAdvice:
    def say(self, frame, model=None, **how):
        found = tables.features(frame, **how)
        return [str(one) for one in tables.advice(found, (model or KFuse()).fit(found.X))]

    def test_nothing_to_say(self):
        group = np.arange(200) % 2
        numbers = RNG.normal(size=(200, 3)) + 3 * group[:, None]
        assert self.say(pl.DataFrame(numbers, schema=list("xyz")), KFuse(2)) == []

    def test_a_row_number_left_in(self):
        frame = pl.DataFrame({"n": range(50), "x": RNG.random(50)})
        assert "column 'n' counts the rows: leave it out with exclude=['n']" in self.say(frame, columns=["n", "x"])
        assert not any("counts" in one for one in self.say(frame))

    def test_a_column_of_few_values_that_decides(self):
        frame = pl.DataFrame({"year": [2007, 2008] * 100, "x": RNG.random(200), "y": RNG.random(200)})
        said = self.say(frame, KFuse(2), number=["year"])
        assert said == ["column 'year' alone explains the clusters: exclude=['year'] shows what the others say"]
        assert not any("year" in one for one in self.say(frame, KFuse(2)))

    def test_columns_that_decide_together(self):
        frame = pl.DataFrame({"a": [0.0, 5] * 120, "b": [0.0, 0, 5, 5] * 60, "x": RNG.random(240)})
        said = self.say(frame, KFuse(4), number=["a", "b"])
        assert len(said) == 1
        assert "'a'" in said[0]
        assert "'b'" in said[0]
        assert "explain the clusters: exclude=[" in said[0]

    def test_clusters_made_of_missing_values(self):
        """The median of two groups of one size lies between them, where only rows are whose value was filled in."""
        x = np.repeat([0.0, 8.0], 120) + RNG.normal(size=240) / 20
        frame = pl.DataFrame({"x": [*x, *[None] * 60], "y": RNG.random(300)})
        said = self.say(frame, KFuse(3), scale="none")
        assert "cluster 2 is made of rows whose 'x' is missing: try missing='drop'" in said
        assert not any("missing" in one for one in self.say(frame, KFuse(2), missing="drop", scale="none"))

    def test_a_number_that_decides_alone(self):
        group = np.arange(300) % 2
        frame = pl.DataFrame({"x": RNG.normal(size=300) + 40 * group, "y": RNG.normal(size=300)})
        assert self.say(frame, KFuse(2)) == [
            "column 'x' alone explains the clusters: exclude=['x'] shows what the others say"
        ]

    def test_rows_that_repeat_few_values(self):
        said = self.say(titanic(), KFuse(2))
        assert said[0].startswith("the 300 rows repeat 24 combinations of values")
        assert not any("repeat" in one for one in self.say(titanic(200), KFuse(2)))

    @pytest.mark.parametrize(
        ("p_values", "said"),
        [
            ([0.03, 0.03], "(p = 0.03), and 1 is nearly as likely: more rows would tell"),
            ([1e-9, 1.0], "(p = 1), and 2 is the largest number with clear borders: try n_clusters=2"),
            ([1e-9, 0.01], None),
        ],
    )
    def test_a_number_that_stands_out_little(self, p_values, said):
        class Weak(KFuse):
            """The last two merges have these p-values, and the number is 3."""

            @property
            def tree_(self):
                return self._tree

            @tree_.setter
            def tree_(self, tree):
                class Low(type(tree)):
                    p_value = np.append(np.ones(len(tree.children) - 2), p_values[::-1])

                    def suggest(self, n=5):
                        return [one._replace(p_value=p_values[one.n_clusters - 2]) for one in tree.suggest(1)]

                self._tree = Low(*tree)

        X = RNG.normal(size=(300, 2)) + 12 * np.array([[0, 0], [1, 0], [0, 1]])[np.arange(300) % 3]
        frame = pl.DataFrame(X, schema=list("xy"))
        about = [one for one in self.say(frame, Weak()) if "stand out" in one]
        assert about == ([] if said is None else [f"the 3 clusters stand out little {said}"])
        assert not any("stand out" in one for one in self.say(frame, Weak(3)))

    def test_a_range_that_excludes_the_suggested_number(self):
        X = RNG.normal(size=(300, 2)) + 12 * np.array([[0, 0], [1, 0], [0, 1]])[np.arange(300) % 3]
        frame = pl.DataFrame(X, schema=list("xy"))
        said = "5 clusters, the fewest that were allowed: by itself, the data suggests 3"
        assert said in self.say(frame, KFuse((5, 5)))
        assert not any("allowed" in one for one in self.say(frame, KFuse((2, 5))))

    def test_lambda(self):
        labels = np.repeat([0, 1], 50)
        assert explained(labels, labels) == 1
        assert explained(1 - labels, labels) == 1
        assert explained(np.tile([0, 1], 50), labels) == 0
        assert explained(np.arange(100), labels) == 0  # every row a value of its own explains nothing
        part = np.where(np.arange(100) < 10, 1, labels)
        assert explained(part, labels) == pytest.approx(0.8)

    def test_columns_that_say_the_same_are_not_alone(self):
        frame = penguins()
        assert self.say(frame, KFuse(3)) == []  # both the species and the measurements tell
        assert any("'species' alone" in one for one in self.say(frame, KFuse(3), columns=["species", "year"]))
