"""kFuse, slow and literal: line by line from the paper, plain Python, all pairs of everything.

It shares no code with the package. Where the paper leaves a point open, it follows the table "Decided points" in
docs/algorithm.md. Sums run in a stated order so that exact ties stay exact: distances over the features, densities
from the nearest neighbour on, moments over the samples by index.
"""

import math


class Oracle:
    """Everything the paper names, as attributes."""

    def __init__(self, X, distance=None):
        distance = distance or euclidean
        points = [[float(v) for v in row] for row in X]
        self.n = len(points)
        self.d = [[distance(p, q) for q in points] for p in points]
        self.NN = [self.neighbour_order(p) for p in range(self.n)]
        self.nan_searching()
        self.compute_density()
        self.divide_sub_clusters()
        self.mean_density, self.variance = self.density_moments()
        self.left_out = [label == 0 for label in self.labels]
        self.assign_left_out()
        self.compute_fusion_indices()

    def neighbour_order(self, p):
        return sorted((q for q in range(self.n) if q != p), key=lambda q: (self.d[p][q], q))

    def nan_searching(self):
        """Algorithm 1."""
        n, nb, r = self.n, [0] * self.n, 1
        self.lam = 0
        num_before = n
        while r <= n - 1:
            for p in range(n):
                q = self.NN[p][r - 1]
                nb[q] = nb[q] + 1
            self.lam = r
            num = sum(1 for count in nb if count == 0)
            if num == num_before:
                break
            num_before = num
            r = r + 1
        self.nb = nb
        self.k = max(nb)

    def compute_density(self):
        """Eq. 1 and Definition 5."""
        sums = []
        for p in range(self.n):
            total = 0.0
            for q in self.NN[p][: self.k]:
                total += self.d[p][q]
            sums.append(total)
        positive = [s for s in sums if s > 0]
        instead_of_zero = min(positive) / self.n if positive else 1.0
        self.rho = [nb / (s if s > 0 else instead_of_zero) for nb, s in zip(self.nb, sums, strict=True)]
        self.rep = []
        for p in range(self.n):
            best = p
            for q in self.NN[p][: self.k]:
                if self.rho[q] > self.rho[best]:
                    best = q
            self.rep.append(best)

    def divide_sub_clusters(self):
        """Algorithm 2."""
        NN_k = [neighbours[: self.k] for neighbours in self.NN]
        as_sets = [set(neighbours) for neighbours in NN_k]
        labels, label_count, queue = [0] * self.n, 1, []
        Rs = sorted(set(self.rep))
        for r in Rs:
            if labels[r] == 0:
                labels[r] = label_count
                label_count = label_count + 1
                queue.append(r)
            while queue:
                head = queue.pop(0)
                for n in NN_k[head]:
                    if labels[n] == 0 and head in as_sets[n]:
                        labels[n] = labels[head]
                        if n in Rs:
                            queue.append(n)
        self.labels = labels
        self.m = label_count - 1

    def members(self, c):
        return [p for p in range(self.n) if self.labels[p] == c]

    def density_moments(self):
        means, variances = {}, {}
        for c in range(1, self.m + 1):
            densities = [self.rho[p] for p in self.members(c)]
            total = 0.0
            for rho in densities:
                total += rho
            means[c] = total / len(densities)
            total = 0.0
            for rho in densities:
                total += (rho - means[c]) ** 2
            variances[c] = total / len(densities)
        return means, variances

    def assign_left_out(self):
        labelled = [p for p in range(self.n) if self.labels[p] != 0]
        found = {}
        for p in range(self.n):
            if self.labels[p] == 0:
                found[p] = self.labels[min(labelled, key=lambda q: (self.d[p][q], q))]
        for p, label in found.items():
            self.labels[p] = label
        self.subclusters = [label - 1 for label in self.labels]

    def compute_fusion_indices(self):
        """Eqs. 2 to 7 for all pairs."""
        S = {c: self.members(c) for c in range(1, self.m + 1)}
        AS = {c: set(S[c]).union(*(self.NN[p][: self.lam] for p in S[c])) for c in S}
        self.ADS, self.DC, self.con, self.sim, self.log_fi = {}, {}, {}, {}, {}
        for i in range(1, self.m):
            for j in range(i + 1, self.m + 1):
                self.ADS[i, j] = AS[i] & AS[j]
                self.DC[i, j] = min(self.d[p][q] for p in S[i] for q in S[j])
                share = (len(self.ADS[i, j]) + 1) / min(len(S[i]), len(S[j]))
                self.con[i, j] = share * math.exp(-self.DC[i, j])
                means = ratio(self.mean_density[i], self.mean_density[j], 1.0)
                self.sim[i, j] = means * (1 + ratio(self.variance[i], self.variance[j], 0.0))
                log_sim = math.log(self.sim[i, j]) if self.sim[i, j] > 0 else -math.inf
                self.log_fi[i, j] = math.log(share) - self.DC[i, j] + log_sim

    def fuse(self, n_clusters):
        """Algorithm 3, numbered as users see it: by falling size, then by smallest sample."""
        labels, n_left = list(self.labels), self.m
        for i, j in sorted(self.log_fi, key=lambda pair: (-self.log_fi[pair], pair)):
            if n_left <= n_clusters:
                break
            a, b = labels[self.labels.index(i)], labels[self.labels.index(j)]
            if a != b:
                labels = [a if label == b else label for label in labels]
                n_left = n_left - 1
        order = sorted(set(labels), key=lambda c: (-labels.count(c), labels.index(c)))
        return [order.index(label) for label in labels]


def euclidean(p, q):
    total = 0.0
    for a, b in zip(p, q, strict=True):
        total += (a - b) * (a - b)
    return math.sqrt(total)


def ratio(a, b, both_zero):
    return min(a, b) / max(a, b) if max(a, b) > 0 else both_zero
