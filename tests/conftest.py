import os

# Read when scipy, OpenMP and BLAS are loaded, here and in the processes that tests start.
os.environ["SCIPY_ARRAY_API"] = "1"  # without it, scikit-learn skips a check
os.environ["OMP_NUM_THREADS"] = "1"  # on small data, threads wait more than they compute
os.environ["OPENBLAS_NUM_THREADS"] = "1"
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from sklearn.preprocessing import minmax_scale

settings.register_profile(
    "kfuse", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.load_profile("kfuse")


def pytest_configure(config):
    """Give each worker of xdist one stretch of the tests, so that a browser or a cluster starts in one of them only."""
    if getattr(config.option, "dist", "no") == "load":
        config.option.dist = "worksteal"


def pytest_collection_modifyitems(items):
    is_compiled = os.environ.get("NUMBA_DISABLE_JIT", "0") == "0"
    for item in items:
        limit_examples(item, is_compiled)
        if not is_compiled:
            adapt_to_uncompiled_kernels(item)


def limit_examples(item, is_compiled):
    """Take a third of a test's generated examples, but no less than 20, and all of them if KFUSE_THOROUGH is set."""
    function = getattr(item, "function", None)
    chosen = getattr(function, "_hypothesis_internal_use_settings", None)
    if chosen is None or getattr(function, "has_its_examples", False):  # cases of one test share a function
        return
    function.has_its_examples = True
    most = chosen.max_examples if os.environ.get("KFUSE_THOROUGH") else max(20, chosen.max_examples // 3)
    most = min(most, chosen.max_examples if is_compiled else 10)
    function._hypothesis_internal_use_settings = settings(chosen, max_examples=most)


def adapt_to_uncompiled_kernels(item):
    """Without compiled kernels, much data takes hours, and numpy warns where compiled code does not."""
    for where in ("scalar", "cast"):
        item.add_marker(pytest.mark.filterwarnings(f"ignore:.*encountered in {where}:RuntimeWarning"))
    if item.get_closest_marker("large"):
        item.add_marker(pytest.mark.skip(reason="takes long if kernels are not compiled"))


@pytest.fixture
def data_folder():
    """The folder with the paper's data sets, named by KFUSE_DATA."""
    folder = os.environ.get("KFUSE_DATA")
    if not folder:
        pytest.skip("KFUSE_DATA does not name a folder with the paper's data sets")
    return Path(folder)


@pytest.fixture
def load_scaled(data_folder):
    def load(name):
        with np.load(data_folder / f"{name}.npz") as stored:
            return minmax_scale(stored["X"].astype(float))

    return load
