"""Exchange pickled models between interpreters: `python -m tests.hostile.pickles PYTHON PYTHON ...`.

kfuse must be installed for each. Each interpreter fits and pickles a few models; each loads all of them and must obtain
the same labels, cuts and predictions.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

COMMON = """
import pickle, sys, warnings
import numpy as np
from kfuse import KFuse
warnings.simplefilter("error")
rng = np.random.default_rng(0)
X = rng.standard_normal((300, 3)) + rng.integers(0, 3, (300, 1)) * 6
kinds = [{}, {"n_clusters": 4}, {"n_clusters": 3, "fusion": "paper"}, {"metric": "manhattan", "outliers": "label"}]
"""
WRITE = (
    COMMON
    + """
pickle.dump([(kind, KFuse(**kind).fit(X)) for kind in kinds], open(sys.argv[1], "wb"))
"""
)
READ = (
    COMMON
    + """
for kind, model in pickle.load(open(sys.argv[1], "rb")):
    again = KFuse(**kind).fit(X)
    np.testing.assert_array_equal(model.labels_, again.labels_)
    np.testing.assert_array_equal(model.cut(2), again.cut(2))
    np.testing.assert_array_equal(model.predict(X + 0.1), again.predict(X + 0.1))
    np.testing.assert_allclose(model.tree_.log_index, again.tree_.log_index, rtol=1e-12)
"""
)


def main() -> None:
    """Write with each interpreter and read with each; fail if one of them fails."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pythons", nargs="+", metavar="PYTHON")
    pythons = parser.parse_args().pythons
    with TemporaryDirectory() as folder:
        files = [Path(folder) / f"{number}.pickle" for number in range(len(pythons))]
        for python, file in zip(pythons, files, strict=True):
            run(python, WRITE, file)
        for reader in pythons:
            for writer, file in zip(pythons, files, strict=True):
                run(reader, READ, file)
                print(f"{reader} reads what {writer} wrote")


def run(python: str, code: str, file: Path) -> None:
    """Run code with an interpreter; exit if it fails."""
    done = subprocess.run([python, "-c", code, str(file)], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{python} failed:\n{done.stderr}")


if __name__ == "__main__":
    main()
