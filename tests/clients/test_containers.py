"""Tables and arrays of other libraries as X."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

import kfuse
from kfuse import KFuse

X, _ = make_blobs(120, centers=3, random_state=0)
EXPECTED = KFuse().fit(X)


class OnlyDLPack:
    """An array that has nothing but the DLPack protocol."""

    def __init__(self, values):
        self.values = values

    def __dlpack__(self, **options):
        return self.values.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.values.__dlpack_device__()


def assert_as_expected(model, data):
    np.testing.assert_array_equal(model.labels_, EXPECTED.labels_)
    np.testing.assert_array_equal(model.predict(data), EXPECTED.labels_)
    np.testing.assert_allclose(model.predict_proba(data), EXPECTED.memberships_, atol=1e-9)


@pytest.mark.parametrize("kind", ["table", "chunked table", "record batch"])
def test_arrow(kind):
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed: pip install 'kfuse[test-clients]'")
    table = pa.table({"width": X[:, 0], "height": X[:, 1]})
    if kind == "chunked table":
        table = pa.concat_tables([table[:50], table[50:]])
    data = table.to_batches()[0] if kind == "record batch" else table
    model = KFuse().fit(data)
    assert list(model.feature_names_in_) == ["width", "height"]
    assert_as_expected(model, data)


def test_arrow_with_text_or_gaps():
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed: pip install 'kfuse[test-clients]'")
    with pytest.raises(ValueError, match=r"X must be numbers, but column 'b' has .*'y'"):
        KFuse().fit(pa.table({"a": [1.0, 2.0], "b": ["y", "z"]}))
    with pytest.raises(ValueError, match=r"contains NaN .row 1, column 'a'"):
        KFuse().fit(pa.table({"a": [1.0, None, 3.0]}))


def test_tensors():
    torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'kfuse[test-clients]'")
    for data in (torch.tensor(X), torch.tensor(X, requires_grad=True), torch.nn.Parameter(torch.tensor(X))):
        assert_as_expected(KFuse().fit(data), data)
    coarse = torch.tensor(X).bfloat16()
    np.testing.assert_array_equal(KFuse().fit_predict(coarse), KFuse().fit_predict(coarse.float().numpy()))


def test_dlpack_alone():
    data = OnlyDLPack(X)
    assert_as_expected(KFuse().fit(data), data)


def test_dlpack_of_another_device():
    class Elsewhere(OnlyDLPack):
        def __dlpack_device__(self):
            return (2, 0)  # CUDA

        def __dlpack__(self, **options):
            raise BufferError("not on this device")

    with pytest.raises(TypeError, match=r"X is an Elsewhere, which NumPy cannot read by DLPack .*: copy it to the CPU"):
        KFuse().fit(Elsewhere(X))


def test_dask_arrays():
    da = pytest.importorskip("dask.array", reason="Dask is not installed: pip install 'kfuse[test-clients]'")
    data = da.from_array(X, chunks=(50, 2))
    assert_as_expected(KFuse().fit(data), data)


@pytest.mark.parametrize("kind", ["table", "record batch"])
def test_arrow_tables_are_encoded_and_described(kind):
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed: pip install 'kfuse[test-clients]'")
    model = KFuse(3).fit(X)
    letter = np.array(["a", "b", "c"])[model.labels_]
    table = pa.table({"width": X[:, 0], "letter": letter})
    data = table.to_batches()[0] if kind == "record batch" else table
    assert kfuse.tables.features(data).names == ["width", "letter = a", "letter = b", "letter = c"]
    assert set(kfuse.describe(model, data)["column"]) == {"width", "letter"}
    assert "letter = a (100 %, others 0 %)" in kfuse.description.sentences(model, data)[0]
