"""Tables that are inside of something else, or padded."""

import json

import polars as pl
import pytest

from kfuse import tables

ROWS = [{"name": f"c{i}", "x": i % 3, "medals": {"gold": i, "all": 2 * i}} for i in range(9)]


def parsed(value):
    return tables.parse(json.dumps(value).encode(), "data.json").frame


def test_the_only_list_of_objects_is_the_table():
    found = parsed({"count": 9, "rows": ROWS})
    expected = pl.DataFrame(
        {
            "medals.all": [2 * i for i in range(9)],
            "medals.gold": list(range(9)),
            "name": [f"c{i}" for i in range(9)],
            "x": [0, 1, 2] * 3,
        }
    )
    assert found.equals(expected)


@pytest.mark.parametrize("value", [{"rows": ROWS, "others": ROWS}, {"rows": []}, {"rows": [1, 2]}, {"x": 1}])
def test_other_objects_are_one_row(value):
    found = parsed(value)
    assert found.columns == list(value)
    assert found.height == 1


def test_rows_of_an_array_stay_rows():
    assert parsed([{"x": 1, "rows": ROWS}]).columns == ["x", "rows"]


def test_names_of_aligned_columns():
    assert tables.parse(b"x,  y , z\n1,2,3\n", "data.csv").frame.columns == ["x", "y", "z"]
    assert tables.parse(b"x, x\n1,2\n", "data.csv").frame.columns == ["x", " x"]
