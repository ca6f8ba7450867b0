"""The adaptive fusion, slow and plain: dictionaries, all pairs, every index taken anew in every step.

It shares no code with the package. Sums run in the same order as there (links by sample and rank, samples by index), so
that exact ties stay exact.
"""

import math
from itertools import pairwise

import numpy as np


class Reference:
    """The fusions of `KFuse(fusion="adaptive")` on distinct samples."""

    def __init__(self, X, weights=None):
        self.first_of_place, self.place = distinct(X)
        points = X[self.first_of_place]
        self.n = len(points)
        self.w = relative_weights([1.0] * self.n if weights is None else weights)
        self.d = [[distance(p, q) for q in points] for p in points]
        self.order = [
            sorted((q for q in range(self.n) if q != p), key=lambda q: (self.d[p][q], q)) for p in range(self.n)
        ]
        self.lam, self.nb = self.natural_neighbours()
        self.k = min(max(self.nb), max(2 * self.lam, 16), 64)
        self.nearest = [order[: self.k] for order in self.order]
        self.m = self.dimension()
        self.nn = self.neighbourhoods()
        self.ell = self.log_density()
        self.labels = self.basins()
        self.merges = self.merge()
        self.by_height = sorted(self.merges, key=lambda merge: merge["height"])  # the last are undone first

    def natural_neighbours(self):
        lam, nb, before = 0, [0] * self.n, self.n
        for r in range(1, min(self.n, 65)):
            for p in range(self.n):
                nb[self.order[p][r - 1]] += 1
            lam, unnamed = r, nb.count(0)
            if unnamed == before:
                if r > 1:  # the last round that found a sample counts
                    lam -= 1
                    for p in range(self.n):
                        nb[self.order[p][r - 1]] -= 1
                break
            before = unnamed
        return lam, nb

    def dimension(self):
        """1 / mean of log(r_k / r_j), over all samples and j < k."""
        if self.k < 2:
            return 1.0
        total = 0.0
        for p in range(self.n):
            r = [self.d[p][q] for q in self.nearest[p]]
            spread = 0.0
            for d in r[:-1]:
                spread += math.log(r[-1] / d)
            total += spread / (len(r) - 1)
        return 1 / min(max(total / self.n, 1e-3), 10.0)

    def neighbourhoods(self):
        """The k nearest neighbours, or those before the first gap, if more than half of them have a gap, too."""
        ends = []
        for p in range(self.n):
            r = [self.d[p][q] for q in self.nearest[p]]
            gaps = (j for j in range(4, self.k) if j * self.m * math.log(r[j] / r[j - 1]) > 2 * math.log(self.k))
            ends.append(next(gaps, self.k))
        inside = [[q for q in self.nearest[p][: ends[p]] if ends[q] < self.k] for p in range(self.n)]
        return [self.nearest[p][: ends[p]] if 2 * len(inside[p]) > ends[p] else self.nearest[p] for p in range(self.n)]

    def log_density(self):
        if self.k == 0:
            return np.zeros(self.n)
        means = []
        for p in range(self.n):
            total = 0.0
            for q in self.nearest[p]:
                total += self.d[p][q]
            means.append(total / self.k)
        unit = 2.0 ** math.floor(math.log2(max(self.d[p][self.nearest[p][-1]] for p in range(self.n))))
        ell = -np.log(np.array(means) / unit)
        if len(set(self.w)) > 1:
            heavy = []
            for p in range(self.n):
                total = self.w[p]
                for q in self.nearest[p]:
                    total += self.w[q]
                heavy.append(total / (self.k + 1))
            ell += np.log(np.array(heavy)) / max(self.m, 1.0)
        return ell

    def basins(self):
        step = math.ceil(math.sqrt(self.lam))
        near = [set(nn[:step]) for nn in self.nn]
        up = []
        for p in range(self.n):
            best = p
            for q in self.nn[p][:step]:
                if self.ell[q] > self.ell[best] and p in near[q]:
                    best = q
            up.append(best)
        peaks = []
        for p in range(self.n):
            peak = p
            while up[peak] != peak:
                peak = up[peak]
            peaks.append(peak)
        numbers = {peak: number for number, peak in enumerate(sorted(set(peaks)))}
        return [numbers[peak] for peak in peaks]

    def links(self):
        around = [set(nn) | {p} for p, nn in enumerate(self.nn)]
        links = []
        for p in range(self.n):
            for q in self.nn[p]:
                mutual = p in self.nn[q]
                if mutual and q < p:
                    continue
                share = len(around[p] & around[q]) / min(len(around[p]), len(around[q]))
                weight = share * share if mutual else share * share / 2
                weight *= math.sqrt(self.w[p]) * math.sqrt(self.w[q])
                links.append((p, q, weight, weight * min(self.ell[p], self.ell[q])))
        return links + self.bridges(links)

    def between(self):
        """Add up the links by the sub-cluster they go out from, then both ways."""
        ways = {}
        for link in self.links():
            p, q, w, lv = link
            if p in self.nn[q] and self.labels[p] > self.labels[q]:
                p, q = q, p  # a mutual link goes out from the lower number
            if self.labels[p] != self.labels[q]:
                rank = self.nn[p].index(q) if q in self.nn[p] else self.k
                ways.setdefault((self.labels[p], self.labels[q]), []).append((p, rank, w, lv))
        weight, level = {}, {}
        for (i, j), found in sorted(ways.items(), key=lambda item: item[0][0] > item[0][1]):
            sums = [0.0, 0.0]
            for _, _, w, lv in sorted(found):
                sums = [sums[0] + w, sums[1] + lv]
            pair = (min(i, j), max(i, j))
            weight[pair] = weight[pair] + sums[0] if pair in weight else sums[0]
            level[pair] = level[pair] + sums[1] if pair in level else sums[1]
        return weight, level

    def bridges(self, links):
        piece = list(range(self.n))

        def join(p, q):
            old, new = piece[p], piece[q]
            for sample in range(self.n):
                if piece[sample] == old:
                    piece[sample] = new

        for p, q, _, _ in links:
            if piece[p] != piece[q]:
                join(p, q)
        found = []
        pairs = ((self.d[p][q], p, q) for p in range(self.n) for q in range(p + 1, self.n) if piece[p] != piece[q])
        for length, p, q in sorted(pairs):
            if piece[p] != piece[q]:
                join(p, q)
                reach = max(self.d[p][self.nn[p][-1]], self.d[q][self.nn[q][-1]])
                weight = 1.0 / (self.k + 1) ** 2 * (math.sqrt(self.w[p]) * math.sqrt(self.w[q]))
                level = min(self.ell[p], self.ell[q]) + np.log(np.array([reach / length]))[0]
                found.append((p, q, weight, weight * level))
        return sorted(found)

    def merge(self):
        size, density = {}, {}
        for label, ell, w in zip(self.labels, self.ell, self.w, strict=True):
            size[label] = size.get(label, 0.0) + w
            density[label] = density.get(label, 0.0) + w * ell
        weight, level = self.between()

        def index(pair):
            i, j = pair
            small, large = sorted((float(size[i]), float(size[j])))
            connectivity = math.log(weight[pair]) - math.log(small) - 0.5 * math.log(large)
            return connectivity + level[pair] / weight[pair] - (density[i] / size[i] + density[j] / size[j]) / 2

        first_index = {pair: index(pair) for pair in weight}
        leaves = {label: {label} for label in size}
        lowest = dict.fromkeys(size, math.inf)  # index of all merges inside
        merges = []
        while len(size) > 1:
            a, b = max(weight, key=lambda pair: (index(pair), -pair[0], -pair[1]))
            across = [(min(i, j), max(i, j)) for i in leaves[a] for j in leaves[b]]
            edge = max((p for p in across if p in first_index), key=lambda p: (first_index[p], -p[0], -p[1]))
            lowest[a] = min(index((a, b)), lowest[a], lowest.pop(b))
            parts = [(size[a], density[a] / size[a]), (size[b], density[b] / size[b])]
            height = self.height(lowest[a], level[a, b] / weight[a, b], parts)
            is_valley = self.is_valley(level[a, b] / weight[a, b], parts)
            merges.append({"edge": edge, "log_index": index((a, b)), "height": height, "is_valley": is_valley})
            leaves[a] |= leaves.pop(b)
            size[a] += size.pop(b)
            density[a] += density.pop(b)
            del weight[a, b], level[a, b]
            for pair in [pair for pair in weight if b in pair]:
                moved = tuple(sorted((a, pair[0] if pair[1] == b else pair[1])))
                weight[moved] = weight.get(moved, 0.0) + weight.pop(pair)
                level[moved] = level.get(moved, 0.0) + level.pop(pair)
        return merges

    def height(self, lowest, level, parts):
        """How much of a border a merge is; `parts` are the size and the mean log-density of both sides."""
        smaller, own = min(parts, key=lambda part: part[0])
        smaller = max(smaller, 1.0)
        mean = (parts[0][1] + parts[1][1]) / 2
        doubt = math.exp(-self.m * max(0.0, own - level))
        return (
            -lowest - (mean - min(parts[0][1], parts[1][1])) / smaller - 0.75 * doubt * math.log1p(self.lam / smaller)
        )

    def is_valley(self, level, parts):
        """Whether both sides of a merge are denser than the border, and large enough to have a density."""
        return all(size >= 4 and density > level + 1e-6 for size, density in parts)

    def weigh(self, n_shown, are_below_step):
        """Order the borders shown by how far they rise above what is inside, times the pairs that they separate."""
        may_be = [m for m in self.by_height if m["is_valley"] or not are_below_step]
        shown = may_be[len(may_be) - n_shown :]
        others = [merge for merge in self.by_height if not any(merge is one for one in shown)]
        lowest = min((merge["height"] for merge in shown), default=0.0)
        base = max((merge["height"] for merge in others if merge["height"] <= lowest), default=lowest)
        merges = others + shown
        size = {}
        for label, w in zip(self.labels, self.w, strict=True):
            size[label] = size.get(label, 0.0) + w
        parts = {label: [label] for label in size}
        for merge in merges:
            a, b = (parts[leaf] for leaf in merge["edge"])
            merge["sizes"] = size[a[0]], size[b[0]]
            size[a[0]] += size[b[0]]
            a += b
            parts.update(dict.fromkeys(b, a))
        for merge in shown:
            n_a, n_b = merge["sizes"]
            merge["separates"] = (merge["height"] - base) * (n_a * n_b)
        self.by_height = sorted(merges, key=lambda merge: merge.get("separates", -math.inf))

    def cut(self, n_clusters):
        """Labels by falling size, then by smallest sample, for up to as many clusters as sub-clusters."""
        name = {label: label for label in set(self.labels)}
        for merge in self.by_height[: len(name) - n_clusters]:
            a, b = (name[leaf] for leaf in merge["edge"])
            name = {label: a if kept == b else kept for label, kept in name.items()}
        labels = [name[self.labels[place]] for place in self.place]
        order = sorted(set(labels), key=lambda c: (-labels.count(c), labels.index(c)))
        return [order.index(label) for label in labels]


def relative_weights(total):
    """Weights in multiples of their mean."""
    relative = [max(w / max(total), 2.0**-40) for w in total]
    mean = np.mean(relative)
    return [float(w / mean) for w in relative]


def as_recorded(X):
    """Rounded data in the steps of its rounding, other data as it is."""
    columns = [[float(v) for v in column] for column in np.transpose(X)]
    found = [recorded(column) for column in columns]
    steps = [step for kept in found if kept for step in [kept[1]] if step]
    for i, column in enumerate(columns):
        if found[i] is None and steps:
            found[i] = in_step(column, min(steps))
        if found[i] is None:
            return X
    if all(step == 0 and not is_noisy for _, step, is_noisy in found):
        return X
    unit = min(steps) if all(step or not is_noisy for _, step, is_noisy in found) else None
    if unit and max(steps) / unit > 2.0**42:
        return X
    rows = np.transpose([kept if unit is None else to_unit(kept, step, unit) for kept, step, _ in found])
    is_group = any(is_noisy for _, _, is_noisy in found) and len(np.unique(rows, axis=0)) < 10
    return X if is_group else rows


def to_unit(column, step, unit):
    """Multiples of a step, counted from the least value, in a unit whose ratio to the step has 20 bits."""
    ratio = (step or unit) / unit
    bits = 20 - math.floor(math.log2(ratio)) - 1
    return [round((v - min(column)) / (step or unit)) * (round(ratio * 2.0**bits) / 2.0**bits) for v in column]


def recorded(column):
    """The column without noise, its step (0 if it has none) and whether there was noise; None if it is continuous."""
    values = sorted(set(column))
    found = in_any_step(column)
    if found:
        return found
    gaps = sorted(b - a for a, b in pairwise(values))
    for i in reversed(range(len(gaps) - 1)):
        if gaps[i] <= 2.0**-24 * gaps[i + 1]:
            chains = [[values[0]]]
            for a, b in pairwise(values):
                chains += [[b]] if b - a > gaps[i] else []
                chains[-1] += [] if b - a > gaps[i] else [b]
            if max(c[-1] - c[0] for c in chains) <= 2.0**-24 * gaps[i + 1]:
                middle = {v: c[0] + (c[-1] - c[0]) / 2 for c in chains for v in c}
                kept = [middle[v] for v in column]
                found = in_any_step(kept)
                return kept, found[1] if found else 0.0, True
    return None


def in_any_step(column):
    """A column whose values are multiples of the smallest gap, or of a fraction of it."""
    values = sorted(set(column))
    if len(values) == 1:
        return column, 0.0, False
    smallest = min(b - a for a, b in pairwise(values))
    return next(filter(None, (in_step(column, smallest / division) for division in range(1, 33))), None)


def in_step(column, step):
    """The column and its largest step, if its values are multiples of the given one but for a thousandth of it."""
    extent = max(column) - min(column)
    if extent == 0:
        return column, 0.0, False
    if not step <= extent <= 2.0**42 * step:
        return None
    step = extent / round(extent / step)
    multiples = [round((v - min(column)) / step) for v in column]
    if any(abs(v - min(column) - i * step) > step / 1024 for v, i in zip(column, multiples, strict=True)):
        return None
    if len(set(multiples)) < len(set(column)):
        return None
    return column, extent / (max(multiples) // math.gcd(*multiples)), False


def distinct(X):
    """The first sample of each place, and the place of each sample."""
    first, place = [], []
    for i, row in enumerate(X):
        for number, other in enumerate(first):
            if (X[other] == row).all():
                place.append(number)
                break
        else:
            place.append(len(first))
            first.append(i)
    return first, place


def distance(p, q):
    total = 0.0
    for a, b in zip(p, q, strict=True):
        total += (a - b) * (a - b)
    return math.sqrt(total)
