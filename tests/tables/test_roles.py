"""The roles of columns: what is clustered by, what is left out and why, and what the user can overrule."""

from datetime import date, datetime, time, timedelta

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score

from kfuse import KFuse, tables
from kfuse.tables import TableError, roles
from tests.tables.lookalikes import TABLES, penguins

N = 40


def role_of(values, name="a", **how):
    return roles.understand(pl.Series(name, values, strict=False), **how)


class TestRoles:
    @pytest.mark.parametrize(
        ("values", "role"),
        [
            ([0.5, 1.5, 2.25, 8.0], "number"),
            ([1, 2, 3, 5], "number"),
            (["0.5", "1.5", " 2.25 ", "NA"], "number"),
            ([True, False, None, True], "yes/no"),
            ([0, 1, 1, 0], "yes/no"),
            (["yes", "No", "YES", ""], "yes/no"),
            (["Y", "N"] * 5, "yes/no"),
            (["a", "b", "a", "b"], "category"),
            (["01", "02", "01", "02"], "category"),
            (["low", "High", "medium"] * 4, "ordered category"),
            (["1st", "3rd", "2nd"] * 4, "ordered category"),
            (["<18", "18-24", "65+", "25-64"] * 4, "ordered category"),
            (["Mon", "Tue", "Sun"] * 4, "ordered category"),
            (["Jan", "March", "Sept", "June"] * 4, "ordered category"),
            (["Jan", "January", "March"] * 4, "category"),
            ([2007, 2008, 2009] * 20, "ordered category"),
            ([17.5, 22, 27] * 20, "ordered category"),
            ([date(2020, 1, 1), date(2020, 1, 2)], "date"),
            ([datetime(2020, 1, 1, 5), None], "date"),
            ([time(5, 30), time(6)], "date"),
            ([timedelta(5), timedelta(6)], "date"),
            (["2020-01-01", "2020-12-31", None], "date"),
            (["2020-01-01T05:00:00Z", "2020-12-31T06:00:00Z"], "date"),
            (["1/31/2020", "12/1/2020"], "date"),
            (["31.12.2020", "1.1.2021"], "date"),
            (["Jan 1 2000", "Feb 1 2000"], "date"),
            (["5:30", "17:05"], "date"),
            (["Ada", "Bo", "Cy"], "identifier"),
            ([f"N{i}" for i in range(N)], "identifier"),
            (list(range(N)), "identifier"),
            (list(np.random.default_rng(0).permutation(N)), "identifier"),
            ([*range(1, 153), *range(1, 69), *range(1, 125)], "identifier"),
            ([f"{i} words make a sentence" for i in range(N)], "text"),
            ([{"a": 1}, {"a": 2}], "text"),
            (["x", "x"], "constant"),
            (["x", None], "constant"),
            ([3.5, 3.5, np.nan], "constant"),
            ([None, None], "constant"),
            (["NA", "", "?"], "constant"),
        ],
    )
    def test_values_decide(self, values, role):
        assert role_of(values).role == role

    @pytest.mark.parametrize("name", ["", "Unnamed: 0", "index", "rownames", "Row Number", "__index_level_0__"])
    def test_an_index_is_known_by_its_name(self, name):
        values = [3, 8, 1, 20, 5]  # does not count
        assert role_of(values, name).role == "identifier"
        assert role_of(values, "seats").role == "number"

    @pytest.mark.parametrize(
        "name",
        [
            *("id", "user_id", "UserID", "userId", "Individual ID", "id.local", "key"),
            *("Postal Code", "zip", "home_zip_code"),
        ],
    )
    def test_integers_are_known_by_the_name_of_an_identifier(self, name):
        values = np.random.default_rng(0).integers(0, 10**6, N)
        assert role_of(values, name).role == "identifier"

    @pytest.mark.parametrize("name", ["humid", "void", "paid", "Madrid", "ID4 score", "width"])
    def test_names_that_only_end_alike(self, name):
        assert role_of(np.random.default_rng(0).integers(0, 10**6, N), name).role == "number"

    def test_hours_of_days_do_not_count_the_rows(self):
        assert role_of(list(range(24)) * 20).role == "number"

    def test_few_rows_may_count_by_chance(self):
        assert role_of([1, 2, 3]).role == "number"

    def test_many_values_are_left_out_with_a_hint(self):
        found = role_of([f"c{i % 16}" for i in range(100)], "carrier")
        assert found.role == "category"
        assert "".join(map(str, found.left_out)) == "16 values, more than 12; category=['carrier'] keeps it"
        assert role_of([f"c{i % 12}" for i in range(100)]).left_out is None

    def test_a_few_words_among_numbers_are_missing(self):
        found = role_of([*map(str, np.random.default_rng(0).normal(size=100)), "unknown", "unknown"])
        assert (found.role, found.values.null_count()) == ("number", 2)
        assert found.note == "'unknown' taken as missing"

    def test_of_many_words_some_are_shown(self):
        values = [*map(str, range(7)), *"abcde"]
        assert roles.as_number(pl.Series("x", values)).note == "'a', 'b', 'c' and 2 more taken as missing"
        assert roles.as_number(pl.Series("x", values[:-2])).note == "'a', 'b', 'c' taken as missing"

    @pytest.mark.parametrize(("n_numbers", "is_hinted"), [(50, True), (49, False)])
    def test_a_column_with_as_many_numbers_as_words_is_left_out_with_a_hint(self, n_numbers, is_hinted):
        values = [*(str(i % 30 + 0.5) for i in range(n_numbers)), *(f"w{i % 30}" for i in range(100 - n_numbers))]
        why = "".join(map(str, role_of(values, "size").left_out))
        assert why.endswith("; 50 % are numbers: number=['size'] clusters by them") == is_hinted

    def test_infinity_is_missing(self):
        found = role_of([1.5, np.inf, 3.0, -np.inf, np.nan])
        assert (found.role, found.left_out) == ("number", None)
        assert found.values.to_list() == [1.5, None, 3.0, None, None]
        assert found.note == "2 infinite values taken as missing"
        assert role_of(["1.5", "inf", "3.0"] + ["2.5"] * 20).note == "1 infinite value taken as missing"
        assert role_of([*"123456", "unknown"]).role != "number"

    def test_order_of_levels(self):
        def ranks(values):
            return role_of(values * 4).values.to_list()[: len(values)]

        assert ranks(["high", "low", "medium"]) == [2, 0, 1]
        assert ranks(["65+", "<18", "18-24", ">65"]) == [2, 0, 1, 3]
        assert ranks(["Ideal", "Fair", "Very Good"]) == [2, 0, 1]
        assert role_of([2009, 2007, 2008] * 20).values.to_list()[:3] == [2009, 2007, 2008]


class TestNumbers:
    @pytest.mark.parametrize(
        ("values", "decimal_comma", "expected"),
        [
            (["1,5", "2,25", "3"], False, [1.5, 2.25, 3]),
            (["1.234,5", "12,0"], False, [1234.5, 12]),
            (["1,234", "12,345,678"], False, [1234, 12345678]),
            (["1,234", "12,345"], True, [1.234, 12.345]),
            (["1,234.5", "999"], False, [1234.5, 999]),
            (["1,234.5", "1,250"], True, [1234.5, 1250]),
            (["$1,234.50", "-$5", "$ 7"], False, [1234.5, -5, 7]),
            (["12%", "7.5 %"], False, [12, 7.5]),
            (["1,5 €", "2 €"], False, [1.5, 2]),
            (["170 cm", "1.5cm", "-2 cm"], False, [170, 1.5, -2]),
            (["1,5 m²", None, "2 m²"], False, [1.5, None, 2]),
            (["(12.50)", "3", "($7)"], False, [-12.5, 3, -7]),
            (["1e3", "-.5", "+2"], False, [1000, -0.5, 2]),
            (["-1,5", None, "1,5e2"], False, [-1.5, None, 150]),
        ],
    )
    def test_are_parsed_as_they_are_written(self, values, decimal_comma, expected):
        assert role_of(values, decimal_comma=decimal_comma).values.to_list() == expected

    @pytest.mark.parametrize(
        "values",
        [["1,2,3", "4,5,6"], ["1.2.3", "1.2.4"], ["a1", "b2"], ["1-2", "3-4"], ["3 cm", "2 kg"], ["3 cm", "2"]],
    )
    def test_what_is_no_number(self, values):
        assert role_of(values).role != "number"

    def test_a_separator_that_is_no_comma_tells_decimals(self):
        table = tables.parse(b"x;y\n1,234;5\n2,345;6\n9,5;8\n", "data.csv", separator=";")
        np.testing.assert_array_equal(tables.features(table, scale="none").X, [[1.234, 5], [2.345, 6], [9.5, 8]])


class TestWishes:
    def test_dates_become_days(self):
        frame = pl.DataFrame({"x": [1.0, 2.0, 4.0], "d": ["2020-01-01", "2020-01-03", None]})
        assert tables.features(frame).names == ["x"]
        for found in (tables.features(frame, number=["d"]), tables.features(frame, columns=["x", "d"])):
            assert found.names == ["x", "d"]
            np.testing.assert_array_equal(found.values[:, 1] - found.values[0, 1], [0, 2, 1])

    @pytest.mark.parametrize(
        "text", ["05/31/2020", "31.05.2020", "May 31 2020", "2020/05/31", "31-May-2020", "2020-05-31T12:00:00"]
    )
    def test_dates_in_many_forms(self, text):
        frame = pl.DataFrame({"x": [1.0, 2.0, 4.0], "d": [text] * 2 + [None]})
        frame = frame.with_columns(pl.Series("d", [text, text.replace("2020", "2021"), None]))
        days = tables.features(frame, number=["d"]).values[:2, 1]
        assert days[1] - days[0] == 365
        assert days[0] // 1 == date(2020, 5, 31).toordinal() - date(1970, 1, 1).toordinal()

    def test_category_and_number_overrule(self):
        frame = penguins()
        as_number = tables.features(frame, columns=["year", "body_mass_g"], number=["year"])
        assert [one.role for one in as_number.decisions if one.used] == ["number", "number"]
        as_category = tables.features(frame, columns=["body_mass_g"], category=["year"])
        assert as_category.names == ["body_mass_g", "year = 2007", "year = 2008", "year = 2009"]

    def test_identifiers_can_be_asked_for(self):
        frame = pl.DataFrame({"id": range(N), "x": np.random.default_rng(0).normal(size=N)})
        assert tables.features(frame).columns == ["x"]
        assert tables.features(frame, columns=["id", "x"]).columns == ["id", "x"]

    def test_a_category_has_its_limits(self):
        frame = pl.DataFrame({"x": [0.5, 1.5] * 600, "name": [f"n{i}" for i in range(1200)]})
        with pytest.raises(TableError, match="1,200 values, too many for a category"):
            tables.features(frame, category=["name"])

    def test_words_asked_for_as_numbers_are_missing(self):
        frame = pl.DataFrame({"x": ["1", "2", "many", "4"]})
        np.testing.assert_array_equal(
            tables.features(frame, number=["x"], scale="none", missing="drop").X[:, 0], [1, 2, 4]
        )


class TestTables:
    @pytest.mark.parametrize(
        ("name", "used", "left_out"),
        [
            (
                "penguins",
                "species island bill_length_mm bill_depth_mm flipper_length_mm body_mass_g sex year",
                {},
            ),
            ("titanic", "class age sex survived", {"": "identifier"}),
            (
                "flights",
                "month dep_delay origin dest air_time distance",
                {"year": "constant", "carrier": "category", "tailnum": "category", "time_hour": "date"},
            ),
            ("airports", "lat lon alt dst", {"faa": "identifier", "name": "text"}),
            ("movies", "length votes rating Comedy", {"title": "text", "budget": "number"}),
            ("stocks", "symbol price", {"date": "date"}),
        ],
    )
    @pytest.mark.parametrize("kind", ["polars", "pandas", "csv"])
    def test_columns_are_sensible(self, name, used, left_out, kind):
        frame = TABLES[name]()
        if kind == "pandas":
            frame = pd.DataFrame({column: frame[column].to_list() for column in frame.columns})
        elif kind == "csv":
            frame = tables.parse(frame.write_csv().encode(), "data.csv")
        found = tables.features(frame)
        assert [one.column for one in found.decisions if one.used] == used.split()
        assert {one.column: one.role for one in found.decisions if not one.used} == left_out
        assert np.isfinite(found.X).all()
        assert found.X.shape == found.values.shape == (found.used.sum(), len(found.names))

    def test_penguins_are_told_apart(self):
        frame = penguins()
        for exclude in ([], ["species"]):
            found = tables.features(frame, exclude=exclude)
            truth = frame["species"].filter(found.used).to_list()
            assert adjusted_rand_score(truth, KFuse(3).fit_predict(found.X)) > 0.9

    def test_pandas_types(self):
        frame = pd.DataFrame(
            {
                "grade": pd.Categorical(["b", "a", "c"] * 4, categories=["c", "b", "a"], ordered=True),
                "kind": pd.Categorical(["b", "a", None] * 4),
                "when": pd.date_range("2020-01-01", periods=12, tz="UTC"),
                "flag": pd.array([True, False, None] * 4, dtype="boolean"),
                "count": pd.array([1, 2, None] * 4, dtype="Int64"),
                "mixed": [1, "x", None] * 4,
                7: np.linspace(0, 1, 12),
            }
        )
        found = {one.column: one for one in tables.features(frame).decisions}
        assert {name: one.role for name, one in found.items()} == {
            "grade": "ordered category",
            "kind": "category",
            "when": "date",
            "flag": "yes/no",
            "count": "number",
            "mixed": "category",
            "7": "number",
        }
        assert found["grade"].why == "c < b < a"

    def test_other_input(self):
        lazy = pl.DataFrame({"x": [1.0, 2.0]}).lazy()
        assert tables.features(lazy).names == ["x"]
        with pytest.raises(TypeError, match="data frame of polars, pandas or pyarrow, got ndarray: convert it"):
            tables.features(np.zeros((3, 2)))
        with pytest.raises(TableError, match="no rows"):
            tables.features(pl.DataFrame({"x": []}))

    @pytest.mark.parametrize(("values", "role"), [([1.5, None, 2.5], "number"), ([1.5, "x", "x", None], "category")])
    def test_python_objects_have_the_type_of_their_values(self, values, role):
        frame = pl.DataFrame({"x": np.arange(4 * len(values)) % 5.5, "o": np.array(values * 4, dtype=object)})
        assert tables.features(frame).decisions[1].role == role

    def test_columns_of_one_name(self):
        frame = pd.DataFrame(np.random.default_rng(0).normal(size=(9, 3)), columns=["x", "x", "y"])
        assert tables.features(frame).names == ["x", "x (2)", "y"]


ADDED = {
    "identifier": lambda n, rng: [f"A-{i:05}" for i in rng.permutation(n)],
    "id": lambda n, rng: rng.permutation(10 * n)[:n],
    "constant": lambda n, rng: [7.5] * n,
    "word": lambda n, rng: ["always"] * n,
    "copy of the index": lambda n, rng: np.arange(n),
    "shuffled numbers": lambda n, rng: rng.permutation(n) + 1,
    "Unnamed: 0": lambda n, rng: np.arange(n) * 3,
    "text": lambda n, rng: [" ".join(rng.choice(list("abcdefghij"), 6)) + f" {i}" for i in range(n)],
    "empty": lambda n, rng: [None] * n,
    "date": lambda n, rng: [f"2020-{1 + i % 12:02}-{1 + i % 28:02}" for i in range(n)],
}


@settings(max_examples=30, deadline=None)
@given(
    name=st.sampled_from(sorted(TABLES)),
    added=st.sets(st.sampled_from(sorted(ADDED)), min_size=1),
    seed=st.integers(0, 5),
)
def test_what_says_nothing_about_rows_changes_no_label(name, added, seed):
    frame, rng = TABLES[name](120, seed), np.random.default_rng(seed)
    before = KFuse(3).fit_predict(tables.features(frame).X)
    more = [pl.Series(one, ADDED[one](frame.height, rng)) for one in sorted(added) if one not in frame.columns]
    wider = pl.DataFrame([*more[: len(more) // 2], *frame.get_columns(), *more[len(more) // 2 :]])
    found = tables.features(wider)
    assert not {one.column for one in found.decisions if one.used} & {one.name for one in more}
    np.testing.assert_array_equal(KFuse(3).fit_predict(found.X), before)


def test_long_texts_are_text_whatever_they_say():
    found = roles.understand(pl.Series("report", ["1" * 2000, "2" * 2000, None]))
    assert (found.role, found.values, found.left_out) == ("text", None, ("long text",))
