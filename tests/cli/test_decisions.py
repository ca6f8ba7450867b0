"""What became of each column, in words."""

import pytest

from kfuse.cli import decisions
from kfuse.tables import Decision


@pytest.mark.parametrize(
    ("role", "reason", "imputed", "said"),
    [
        ("number", (), 0, ""),
        ("number", (), 1, "1 missing value: the median"),
        ("number", ("in cm",), 2, "in cm; 2 missing values: the median"),
        (
            "number",
            ("2 infinite values taken as missing",),
            2,
            "2 infinite values taken as missing; 2 missing in all: the median",
        ),
        ("category", ("3 values",), 6, "3 values; 6 missing values: a category of their own"),
    ],
)
def test_missing_values_are_counted_once(role, reason, imputed, said):
    decision = Decision("x", role, True, reason, "min-max", imputed)
    assert list(decisions.rows([decision])) == [((role, "min-max", said), "x")]
