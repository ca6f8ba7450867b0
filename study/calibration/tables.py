"""The tables of the calibration, in Markdown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial

import numpy as np

from kfuse.core.adaptive import islands, n_clusters, significance
from study.calibration.measure import SIGNS, Trial, least_step
from study.structureless import DIMENSIONS, Family

Rows = Mapping[str, Callable[[Trial], bool]]  # which trials belong to each row of a table
FEWEST = 8  # data sets that a median is taken of


def table(head: list[str], rows: Iterable[list[str]]) -> str:
    """Build a Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def share(flags: Iterable[bool]) -> float:
    """Return the share of true values, or NaN if there are none."""
    values = list(flags)
    return float(np.mean(values)) if values else float("nan")


def shown(value: float) -> str:
    """Format a number for a table."""
    return "" if np.isnan(value) else f"{value:.2f}"


def step_table(trials: list[Trial]) -> str:
    """Compare the step that chance makes with the least step that counts."""
    rows = []
    for d in DIMENSIONS:
        here = [trial for trial in trials if trial.n_features == d]
        if here:
            ratios = [trial.step / least_step(trial.dimension) for trial in here]
            values = (
                np.median([trial.dimension for trial in here]),
                np.quantile([trial.step for trial in here], 0.95),
                np.median([least_step(trial.dimension) for trial in here]),
                np.quantile(ratios, 0.95),
                share(ratio >= 1 for ratio in ratios),
            )
            rows.append([str(d), str(len(here)), *map(shown, values)])
    head = ["features", "data sets", "median m", "95 % quantile of √i · step", "median least step"]
    return table([*head, "95 % quantile of their ratio", "share above 1"], rows)


def allowance_table(trials: list[Trial]) -> str:
    """Compare the allowance that small parts need in each data set with the one that they get."""
    rows = []
    for name, belongs in by_features(trials).items():
        needed = [trial.allowance for trial in trials if belongs(trial)]
        quantiles = map(shown, np.quantile(needed, [0.5, 0.95]))
        rows.append([name, *quantiles, shown(share(value > n_clusters.ALLOWANCE for value in needed))])
    return table(["features", "median", "95 % quantile", f"share above {n_clusters.ALLOWANCE:g}"], rows)


def samples_in(trials: Iterable[Trial]) -> list[int]:
    """Return the numbers of samples of the trials."""
    return sorted({trial.n for trial in trials})


def alarm_table(trials: list[Trial], rows: Rows, sign: str | None, head: str) -> str:
    """Tabulate the share of data sets in which a sign, or any, sees more than one cluster, by n."""
    by_size = {n: [trial for trial in trials if trial.n == n] for n in samples_in(trials)}
    cells = [
        [name, *(shown(alarms(some, belongs, sign)) for some in by_size.values())] for name, belongs in rows.items()
    ]
    return table([head, *(f"n = {n}" for n in by_size)], cells)


def alarms(trials: Iterable[Trial], belongs: Callable[[Trial], bool], sign: str | None = None) -> float:
    """Return the share of false alarms of one sign, or of all together."""
    return share((trial.borders[sign] > 0 if sign else trial.found > 1) for trial in trials if belongs(trial))


def has(field: str, value: int | str | None, trial: Trial) -> bool:
    """Return whether a field of a trial has a value; without a field, every trial counts."""
    return not field or getattr(trial, field) == value


def by_features(trials: list[Trial]) -> Rows:
    """Return a row for each number of features, and one for all."""
    present = [d for d in DIMENSIONS if any(trial.n_features == d for trial in trials)]
    return {str(d): partial(has, "n_features", d) for d in present} | {"all": partial(has, "", None)}


def peak_table(trials: list[Trial]) -> str:
    """Compare the mode of the largest -log P, over data sets, with A log(n / M) + B."""
    scales = sorted({scale for trial in trials for scale in trial.peaks}, key=int)
    samples = samples_in(trials)
    rows = []
    for d in DIMENSIONS:
        for scale in scales:
            cells = [_peak_cell([t.peaks[scale] for t in trials if (t.n_features, t.n) == (d, n) and scale in t.peaks])
                     for n in samples]  # fmt: skip
            if any(cells):
                rows.append([str(d), scale, *cells])
    return table(["features", "M", *(f"n = {n}" for n in samples)], rows)


def _peak_cell(peaks: list[tuple[float, float]]) -> str:
    """Return the mode that a Gumbel distribution with this median has, and the median correction."""
    if len(peaks) < FEWEST:
        return ""
    largest, correction = np.median(peaks, axis=0)
    return f"{largest + np.log(np.log(2)):.1f} / {correction:.1f}"


def share_table(trials: list[Trial]) -> str:
    """Compare the lowest leaving share of parts with the least share."""
    rows = []
    for dimension, least in zip(islands.DIMENSIONS, islands.LEAST_SHARES, strict=True):
        lowest = [t.shares[f"{dimension:g}"] for t in trials if f"{dimension:g}" in t.shares]
        if lowest:
            values = [min(lowest), *np.quantile(lowest, [0.01, 0.05])]
            below = share(value < least for value in lowest)
            rows.append([f"{dimension:g}", str(len(lowest)), *(f"{v:.3f}" for v in (*values, least)), shown(below)])
    head = ["m of the part", "data sets", "lowest", "1 % quantile", "5 % quantile", "LEAST_SHARES", "share below it"]
    return table(head, rows)


def sign_table(trials: list[Trial], rows: Rows, head: str) -> str:
    """Tabulate the false alarms of each sign and of all together."""
    cells = [
        [name, *(shown(alarms(trials, belongs, sign)) for sign in (*SIGNS, None))] for name, belongs in rows.items()
    ]
    return table([head, *SIGNS, "all together"], cells)


def by_kind(families: Mapping[str, Family]) -> Rows:
    """Return a row for each family."""
    return {kind: partial(has, "kind", kind) for kind in families}


def power_table(two: list[dict[str, float]]) -> str:
    """Tabulate the share of right numbers for two Gaussians."""
    samples = sorted({int(cell["n"]) for cell in two})
    right = {(cell["n_features"], cell["distance"], cell["n"]): cell["right"] for cell in two}
    keys = sorted({key[:2] for key in right})
    rows = [[f"{d:g}", f"{distance:g}", *(shown(right[d, distance, n]) for n in samples)] for d, distance in keys]
    return table(["features", "standard deviations apart", *(f"n = {n}" for n in samples)], rows)


def above_level(trials: list[Trial], rows: Rows) -> str:
    """List the rows with more false alarms than the level of significance."""
    shares = {name: alarms(trials, belongs) for name, belongs in rows.items()}
    above = [f"{name} ({value:.2f})" for name, value in shares.items() if value > significance.LEVEL]
    return ", ".join(above) or "none"


def in_words(numbers: Iterable[int]) -> str:
    """Write numbers as a list in words."""
    *first, last = (f"{number:,}" for number in numbers)
    return f"{', '.join(first)} and {last}" if first else last
