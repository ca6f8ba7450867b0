"""Calibrate the number of clusters: how often its signs are seen in data without clusters, and in two Gaussians.

    python -m study.calibration --out docs/calibration.md --pictures docs/images/number
    python -m study.calibration --seeds 1 --seeds-of-two 1 --samples 300 --samples-of-two 300       # quick

The constants of ``kfuse.core.adaptive.n_clusters``, ``valleys`` and ``islands`` are chosen by these tables. A run takes
about ten minutes on one core; ``--measured FILE`` keeps what was measured, so that the page can be written again.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from kfuse.core.adaptive import significance
from study.calibration import pictures, tables
from study.calibration.measure import SAMPLES, SAMPLES_OF_TWO, SMALL, Measured, run, seeds_of
from study.structureless import FAMILIES, TUBES

PAGE = """# Calibration of the number of clusters

Written by `python -m study.calibration`. How the number is found, and the terms of this page, are explained in
[The default method](adaptive.md#the-number-of-clusters).

Data sets without clusters: {families};
with {dimensions} features, where a family is defined for them, and {samples} samples;
{n_trials} in all. Seeds count from 0; there are {seeds} of them at these numbers of samples.

The level of significance is {level:g}: at most this share should show more than one cluster. Over all of these data
sets, in this mixture of families, the share is {found:.2f}. It is above the level in these families: {above}.

![False alarms by the number of samples, one line for each number of features](images/number/false_alarms.png)

## False alarms

Share of data sets in which each sign sees more than one cluster, and in which the number found is not one:

{by_features}

{by_kind}

All signs together, by the number of samples:

{by_samples}

{by_kind_and_samples}

## Steps

How strongly a part of a few places is connected is partly random, so its merge may be weaker than typical by ALLOWANCE
/ √s. The table has the largest allowance that a merge of fewer than {small} places needs to be as strong as typical, in
data without clusters. ALLOWANCE is the next whole number above the 95 % quantiles with two or more features. With one
feature, parts of eight and more places are as strong as the gaps next to them, which the least step below accounts for.

{allowance}

The largest √i · step in data without clusters, against the least step that counts, 1.5 / m^1.3. Evidence for or against
peaks is left out here; in a fit, it counts as well, and mostly against a step that chance made.

{steps}

## Peaks

Share of data sets in which peaks alone show more than one cluster:

{peaks}

The mode of the largest log(1 / P) of a data set (that of the Gumbel distribution with the same median) / the correction
A log(n / M) + B + log(number of scales), with M to the nearest power of two. A correction that is larger than the mode
makes the test conservative. Each pair is of one number of features, whatever the intrinsic dimension; cells with fewer
than {fewest} data sets are empty.

{modes}

## Islands

The lowest leaving share over (8 / s)^(1/m) of the parts of a data set, by the dimension m of the part, against the
least share. An island must be below it, and so must another on the other side of the merge, so a part that is below it
is not yet a false alarm.

{shares}

## Known false alarms: tubes

Long tubes in three to five dimensions look like several clusters; the constants are not chosen by them. Share of data
sets in which the number found is not one:

{tubes}

{tubes_by_sign}

## Power

Share of right numbers for two Gaussians of equal size ({seeds_of_two} seeds). Up to 2 standard deviations apart, their
mixture has a single peak, so that one cluster is the right answer for the density, if not for the labels.

![Share of right numbers by the distance of two Gaussians and the number of samples](images/number/power.png)

{power}
"""


def page(measured: Measured) -> str:
    """Build the page of all tables."""
    trials, tubes = measured.trials, measured.tubes
    features = tables.by_features(trials)
    return PAGE.format(
        families=", ".join(FAMILIES),
        found=tables.alarms(trials, features["all"]),
        above=tables.above_level(trials, tables.by_kind(FAMILIES)),
        fewest=tables.FEWEST,
        dimensions=tables.in_words(sorted({trial.n_features for trial in trials})),
        samples=tables.in_words(tables.samples_in(trials)),
        n_trials=f"{len(trials):,}",
        seeds=tables.in_words(seeds_of(n, measured.n_seeds[0]) for n in tables.samples_in(trials)),
        seeds_of_two=measured.n_seeds[1],
        level=significance.LEVEL,
        by_features=tables.sign_table(trials, features, "features"),
        by_kind=tables.sign_table(trials, tables.by_kind(FAMILIES), "family"),
        by_samples=tables.alarm_table(trials, features, None, "features"),
        by_kind_and_samples=tables.alarm_table(trials, tables.by_kind(FAMILIES), None, "family"),
        small=SMALL,
        allowance=tables.allowance_table(trials),
        steps=tables.step_table(trials),
        peaks=tables.alarm_table(trials, features, "peaks", "features"),
        modes=tables.peak_table(trials),
        shares=tables.share_table(trials),
        tubes=tables.alarm_table(tubes, tables.by_kind(TUBES), None, "tube"),
        tubes_by_sign=tables.sign_table(tubes, tables.by_kind(TUBES), "tube"),
        power=tables.power_table(measured.two),
    )


def main(arguments: list[str] | None = None) -> None:
    """Measure, print the page, and draw the pictures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=8, help="for 3,000 samples; up to four times as many for fewer")
    parser.add_argument("--seeds-of-two", type=int, default=10, help="for each pair of Gaussians")
    parser.add_argument("--samples", type=int, nargs="+", default=SAMPLES, help="of data without clusters")
    parser.add_argument("--samples-of-two", type=int, nargs="+", default=SAMPLES_OF_TWO, help="of two Gaussians")
    parser.add_argument("--measured", type=Path, help="read measurements from this file; write it if there is none")
    parser.add_argument("--out", type=Path, help="write the page into this file instead of printing it")
    parser.add_argument("--pictures", type=Path, help="draw the pictures into this folder")
    args = parser.parse_args(arguments)
    if args.measured and args.measured.exists():
        measured = Measured.read(args.measured)
    else:
        measured = run(tuple(args.samples), tuple(args.samples_of_two), args.seeds, args.seeds_of_two)
        if args.measured:
            measured.write(args.measured)
    if args.out:
        args.out.write_text(page(measured), "utf-8")
    else:
        print(page(measured))
    if args.pictures:
        pictures.draw_all(measured, args.pictures)


if __name__ == "__main__":
    main()
