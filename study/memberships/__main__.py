"""Measure what samples are told: memberships against posteriors, noise against known noise, outlier scores.

    python -m study.memberships --out docs/memberships.md --pictures docs/images/memberships
    python -m study.memberships --seeds 1                                                         # quick

Needs hdbscan, which ``pip install 'kfuse[bench]'`` brings. A run takes about five minutes on one core.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from study.memberships import noise, outliers, pictures, posteriors

PAGE = """# Memberships, noise and outliers

What a fitted model tells each sample beside its label, how it is defined, and how well it does. The figures of this
page are written by `python -m study.memberships`.

```python
from sklearn.datasets import make_moons

from kfuse import KFuse

X, _ = make_moons(500, noise=0.08, random_state=0)
model = KFuse().fit(X)
model.probabilities_  # membership of each sample in its own cluster
model.memberships_  # in every cluster, one column each
model.outlier_scores_  # from 0 to 1; noise is above 0.5
model.exemplars_  # indices of the most typical samples of each cluster
model.predict_proba([[0.5, 0.25]])  # the largest entry is that of predict
model.score_samples([[0.5, 0.25]])  # the logarithm of the density
model.score_outliers([[9.0, 9.0]])
model.at(5).probabilities_  # all of this for another number of clusters, without fitting again
```

All of it is computed when it is first asked for: asking for it costs about as much as the fit; until then, the fit
costs almost nothing extra.

## Memberships

Where two clusters overlap, the label changes at the border at once, but what a sample there belongs to is uncertain.
Let a walker start at the sample and step from neighbour to neighbour, the more readily the denser it is, until it comes
to the core of a cluster: the deepest half of it, as seen from its borders. The membership in a cluster is the chance
that the walker comes to that one first. With many samples these chances solve div(f² ∇u) = 0 for the density f; for
two Gaussians, this is close to the posterior, the probability that the sample is from either.

- The walk runs between sub-clusters, and a sample gets the mean over itself and its neighbours. So does a new sample.
- The vector is then changed as little as it can be so that the own cluster has the largest entry. So
  `predict_proba(X).argmax(axis=1)` is `predict(X)`, on the samples of the fit and on new ones.
- Everything is multiplied by 1 less the outlier score. A row adds up to 1 less the chance of noise: far away from all
  samples, to almost nothing. With `outliers="label"`, noise is a label like the others: its chance is the largest for
  those that are labelled -1, and for no others.

![Reliability: how often samples with a given membership in a cluster are from it](images/memberships/reliability.png)

*10,000 samples of two Gaussians in two dimensions, 4 standard deviations apart. On the diagonal, a membership is the
frequency with which it is right.*

Two Gaussians with a given distance of their means; the second has the standard deviation of the column "spread". Brier
score of the memberships, and in brackets their root mean square error against the posterior, {seeds}; rows of HDBSCAN
and KFuse are divided by their sum. The Gaussian mixture is given the true model.

{posteriors}

HDBSCAN: `all_points_membership_vectors` with clusters of at least 5 % of the samples, so that it finds two.

## Noise

`outliers="label"` marks samples that are sparser than clusters are, and too many to be the tails of these. In a
Gaussian cluster it is known how many samples have a density of less than a share of that at its peak, and most other
clusters have shorter tails. If there are more samples below a density than all clusters together would have, the rest
of them is a background. A sample is noise if it is more likely to be from the background than from a tail; counts are
taken at the lower end of what they are compatible with at the 5 % level. So data without a background has hardly any
noise, unless its tails are [heavier](#heavy-tails) than a Gaussian's.

- The level of the background is one for all of the data, and does not depend on the number of clusters that you cut.
- `outlier_scores_` is f* / (f + f*), with f the density of a sample and f* that at which it is noise or not.
- What lies within a cluster cannot be told from it: noise there is found by no method, and limits the recall.
- With `min_cluster_size`, what is smaller is noise as well.
- `fusion="paper"` labels what Algorithm 2 leaves out instead.

Uniform noise around 2,000 samples, as a share of all samples. Precision / recall, {seeds};
without noise, the share that is marked all the same. HDBSCAN: `min_cluster_size=15`.

{noise}

Of these data without noise, KFuse marks nothing, and HDBSCAN up to a quarter of the samples: the outskirts of clusters
that touch. With noise, neither is better everywhere. KFuse is the more precise one around clusters that are near each
other, and needs enough noise to see it: at 5 % it finds little around clusters with long tails. Where densities differ,
it finds more, and HDBSCAN is more precise.

The constants of the rule, and the share of a cluster that is its core, were chosen on these kinds of data, so expect
somewhat lower figures on others.

### Heavy tails

Heavy tails count as noise in part. A Gaussian is the yardstick, so clusters whose tails are much heavier lose them: of
clusters of Student's t with 3 degrees of freedom, a fifth is labelled -1, and a quarter at worst, though no sample is
from a background. HDBSCAN marks far fewer of several such clusters, and most of a single one.
2,000 samples without noise, the share that is marked, {seeds}, in brackets the least and the most:

{tails}

If such tails belong to your clusters, leave `outliers` at its default, and every sample gets the label of its cluster.
`outlier_scores_` ranks samples by their density in either case.

## Outlier scores

Area under the ROC curve for known outliers, {seeds}:
uniform noise, and a class of labelled data of which only enough samples are left to be 2 % of all. LOF with 20
neighbours, an isolation forest with scikit-learn's defaults, and GLOSH, `outlier_scores_` of hdbscan with
`min_cluster_size=15`.

{outliers}

KFuse has the best mean, and is not the best everywhere. Its score goes by density alone: the few samples of the digit 0
lie so close together that they rank no higher than the others.
"""


def main() -> None:
    """Measure everything, and write the page and its picture."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5, help="data sets of each kind")
    parser.add_argument("--out", type=Path, help="the page; without it, the tables are only printed")
    parser.add_argument("--pictures", type=Path, help="the folder for the picture")
    chosen = parser.parse_args()
    if chosen.pictures:
        pictures.draw(chosen.pictures)
    found = {
        "posteriors": posteriors.table(chosen.seeds),
        "outliers": outliers.table(chosen.seeds),
        "noise": noise.table(chosen.seeds),
        "tails": noise.tails_table(chosen.seeds),
    }
    if chosen.out:
        seeds = "one data set each" if chosen.seeds == 1 else f"mean of {chosen.seeds} data sets"
        chosen.out.write_text(PAGE.format(seeds=seeds, **found), encoding="utf-8")


if __name__ == "__main__":
    main()
