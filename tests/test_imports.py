"""What an import of each part of kfuse brings along. One process looks at all of them, the lightest first."""

import subprocess
import sys

CODE = """
import sys

def brings_none_of(*names):
    assert not set(names) & set(sys.modules), (part, set(names) & set(sys.modules))

part = "kfuse"
import kfuse
assert "describe" in dir(kfuse)
brings_none_of("sklearn", "numba", "pandas", "kfuse.description")

part = "tables, before they are read"
import kfuse.tables.formats
brings_none_of("polars")

part = "drawing"
import kfuse.drawing.curve, kfuse.drawing.features, kfuse.drawing.layout, kfuse.drawing.palette, kfuse.drawing.points
brings_none_of("matplotlib", "numba", "polars")

part = "report, without an import of its own"
assert kfuse.report.write.__name__ == "write"
brings_none_of("matplotlib", "numba", "polars")

part = "describe"
kfuse.describe
brings_none_of("matplotlib", "numba", "polars")

part = "estimator and baselines, beside scikit-learn"
import sklearn.cluster
before = set(sys.modules)
kfuse.KFuse
import kfuse.baselines, kfuse.baselines.methods
added = {name.split(".")[0] for name in set(sys.modules) - before}
assert not added & {"numba", "pandas", "polars", "matplotlib", "typer", "rich", "email"}, added

part = "tables and plots, without an import of their own"
assert (kfuse.tables.read.__name__, kfuse.plots.scatter.__name__) == ("read", "scatter")
assert "polars" in sys.modules
"""


def test_imports_stay_light():
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
