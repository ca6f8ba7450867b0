import pytest
from sklearn.datasets import load_iris

from tests.cli.command_line import DATA


@pytest.fixture
def data(tmp_path):
    """A small table."""
    path = tmp_path / "data.csv"
    path.write_text(DATA)
    return path


@pytest.fixture
def iris(tmp_path):
    """A table with the true clusters in its last column."""
    path = tmp_path / "iris.csv"
    load_iris(as_frame=True).frame.to_csv(path, index=False)
    return path
