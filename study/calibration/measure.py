"""Measure what the three signs of a border see in data without clusters, and how often two Gaussians are found."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from kfuse import KFuse
from kfuse.core.adaptive import islands, n_clusters, valleys
from kfuse.core.result import Borders
from study.structureless import FAMILIES, TUBES, Family

SAMPLES = (300, 1000, 3000)
SAMPLES_OF_TWO = (300, 1000, 3000, 10000)
DISTANCES = (2, 3, 4, 5, 6)  # between the centres of two Gaussians, in standard deviations
DIMENSIONS_OF_TWO = (1, 2, 10)
SIGNS = ("step", "peaks", "islands")
HIGHEST_STEP = 64.0
SMALL = 16  # places: parts with fewer of them need an allowance


# One data set


class Trial(NamedTuple):
    """What the three signs say about one data set."""

    kind: str
    n_features: int
    n: int
    seed: int
    dimension: float  # intrinsic
    step: float  # the largest sqrt(i) x step
    allowance: float  # the largest that the merge of a small part needs to be as strong as typical
    borders: dict[str, int]  # by sign
    found: int  # the number of clusters
    peaks: dict[str, tuple[float, float]]  # at each scale: the largest -log P, and the correction for that peak
    shares: dict[str, float]  # by the dimension of parts: the lowest leaving share over (8 / s)^(1/m)


def draw(kind: str, family: Family, n_features: int, n: int, seed: int) -> NDArray[np.float64]:
    """Draw a data set; each has a random stream of its own."""
    return family.draw(np.random.default_rng((zlib.crc32(kind.encode()), n_features, n, seed)), n, n_features)


def measure(kind: str, family: Family, n_features: int, n: int, seed: int) -> Trial:
    """Fit a data set and note what was compared with the constants."""
    X = draw(kind, family, n_features, n, seed)
    with Recorder() as recorder:
        evidence = recorder.watch(valleys, "evidence_of_peaks")
        surprises, corrections = recorder.watch(valleys, "surprise"), recorder.watch(valleys, "corrections")
        shares, dimensions = recorder.watch(islands, "leaving_shares"), recorder.watch(islands, "dimensions_of_parts")
        strengths = recorder.watch(n_clusters, "strengths")
        model = KFuse(n_jobs=1).fit(X)
    borders = model.tree_.borders
    assert borders is not None  # the default always has them
    return Trial(
        kind,
        n_features,
        n,
        seed,
        borders.dimension,
        largest_step(borders),
        largest_allowance(strengths[0]),
        borders_by_sign(borders),
        model.n_clusters_,
        largest_peaks(evidence[0].result.evidence, surprises, corrections),
        lowest_shares(over_surface(shares[0], dimensions[0].result)) if shares else {},
    )


class Call(NamedTuple):
    """A call of a watched function."""

    arguments: tuple[Any, ...]
    result: Any


class Recorder(ExitStack):
    """Watch functions of the package at work, so that no formula is written a second time here."""

    def watch(self, module: ModuleType, name: str) -> list[Call]:
        """Return the list that the calls of a function are added to."""
        function, calls = getattr(module, name), []

        def watched(*arguments: Any) -> Any:
            calls.append(Call(arguments, function(*arguments)))
            return calls[-1].result

        self.enter_context(patch.object(module, name, watched))
        return calls


def borders_by_sign(borders: Borders) -> dict[str, int]:
    """Return how many borders each sign sees."""
    counts = (borders.n_steps, borders.n_peaks, borders.n_islands)
    return dict(zip(SIGNS, counts, strict=True))


def largest_step(borders: Borders) -> float:
    """Find the largest sqrt(i) x step, without evidence for or against peaks: the largest least step that it passes."""
    neutral = borders._replace(evidence=np.zeros_like(borders.evidence), dimension=1.0)
    low, high = 0.0, HIGHEST_STEP
    for _ in range(16):
        middle = (low + high) / 2
        with patch.object(n_clusters, "STEP_IN_ONE_DIMENSION", middle):
            low, high = (middle, high) if n_clusters.count_below_step(neutral) else (low, middle)
    return low


def largest_allowance(call: Call) -> float:
    """Return the largest distance of small parts below the line of typical strength, times the root of their places."""
    places = call.arguments[0].size.min(axis=1)
    below_line = n_clusters.ALLOWANCE / np.sqrt(places) - np.log(call.result)
    return float((below_line * np.sqrt(places))[places < SMALL].max(initial=0.0))


def least_step(dimension: float) -> float:
    """Return the step that counts in a dimension."""
    return float(n_clusters.STEP_IN_ONE_DIMENSION / max(dimension, 1.0) ** n_clusters.STEP_DECREASE)


def largest_peaks(
    evidence: NDArray[np.float64], surprises: list[Call], corrections: list[Call]
) -> dict[str, tuple[float, float]]:
    """Return the largest -log P at each scale M, of peaks that are tested, beside the highest."""
    found = {}
    for column, surprise, correction in zip(evidence.T, surprises, corrections, strict=True):
        tested = column[np.isfinite(column)]
        if tested.size:
            largest = int(np.nanargmin(np.abs(surprise.result - correction.result - tested.max())))
            selection, scale = correction.arguments[:2]
            power_of_two = 2 ** round(np.log2(selection.counts[scale]))  # the scales of cells vary between data sets
            found[str(power_of_two)] = float(surprise.result[largest]), float(correction.result[largest])
    return found


class PartShares(NamedTuple):
    """The parts of a data set that are large enough for islands."""

    sizes: NDArray[np.float64]  # of the part or of all others, whichever is smaller
    dimensions: NDArray[np.float64]
    shares: NDArray[np.float64]  # the leaving share over (8 / s)^(1/m)


def over_surface(call: Call, dimensions: NDArray[np.float64]) -> PartShares:
    """Divide the leaving shares by the surface that a part of that size has."""
    sizes = call.arguments[2]
    smaller = np.minimum(sizes, sizes[-1] - sizes)
    tested = smaller >= 2 * islands.N_LINKS
    surface = (islands.N_LINKS / smaller[tested]) ** (1 / dimensions[tested])
    return PartShares(smaller[tested], dimensions[tested], call.result[tested] / surface)


def lowest_shares(parts: PartShares) -> dict[str, float]:
    """Return the lowest share of the parts nearest to each dimension of the constants."""
    nearest = np.abs(np.log(parts.dimensions)[:, None] - np.log(islands.DIMENSIONS)).argmin(axis=1)
    return {f"{islands.DIMENSIONS[i]:g}": float(parts.shares[nearest == i].min()) for i in np.unique(nearest)}


# All data sets


def simulate(families: Mapping[str, Family], samples: Iterable[int], n_seeds: int) -> Iterator[Trial]:
    """Measure all families; smaller data sets are drawn more often, since they are cheap."""
    for n in samples:
        for kind, family in families.items():
            for n_features in family.dimensions:
                for seed in range(seeds_of(n, n_seeds)):
                    yield measure(kind, family, n_features, n, seed)
        print(f"structureless, n = {n}: done", flush=True)


def seeds_of(n: int, n_seeds: int) -> int:
    """Return the number of seeds for n samples: as given from 3,000 on, up to four times as many below."""
    return n_seeds * max(1, min(4, 3000 // n))


def two_gaussians(distance: float) -> Family:
    """Return the family of two unit Gaussians, of equal size, some standard deviations apart."""

    def draw_two(rng: np.random.Generator, n: int, d: int) -> NDArray[np.float64]:
        X = rng.standard_normal((n, d))
        X[n // 2 :, 0] += distance
        return X

    return Family(draw_two, DIMENSIONS_OF_TWO)


def simulate_two(samples: Iterable[int], n_seeds: int) -> list[dict[str, float]]:
    """Return the share of right numbers for two Gaussians."""
    shares = []
    for n in samples:
        for distance in DISTANCES:
            family = two_gaussians(distance)
            for n_features in family.dimensions:
                drawn = (draw("two", family, n_features, n, seed) for seed in range(n_seeds))
                right = float(np.mean([KFuse(n_jobs=1).fit(X).n_clusters_ == 2 for X in drawn]))
                shares.append({"n": n, "distance": distance, "n_features": n_features, "right": right})
        print(f"two Gaussians, n = {n}: done", flush=True)
    return shares


class Measured(NamedTuple):
    """All that the tables and the pictures are made of."""

    trials: list[Trial]
    tubes: list[Trial]
    two: list[dict[str, float]]
    n_seeds: tuple[int, int]

    @classmethod
    def read(cls, path: Path) -> Measured:
        """Read what was measured before."""
        stored = json.loads(path.read_text("utf-8"))
        trials, tubes = ([Trial(**trial) for trial in stored[name]] for name in ("trials", "tubes"))
        return cls(trials, tubes, stored["two"], tuple(stored["n_seeds"]))

    def write(self, path: Path) -> None:
        """Keep what was measured."""
        trials = {name: [trial._asdict() for trial in getattr(self, name)] for name in ("trials", "tubes")}
        path.write_text(json.dumps(self._asdict() | trials), "utf-8")


def run(samples: tuple[int, ...], samples_of_two: tuple[int, ...], n_seeds: int, n_seeds_of_two: int) -> Measured:
    """Measure everything."""
    return Measured(
        list(simulate(FAMILIES, samples, n_seeds)),
        list(simulate(TUBES, samples, n_seeds)),
        simulate_two(samples_of_two, n_seeds_of_two),
        (n_seeds, n_seeds_of_two),
    )
