"""The shortest bridges between components, by a walk down the k-d tree."""

from __future__ import annotations

import numpy as np

from kfuse.core.kernels import kernel
from kfuse.core.order import is_shorter


@kernel
def squared_distance_to_box(point, box):
    """Compute the least squared distance from a point to anything in a box."""
    total = 0.0
    for feature in range(point.size):
        outside = max(box[0, feature] - point[feature], point[feature] - box[1, feature])
        if outside > 0.0:
            total += outside * outside
    return total


@kernel
def note_components_of_nodes(starts, stops, of_position, of_node):
    """Find the component that all samples of a node belong to, -1 if there are several."""
    for node in range(starts.size):
        of_node[node] = of_position[starts[node]]
        for position in range(starts[node] + 1, stops[node]):
            if of_position[position] != of_node[node]:
                of_node[node] = -1
                break


@kernel
def bridge_by_tree(tree, begin, end, of_position, of_node, first, second, distance, pending):
    """Improve the shortest bridges from a range of samples, looking only into boxes that can hold a shorter one."""
    points, order, bounds, starts, stops, _ = tree
    n_nodes, n_features = starts.size, points.shape[1]
    for position in range(begin, end):
        point = points[position]
        sample, own = order[position], of_position[position]
        pending[0], n_pending = 0, 1
        while n_pending > 0:
            n_pending -= 1
            node = pending[n_pending]
            limit = distance[own] * distance[own] * (1.0 + 1e-15)
            if of_node[node] == own or squared_distance_to_box(point, bounds[node]) > limit:
                continue
            left = 2 * node + 1
            if left < n_nodes:
                # The nearer child is looked into first.
                to_left = squared_distance_to_box(point, bounds[left])
                to_right = squared_distance_to_box(point, bounds[left + 1])
                pending[n_pending] = left + 1 if to_left <= to_right else left
                pending[n_pending + 1] = left if to_left <= to_right else left + 1
                n_pending += 2
                continue
            for there in range(starts[node], stops[node]):
                if of_position[there] == own:
                    continue
                total = 0.0
                for feature in range(n_features):
                    difference = points[there, feature] - point[feature]
                    total += difference * difference
                length = np.sqrt(total)
                if is_shorter(length, sample, order[there], distance[own], first[own], second[own]):
                    first[own], second[own], distance[own] = sample, order[there], length
