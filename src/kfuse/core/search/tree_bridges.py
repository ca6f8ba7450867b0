"""The shortest bridges between components, by walks down the k-d tree from pairs of its nodes.

Where components are apart, most nodes hold samples of one component only. Such a node is compared with whole nodes of
the others, and the pair is dropped if their boxes are further apart than the shortest bridge so far; only leaves near
the boundary are compared sample by sample.
"""

from __future__ import annotations

import numpy as np

from kfuse.core.kernels import kernel
from kfuse.core.order import is_shorter
from kfuse.core.search.boxes import squared_distance_of_boxes, squared_distance_to_box


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
def list_departures(starts, stops, of_node, most, departures):
    """List the nodes to look for bridges from: as large as they can be with one component and at most `most` samples.

    Leaves with several components are listed, too. Return how many nodes there are.
    """
    n_nodes, n_found = starts.size, 0
    for node in range(n_nodes):
        is_whole = (of_node[node] >= 0 and stops[node] - starts[node] <= most) or 2 * node + 1 >= n_nodes
        above = (node - 1) // 2
        is_new = node == 0 or of_node[above] < 0 or stops[above] - starts[above] > most
        if is_whole and is_new:
            departures[n_found] = node
            n_found += 1
    return n_found


@kernel
def bridge_by_tree(tree, departures, of_position, of_node, shortest, pending):
    """Improve the shortest bridges from all samples of some nodes.

    A node with one component is compared with whole nodes, so that most samples are never looked at.
    """
    for node in departures:
        if of_node[node] >= 0:
            bridge_from_node(tree, node, of_position, of_node, shortest, pending)
        else:
            for position in range(tree.starts[node], tree.stops[node]):
                bridge_from_sample(tree, position, of_position, of_node, shortest, pending)


@kernel
def bridge_from_node(tree, departure, of_position, of_node, shortest, pending):
    """Look for shorter bridges from a node with one component, pair by pair of nodes, the nearer pairs first."""
    n_nodes, own = tree.starts.size, of_node[departure]
    pending[0, 0], pending[0, 1], n_pending = departure, 0, 1
    while n_pending > 0:
        n_pending -= 1
        here, there = pending[n_pending, 0], pending[n_pending, 1]
        limit = shortest.distance[own] * shortest.distance[own] * (1.0 + 1e-15)
        if of_node[there] == own or squared_distance_of_boxes(tree.bounds[here], tree.bounds[there]) > limit:
            continue
        is_leaf, is_leaf_there = 2 * here + 1 >= n_nodes, 2 * there + 1 >= n_nodes
        if is_leaf and is_leaf_there:
            bridge_leaves(tree, here, there, of_position, shortest)
            continue
        splits_there = not is_leaf_there and (is_leaf or there <= here)  # the one further up has the smaller number
        left = 2 * (there if splits_there else here) + 1
        fixed = tree.bounds[here if splits_there else there]
        to_left = squared_distance_of_boxes(fixed, tree.bounds[left])
        to_right = squared_distance_of_boxes(fixed, tree.bounds[left + 1])
        for child in (left + 1, left) if to_left <= to_right else (left, left + 1):
            pending[n_pending, 0] = here if splits_there else child
            pending[n_pending, 1] = child if splits_there else there
            n_pending += 1


@kernel
def bridge_leaves(tree, here, there, of_position, shortest):
    """Compare the samples of two leaves, of which the first has one component."""
    box, own = tree.bounds[here], of_position[tree.starts[here]]
    for other in range(tree.starts[there], tree.stops[there]):
        limit = shortest.distance[own] * shortest.distance[own] * (1.0 + 1e-15)
        if of_position[other] == own or squared_distance_to_box(tree.points[other], box) > limit:
            continue
        for position in range(tree.starts[here], tree.stops[here]):
            note_bridge(tree, position, other, own, shortest)


@kernel
def bridge_from_sample(tree, position, of_position, of_node, shortest, pending):
    """Look for a shorter bridge from a sample, only into boxes that can hold one, the nearer of two first."""
    point, own = tree.points[position], of_position[position]
    pending[0, 1], n_pending = 0, 1
    while n_pending > 0:
        n_pending -= 1
        node = pending[n_pending, 1]
        limit = shortest.distance[own] * shortest.distance[own] * (1.0 + 1e-15)
        if of_node[node] == own or squared_distance_to_box(point, tree.bounds[node]) > limit:
            continue
        left = 2 * node + 1
        if left < tree.starts.size:
            to_left = squared_distance_to_box(point, tree.bounds[left])
            to_right = squared_distance_to_box(point, tree.bounds[left + 1])
            pending[n_pending, 1] = left + 1 if to_left <= to_right else left
            pending[n_pending + 1, 1] = left if to_left <= to_right else left + 1
            n_pending += 2
            continue
        for other in range(tree.starts[node], tree.stops[node]):
            if of_position[other] != own:
                note_bridge(tree, position, other, own, shortest)


@kernel
def note_bridge(tree, position, other, own, shortest):
    """Keep the bridge between two samples if it is the shortest of its component so far."""
    total = 0.0
    for feature in range(tree.points.shape[1]):
        difference = tree.points[other, feature] - tree.points[position, feature]
        total += difference * difference
    length, sample, there = np.sqrt(total), tree.order[position], tree.order[other]
    if is_shorter(length, sample, there, shortest.distance[own], shortest.first[own], shortest.second[own]):
        shortest.first[own], shortest.second[own], shortest.distance[own] = sample, there, length
