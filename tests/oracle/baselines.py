"""DPC, LDP-MST and WANN-DPC, slow and literal: plain Python, all pairs of everything.

They share no code with the package. Sums run in a stated order so that exact ties stay exact: distances over the
features, densities over the neighbours from the nearest on or over the samples by index.
"""

import math


def euclidean(p, q):
    total = 0.0
    for a, b in zip(p, q, strict=True):
        total += (a - b) * (a - b)
    return math.sqrt(total)


def all_distances(X):
    points = [[float(v) for v in row] for row in X]
    return [[euclidean(p, q) for q in points] for p in points]


def neighbour_order(d):
    return [sorted((q for q in range(len(d)) if q != p), key=lambda q: (d[p][q], q)) for p in range(len(d))]


def by_size(labels):
    """Number clusters by falling size, then by smallest sample."""
    order = sorted(set(labels), key=lambda c: (-labels.count(c), labels.index(c)))
    return [order.index(label) for label in labels]


def in_order(values):
    total = 0.0
    for value in values:
        total += value
    return total


class DPC:
    """Rodriguez and Laio, in the five steps of the paper."""

    def __init__(self, X, percent, kernel):
        self.d = all_distances(X)
        self.n = n = len(self.d)
        sorted_pairs = sorted(self.d[i][j] for i in range(n) for j in range(i + 1, n))
        self.d_c = sorted_pairs[max(1, round(percent / 100 * (n * (n - 1) / 2))) - 1]
        if self.d_c == 0:
            return
        self.rho = []
        for i in range(n):
            others = [self.d[i][j] for j in range(n) if j != i]
            if kernel == "gaussian":
                self.rho.append(in_order(math.exp(-((d / self.d_c) ** 2)) for d in others))
            else:
                self.rho.append(float(sum(1 for d in others if d < self.d_c)))

    def fit(self, rho, n_clusters):
        """Steps 3 to 5 from given densities."""
        n, d = self.n, self.d
        order = sorted(range(n), key=lambda i: -rho[i])
        self.delta, self.parent = [0.0] * n, list(range(n))
        for position, i in enumerate(order[1:], start=1):
            self.delta[i] = min(d[i][j] for j in order[:position])
            self.parent[i] = next(j for j in order[:position] if d[i][j] == self.delta[i])
        self.delta[order[0]] = max(self.delta)
        self.gamma = [r * t for r, t in zip(rho, self.delta, strict=True)]
        centres = sorted(range(n), key=lambda i: -self.gamma[i])[:n_clusters]
        if order[0] not in centres:
            centres[-1] = order[0]
        labels = [None] * n
        for number, centre in enumerate(centres):
            labels[centre] = number
        for i in order:
            if labels[i] is None:
                labels[i] = labels[self.parent[i]]
        border = dict.fromkeys(labels, 0.0)
        for i in range(n):
            for j in range(n):
                if labels[i] != labels[j] and d[i][j] <= self.d_c:
                    border[labels[i]] = max(border[labels[i]], (rho[i] + rho[j]) / 2)
        self.halo = [rho[i] < border[labels[i]] for i in range(n)]
        self.centres = centres
        self.labels = by_size(labels)
        return self


class LDPMST:
    """Cheng and others, in five steps; `fit` gives the labels."""

    def __init__(self, X):
        self.d = all_distances(X)
        self.n = len(self.d)
        self.NN = neighbour_order(self.d)
        self.search()
        self.climb()
        self.join()

    def search(self):
        self.nb, self.lam, before = [0] * self.n, 0, None
        while self.lam < self.n - 1:
            self.lam += 1
            for p in range(self.n):
                self.nb[self.NN[p][self.lam - 1]] += 1
            without = self.nb.count(0)
            if without == 0 or (self.lam >= 2 and without == before):
                break
            before = without

    def climb(self):
        sums = [in_order(self.d[p][q] for q in self.NN[p][: max(self.nb)]) for p in range(self.n)]
        positive = [s for s in sums if s > 0]
        instead_of_zero = min(positive) / self.n if positive else 1.0
        self.rho = [nb / (s if s > 0 else instead_of_zero) for nb, s in zip(self.nb, sums, strict=True)]
        representative = []
        for p in range(self.n):
            best = p
            for q in self.NN[p][: self.lam]:
                if self.rho[q] > self.rho[best]:
                    best = q
            representative.append(best)
        self.root = []
        for p in range(self.n):
            while representative[p] != p:
                p = representative[p]  # noqa: PLW2901
            self.root.append(p)
        self.peaks = sorted(set(self.root))

    def join(self):
        """The minimum spanning tree by Kruskal's algorithm, edges by (SD, i, j)."""
        members = {c: [p for p in range(self.n) if self.root[p] == c] for c in self.peaks}
        around = {c: set(members[c]).union(*(self.NN[p][: self.lam] for p in members[c])) for c in self.peaks}
        pairs = [(i, j) for i in self.peaks for j in self.peaks if i < j]
        maxd = max((self.d[i][j] for i, j in pairs), default=0.0)
        SD = {}
        for i, j in pairs:
            shared = sorted(around[i] & around[j])
            if shared:
                SD[i, j] = self.d[i][j] / (len(shared) * in_order(self.rho[p] for p in shared))
            else:
                SD[i, j] = maxd * (1 + self.d[i][j])
        piece = {c: c for c in self.peaks}
        self.edges = []
        for i, j in sorted(pairs, key=lambda pair: (SD[pair], pair)):
            if piece[i] != piece[j]:
                self.edges.append((SD[i, j], i, j))
                old = piece[j]
                piece = {c: piece[i] if p == old else p for c, p in piece.items()}

    def fit(self, n_clusters, ratio):
        edges = {(i, j) for _, i, j in self.edges}
        if len(self.peaks) > n_clusters:
            n_components = 1
            for _, i, j in sorted(self.edges, key=lambda edge: (-edge[0], edge[1:])):
                if n_components == n_clusters:
                    break
                rest = edges - {(i, j)}
                sides = [self.component(i, rest), self.component(j, rest)]
                if all(sum(self.root.count(c) for c in side) >= ratio * self.n for side in sides):
                    edges = rest
                    n_components += 1
        else:
            edges = set()
        return by_size([min(self.component(c, edges)) for c in self.root])

    @staticmethod
    def component(start, edges):
        found, todo = {start}, [start]
        while todo:
            p = todo.pop()
            for i, j in edges:
                for here, there in ((i, j), (j, i)):
                    if here == p and there not in found:
                        found.add(there)
                        todo.append(there)
        return found


class WANNDPC:
    """Xie and others; `fit` gives the labels."""

    def __init__(self, X):
        self.d = all_distances(X)
        self.n, n_features = len(X), len(X[0])
        self.NN = neighbour_order(self.d)
        T = int(min(0.1 * self.n, 10 + n_features * math.log(n_features + 1), 30))
        self.T = min(self.n - 1, max(2, T))
        self.c, self.rho = [], []
        for p in range(self.n):
            near = [self.d[p][q] for q in self.NN[p][: self.T]]
            gaps = [near[r + 1] - near[r] for r in range(self.T - 1)]
            c = gaps.index(max(gaps)) + 1 if gaps else 1
            rho = c / self.T / (1 + in_order(near[:c]) / c)
            if c < self.T:
                rho += (self.T - c) / self.T / (1 + in_order(near[c:]) / (self.T - c))
            self.c.append(c)
            self.rho.append(rho)
        self.climb()

    def climb(self):
        d = self.d
        self.order = sorted(range(self.n), key=lambda i: -self.rho[i])
        self.delta, self.parent = [0.0] * self.n, list(range(self.n))
        for position, i in enumerate(self.order[1:], start=1):
            self.delta[i] = min(d[i][j] for j in self.order[:position])
            self.parent[i] = next(j for j in self.order[:position] if d[i][j] == self.delta[i])
        self.delta[self.order[0]] = max(max(row) for row in d)

    def close(self, p):
        return self.NN[p][: self.c[p]]

    def mean_close(self, p):
        return in_order(self.d[p][q] for q in self.close(p)) / len(self.close(p))

    def fit(self, n_clusters):
        self.labels = [None] * self.n
        self.found_c = list(self.c)
        self.choose_centres(n_clusters)
        self.spread()
        self.join_by_membership()
        for p in self.order:
            if self.labels[p] is None:
                self.labels[p] = self.labels[self.parent[p]]
        return by_size(self.labels)

    def choose_centres(self, n_clusters):
        self.centres = []
        while len(self.centres) < n_clusters and None in self.labels:
            centre = max((p for p in range(self.n) if self.labels[p] is None), key=lambda p: (self.decision(p), -p))
            reach, floor = self.mean_close(centre), min(self.rho[q] for q in self.close(centre))
            self.labels[centre] = len(self.centres)
            queue = [centre]
            while queue:
                head = queue.pop(0)
                for q in self.close(head):
                    if self.labels[q] is None and self.d[head][q] <= reach and self.rho[q] >= floor:
                        self.labels[q] = len(self.centres)
                        queue.append(q)
            self.centres.append(centre)

    def decision(self, p):
        labelled = [self.d[p][q] for q in range(self.n) if self.labels[q] is not None]
        if not labelled:
            return self.rho[p]
        log_delta = math.log(self.delta[p]) if self.delta[p] > 0 else -math.inf
        return math.log(self.rho[p]) + log_delta + 2.5 * min(labelled)

    def spread(self):
        usual = int(sum(self.c) / self.n)
        self.c = [min(self.n - 1, c + usual) if c < usual else c for c in self.c]
        for centre in self.centres:
            for q in self.close(centre):
                if self.labels[q] is None and self.rho[q] < self.rho[centre]:
                    self.labels[q] = self.labels[centre]
        blocked = self.breadth_first(floor=in_order(self.rho) / self.n)
        for head in range(self.n):
            if blocked[head]:
                self.c[head] += blocked[head]
                for q in self.close(head):
                    if self.labels[q] is None:
                        self.labels[q] = self.labels[head]

    def breadth_first(self, floor):
        queue = [p for p in range(self.n) if self.labels[p] is not None]
        blocked = [0] * self.n
        while queue:
            head = queue.pop(0)
            for q in self.close(head):
                if self.labels[q] is None and self.d[head][q] <= self.mean_close(q):
                    if self.rho[q] >= floor:
                        self.labels[q] = self.labels[head]
                        queue.append(q)
                    else:
                        blocked[head] += 1
        return blocked

    def join_by_membership(self):
        while True:
            candidates = []
            for p in range(self.n):
                if self.labels[p] is None:
                    for cluster in range(len(self.centres)):
                        there = [self.d[p][q] for q in self.close(p) if self.labels[q] == cluster]
                        if there:
                            share = len(there) / len(self.close(p))
                            candidates.append((-share * math.exp(-in_order(there) / len(there)), p, cluster))
            if not candidates:
                break
            _, p, cluster = min(candidates)
            self.labels[p] = cluster
