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


@pytest.mark.parametrize("value", [{"x": 1, "rows": ROWS, "others": ROWS}, {"x": 1, "tags": [1, 2]}, {"x": 1}])
def test_other_objects_are_one_row(value):
    found = parsed(value)
    assert found.columns == list(value)
    assert found.height == 1


@pytest.mark.parametrize("value", [{"rows": ROWS, "others": ROWS}, {"rows": []}, {"rows": [1, 2]}])
def test_an_object_of_lists_alone_is_no_table(value):
    with pytest.raises(tables.TableError, match="array of objects"):
        parsed(value)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_text_in_the_encodings_of_spreadsheets(encoding):
    found = tables.parse("Größe,Währung\n1,€\n2,£\n".encode(encoding), "data.csv")
    assert found.frame.to_dict(as_series=False) == {"Größe": ["1", "2"], "Währung": ["€", "£"]}
    assert bool(found.notes) == (not encoding.startswith("utf-8"))


def test_a_separator_is_what_all_first_lines_agree_on():
    for text, separator in (
        (b"a,b;c\n1,2\n", ","),  # commas agree
        (b"a;b,c\n1,5;2\n2;3\n", ";"),
        (b"a|b;c\n1|2;3\n4|5;6\n", ";"),  # as many by both: the more usual one
        (b"a|b|c;d\n1|2|3;4\n", "|"),
        (b'"a;b"\n1\n', ","),
        (b"x\n1;2\n", ","),
        (b"a;b\n" + b"1,5;2\n" * 20_000 + b"1", ";"),  # the last line that is looked at is not whole
    ):
        assert tables.parse(text, "data.csv", header=True).separator == separator


def test_columns_whose_names_are_taken_get_names_of_their_own():
    columns = tables.parse(b"x,,x,,y,x\n1,2,3,4,5,6\n", "data.csv").frame.columns
    assert columns == ["x", "", "x (2)", "column_4", "y", "x (3)"]
    columns = tables.parse(b"x,x,x (2)\n1,2,3\n", "data.csv").frame.columns
    assert len(set(columns)) == 3


def test_rows_of_an_array_stay_rows():
    assert parsed([{"x": 1, "rows": ROWS}]).columns == ["x", "rows"]


def test_names_of_aligned_columns():
    assert tables.parse(b"x,  y , z\n1,2,3\n", "data.csv").frame.columns == ["x", "y", "z"]
    assert tables.parse(b"x, x\n1,2\n", "data.csv").frame.columns == ["x", " x"]
