"""Draw every figure of the paper, or those named.

    KFUSE_DATA=path/to/data python -m experiments.figures
    python -m experiments.figures process workflow --out somewhere

Those of results need docs/study/results.csv, which ``python -m experiments.run`` writes.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from experiments.figures import results as of_results
from experiments.figures import stages
from experiments.scores import RESULTS

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
    "methods_on_synthetic_data": of_results.grid,
    "mnist": of_results.digits,
    "olivetti": of_results.faces,
    "nemenyi_printed": of_results.nemenyi_printed,
    "nemenyi_own": of_results.nemenyi_own,
    "nemenyi_all": of_results.nemenyi_all,
}


def main() -> None:
    """Draw figures into a folder."""
    import matplotlib as mpl  # noqa: PLC0415 - slow to import

    mpl.use("Agg")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join([*STAGES, *OF_RESULTS]))
    parser.add_argument("--data", type=Path, help="a folder with the data sets; default: KFUSE_DATA")
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--out", type=Path, default=RESULTS.parent / "figures")
    args = parser.parse_args()
    if unknown := set(args.names) - {*STAGES, *OF_RESULTS}:
        parser.error(f"there is no figure {', '.join(sorted(unknown))}; there are {', '.join([*STAGES, *OF_RESULTS])}")
    args.out.mkdir(parents=True, exist_ok=True)
    for name in args.names or [*STAGES, *OF_RESULTS]:
        figure = STAGES[name](args.data) if name in STAGES else OF_RESULTS[name](args.data, args.results)
        path = args.out / f"{name}.{'jpg' if name == 'olivetti' else 'png'}"  # photographs are large as PNG
        figure.savefig(path, dpi=110)
        _shrink(path)
        print(path)


def _shrink(path: Path) -> None:
    """Keep 256 colours of a PNG: a third of the size, and no difference to the eye."""
    from PIL import Image  # noqa: PLC0415 - comes with matplotlib

    if path.suffix == ".png":
        with Image.open(path) as picture:
            small = picture.convert("RGB").quantize(256)
        small.save(path, optimize=True)


if __name__ == "__main__":
    main()
