"""Draw every figure of the paper, or those named.

    KFUSE_DATA=path/to/data python -m study.figures
    python -m study.figures process workflow --out somewhere

Figures of results need docs/study/results.csv, which ``python -m study.run`` writes.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from kfuse import datasets
from study.figures import results, stages
from study.figures.style import shrink
from study.scores import RESULTS
from study.statistics import TooFewResultsError

STAGES = {
    "process": stages.process,
    "representatives": stages.representatives,
    "adjacent_samples": stages.adjacent,
    "distance_and_adjacency": stages.distance,
    "density_contrast": stages.density_contrast,
    "density_heights": stages.density_heights,
    "workflow": stages.workflow,
}
OF_RESULTS = {
    "methods_on_synthetic_data": results.grid,
    "mnist": results.digits,
    "olivetti": results.faces_without_photographs,
    "nemenyi_printed": results.nemenyi_printed,
    "nemenyi_own": results.nemenyi_own,
    "nemenyi_all": results.nemenyi_all,
}
ON_REQUEST = {"olivetti_faces": results.faces}  # it shows the data itself


def main() -> None:
    """Draw figures into a folder."""
    import matplotlib as mpl  # noqa: PLC0415 - slow to import

    mpl.use("Agg")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join([*STAGES, *OF_RESULTS, *ON_REQUEST]))
    parser.add_argument("--data", type=Path, help="folder with the data sets; default: KFUSE_DATA")
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--out", type=Path, default=RESULTS.parent / "figures")
    args = parser.parse_args()
    of_results = OF_RESULTS | ON_REQUEST
    if unknown := set(args.names) - {*STAGES, *of_results}:
        parser.error(f"unknown figure {', '.join(sorted(unknown))}; choose from {', '.join([*STAGES, *of_results])}")
    args.out.mkdir(parents=True, exist_ok=True)
    for name in args.names or [*STAGES, *OF_RESULTS]:
        try:
            figure = STAGES[name](args.data) if name in STAGES else of_results[name](args.data, args.results)
        except (ModuleNotFoundError, TooFewResultsError, datasets.DownloadError) as error:
            print(f"{name} is skipped: it needs {_what_is_missing(error)}", file=sys.stderr)
            continue
        path = args.out / f"{name}.{'jpg' if name in ON_REQUEST else 'png'}"  # photographs are large as PNG
        figure.savefig(path, dpi=110)
        shrink(path)
        print(path)


def _what_is_missing(error: Exception) -> str:
    return f"the package {error.name}" if isinstance(error, ModuleNotFoundError) else str(error)


if __name__ == "__main__":
    main()
