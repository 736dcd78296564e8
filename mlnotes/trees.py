"""Decision trees: questions about one feature at a time, until the label is known.

A tree is grown from the root, one best split after another. A leaf predicts from its samples.

Contents
    Impurity              class_fractions, gini, entropy, error_rate, split_impurity,
                          multiway_impurity
    The best split        Split, count_splits, best_split, feature_order, order_among, split_costs,
                          contributions, total_impurity, midpoint, ObliqueSplit, oblique_split
    Trees                 Tree, Node, descend, leaf_boxes, data_thresholds, tree_impurity
    Growing               grow, growth, node_split, node_value, Rules, grow_all,
                          feature_importances
    Pruning               prune, Pruned, weakest_links, cut
    Categories            Category, id3, id3_predict
    Showing a tree        export_text, tree_layout
    Estimators            TreeRules, DecisionTreeClassifier, DecisionTreeRegressor, ID3

Symbols
    X        (n, d)    samples x, one per row
    y        (n,)      their labels; to grow a tree, the class numbers 0 .. C - 1, or targets
    w        (n,)      weights of the samples, None for ones; W (T, n) has a row for each of T trees
    p        (..., C)  shares p_k = |S_k| / |S| of the classes in a set S of samples
    parts    (C, n)    what every sample adds to the sums over a set that it belongs to
    order    (d, n)    the samples in the order of each feature, from the least value on
    sums     (C, ...)  those sums: the weight of each class; for targets, see `contributions`
    f, t     int, float   a split: x goes left if x_f <= t, else right
    tree     Tree      m nodes; node 0 is the root, and children have larger numbers than parents
    criterion  str     "gini", "entropy" or "error" for labels, "squared_error" for targets

Notes: MLN "Decision Trees"; REP "Decision Trees", "Impurity Functions", "Entropy", "ID3-Algorithm".
REP writes c for our C, and both P_k and p_k for our p_k.
"""

from collections import deque
from dataclasses import dataclass
from math import ceil, inf, nan
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np

from mlnotes.base import (
    Estimator,
    ProbabilisticClassifier,
    Regressor,
    check_choice,
    check_labels,
    check_number,
    check_random_state,
    check_samples,
    check_targets,
    check_weights,
    row_blocks,
)
from mlnotes.discriminant import regularised_direction
from mlnotes.numerics import LEAF, TIED, grow_trees
from mlnotes.probability import x_log_y

BLOCK = 2**15  # sums that a sweep keeps at a time: they stay in the processor's cache
TINY = 1e-300  # the weight of a set of which rounding leaves nothing
RIDGE = 1e-6  # added to the scatter of an oblique split, as a share of its mean eigenvalue


# ---------------------------------------------------------------------------------------
# Impurity
# ---------------------------------------------------------------------------------------


def class_fractions(y, w=None):
    """p_k = |S_k| / |S| for the classes that occur, in sorted order; weights replace counts.

    >>> class_fractions(np.array(["b", "a", "b", "b"]))
    array([0.25, 0.75])
    """
    _, k = np.unique(y, return_inverse=True)
    size = np.bincount(k, w)
    return size / size.sum()


def gini(p):
    """G = sum_k p_k (1 - p_k) = 1 - sum_k p_k^2.

    G is the probability that two samples, drawn with replacement, have different labels.

    >>> float(gini([0.25, 0.75]))
    0.375
    """
    p = np.asarray(p)
    return np.sum(p * (1 - p), axis=-1)


def entropy(p):
    """H = -sum_k p_k ln p_k, with 0 ln 0 = 0.

    >>> float(entropy([0.5, 0.5, 0.0]).round(6))
    0.693147
    """
    p = np.asarray(p)
    return np.abs(np.sum(x_log_y(p, p), axis=-1))


def error_rate(p):
    """1 - max_k p_k: the share of wrong labels if the most frequent one is predicted.

    >>> float(error_rate([0.25, 0.75]))
    0.25
    """
    return 1 - np.max(p, axis=-1)


IMPURITY = {"gini": gini, "entropy": entropy, "error": error_rate}


def split_impurity(y, left, criterion="gini"):
    """I(S_L, S_R) = |S_L|/|S| I(S_L) + |S_R|/|S| I(S_R), for S_L where `left` (n,) is true.

    Raises: ValueError if all samples are on one side.

    >>> float(split_impurity(np.array([0, 1, 1, 1]), np.array([True, True, False, False])))
    0.25

    Errata: trees-14 (REP calls a split optimal if its children have less entropy than the parent).
    """
    left = np.asarray(left, dtype=bool)
    if left.all() or not left.any():
        raise ValueError("left must send samples to both sides; got all on one")
    return multiway_impurity(left, y, criterion)


def multiway_impurity(x, y, criterion="gini"):
    """sum_v |S_v|/|S| I(S_v), with one child for each value v of the categories x (n,).

    >>> float(multiway_impurity(np.array(["red", "red", "blue", "green"]), np.array([0, 1, 1, 1])))
    0.25
    """
    impurity = IMPURITY[check_choice("criterion", criterion, tuple(IMPURITY))]
    values, v = np.unique(x, return_inverse=True)
    classes, k = np.unique(y, return_inverse=True)
    table = np.zeros((len(values), len(classes)))
    np.add.at(table, (v, k), 1)
    n_v = table.sum(axis=1)
    return n_v / n_v.sum() @ impurity(table / n_v[:, None])


# ---------------------------------------------------------------------------------------
# The best split
# ---------------------------------------------------------------------------------------


class Split(NamedTuple):
    """x_f <= t, and the weighted impurity of the two children."""

    feature: int
    threshold: float
    impurity: float


def count_splits(X):
    """sum_f (u_f - 1), where feature f has u_f distinct values: (n - 1) d without ties.

    >>> count_splits(np.array([[1.0, 5.0], [2.0, 5.0], [3.0, 6.0]]))
    3
    """
    ordered = np.sort(X, axis=0)
    return int(np.count_nonzero(ordered[1:] > ordered[:-1]))


def best_split(X, y, w=None, criterion="gini", min_samples_leaf=1, order=None):
    """The `Split` of least weighted child impurity among all cuts, or None if no threshold fits.

    It takes O(d n log n), or O(d n) if the `order` is known. Of equally good splits it has the
    first feature and there the lowest threshold. Each side keeps `min_samples_leaf` samples.

    >>> best_split(np.array([[1.0], [2.0], [4.0]]), np.array([0, 0, 1]))
    Split(feature=0, threshold=3.0, impurity=0.0)

    Errata: trees-12 (REP calls the optimal split NP-hard to find; the smallest tree is).
    Errata: trees-13 (REP says that a split halves the samples; their numbers play no part).
    """
    X, y, w, order = _weighted(X, y, w, order)
    parts = contributions(y, w, criterion)
    blocks = row_blocks(X.shape[1], BLOCK // parts.size)  # some features at a time, for memory
    cost = np.hstack([split_costs(X[:, f], parts, criterion, order[f]) for f in blocks])
    cost = cost[min_samples_leaf - 1 : len(X) - min_samples_leaf]  # enough samples on both sides
    lowest = cost.min(axis=0, initial=inf)  # the lowest cost of each feature
    if lowest.min() == inf:
        return None  # no threshold fits
    tie = TIED * total_impurity(parts.sum(axis=1), criterion)  # a difference by rounding
    f = int(np.argmax(lowest <= lowest.min() + tie))  # the first of the best features
    r = int(np.argmax(cost[:, f] <= lowest[f] + tie)) + min_samples_leaf  # r samples go left
    low, high = X[order[f, r - 1 : r + 1], f]
    return Split(f, float(midpoint(low, high)), float(lowest[f] / w.sum()))


def feature_order(X):
    """The numbers of the samples in the order of each feature, from the least value on: (d, n).

    >>> feature_order(np.array([[1.0], [4.0], [2.0]]))
    array([[0, 2, 1]])
    """
    return np.argsort(np.ascontiguousarray(np.transpose(X)), axis=1)


def order_among(order, chosen):
    """The `feature_order` of the samples where `chosen` (n,) is true, from the order of all.

    >>> order_among(np.array([[0, 2, 1]]), np.array([False, True, True]))
    array([[1, 0]])
    """
    if chosen.all():
        return order
    number = np.cumsum(chosen) - 1  # the new number of every chosen sample
    return number[order[chosen[order]]].reshape(len(order), -1)


def split_costs(X, parts, criterion="gini", order=None):
    """n_L I(S_L) + n_R I(S_R) for every cut of every feature, by one sweep.

    Every feature is sorted by itself. The cut after r samples has the first r of them on its left.
    Cumulative sums of the `contributions` `parts` give the class counts there. The total less these
    is on the right; weights below 1e-15 of the total are lost in rounding. Between equal values no
    threshold fits, and the cost is inf.

    Returns: (n - 1, d); row r - 1 holds the cuts after r samples.

    >>> X = np.array([[1.0, 5.0], [2.0, 5.0], [4.0, 3.0]])
    >>> split_costs(X, contributions(np.array([0, 0, 1])))
    array([[ 1.,  0.],
           [ 0., inf]])
    """
    order = feature_order(X) if order is None else order
    x = X[order, np.arange(len(order))[:, None]]  # every feature in its own order
    sums = np.cumsum(np.take(parts, order, axis=1), axis=2)
    left = sums[:, :, :-1]  # over the first r samples
    right = sums[:, :, -1:] - left  # over all others
    cost = total_impurity(left, criterion) + total_impurity(right, criterion)
    return np.where(x[:, :-1] < x[:, 1:], cost, inf).T  # none fits between equal values


def contributions(y, w=None, criterion="gini"):
    """What every sample adds to the sums over a set: its weight, in the row of its class.

    Returns: (C, n); for targets (3, n), the rows w, w z and w z^2, with z = y - mean(y).

    >>> contributions(np.array(["a", "b", "a"]), np.array([1.0, 1.0, 2.0]))
    array([[1., 0., 2.],
           [0., 1., 0.]])
    """
    w = np.ones(len(y)) if w is None else w
    if criterion == "squared_error":
        z = y - (w * y).sum() / w.sum()
        return np.array([w, w * z, w * z**2])
    return w * (y == np.unique(y)[:, None])


def total_impurity(sums, criterion="gini"):
    """n I of n samples with these sums (C, ...), the cost of a leaf that holds them: shape (...).

    For class counts n_k it is sum_k n_k (n - n_k) / n for Gini, -sum_k n_k ln(n_k / n) for the
    entropy, n - max_k n_k for the error. For targets it is sum_i (z_i - mean(z))^2.

    >>> total_impurity(np.array([[1.0, 2.0], [3.0, 0.0]]))  # the sets (1, 3) and (2, 0)
    array([1.5, 0. ])
    """
    if criterion == "squared_error":
        n, first, second = sums
        return np.maximum(second - first**2 / np.maximum(n, TINY), 0)
    n = np.maximum(sum(sums), TINY)  # the size of the set: its classes together
    if criterion == "gini":
        return sum(n_k * (n - n_k) for n_k in sums) / n
    if criterion == "entropy":
        return -sum(n_k * np.log(np.where(n_k > 0, n_k / n, 1.0)) for n_k in sums)
    return n - np.max(sums, axis=0)


def midpoint(low, high):
    """The threshold between two values low < high: their middle, if rounding leaves it below high.

    >>> float(midpoint(1.0, 4.0))
    2.5
    """
    middle = (low + high) / 2
    return np.where(middle < high, middle, low)


def _arrays(X, y, w):
    """Samples, labels and weights as arrays; None stands for the weights 1."""
    w = np.ones(len(X)) if w is None else np.asarray(w, dtype=float)
    return np.asarray(X, dtype=float), np.asarray(y), w


def _weighted(X, y, w, order):
    """X, y, w and the order of the features, of the samples with a weight."""
    X, y, w = _arrays(X, y, w)
    order = feature_order(X) if order is None else order
    kept = w > 0
    return (X, y, w, order) if kept.all() else (X[kept], y[kept], w[kept], order_among(order, kept))


class ObliqueSplit(NamedTuple):
    """u^T x <= t, and the weighted impurity of the two children."""

    u: np.ndarray
    threshold: float
    impurity: float


def oblique_split(X, y, criterion="gini"):
    """The best split u^T x <= t, where u is an axis or the Fisher direction of a class.

    Returns: an `ObliqueSplit`. Raises: ValueError if all samples are equal.

    >>> split = oblique_split(np.array([[0, 1], [1, 0], [1, 2], [2, 1.0]]), np.array([0, 1, 0, 1]))
    >>> abs(split.u).round(4), split.impurity
    (array([0.7071, 0.7071]), 0.0)
    """
    X, y = np.asarray(X, dtype=float), np.asarray(y)
    if (X == X[0]).all():
        raise ValueError("X must hold samples that differ; all are equal")
    fisher = [_fisher_direction(X, y == c) for c in np.unique(y)]
    directions = np.column_stack([np.eye(X.shape[1]), *fisher])
    j, t, impurity = best_split(X @ directions, y, criterion=criterion)
    return ObliqueSplit(directions[:, j], t, impurity)


def _fisher_direction(X, inside):
    """Fisher's direction between a class and the rest, of length 1; 0 if their means are equal."""
    if inside.all():
        return np.zeros(X.shape[1])
    means = np.array([X[~inside].mean(axis=0), X[inside].mean(axis=0)])
    D = X - means[inside.astype(int)]
    S_W = D.T @ D
    spread = np.trace(S_W) / len(S_W)
    u = regularised_direction(S_W, means, RIDGE * spread if spread > 0 else 1.0)
    length = np.linalg.norm(u)
    return u / length if length > 0 else u


# ---------------------------------------------------------------------------------------
# Trees
# ---------------------------------------------------------------------------------------


class Tree(NamedTuple):
    """The m nodes of a tree, level by level and from left to right."""

    feature: np.ndarray  # (m,), the f of the node's question, -1 at a leaf
    threshold: np.ndarray  # (m,), its t, nan at a leaf
    left: np.ndarray  # (m,), the child for x_f <= t, -1 at a leaf
    right: np.ndarray  # (m,), the child for x_f > t, -1 at a leaf
    value: np.ndarray  # (m, C), the class fractions, or (m, 1), the mean of the targets
    impurity: np.ndarray  # (m,)
    weight: np.ndarray  # (m,), the weight of the training samples that reach the node
    n_samples: np.ndarray  # (m,), their number
    depth: np.ndarray  # (m,), 0 at the root


class Node(NamedTuple):
    """One node: a row of a `Tree`, with the same fields."""

    feature: int
    threshold: float
    left: int
    right: int
    value: np.ndarray
    impurity: float
    weight: float
    n_samples: int
    depth: int


def descend(tree, X, steps=None):
    """The leaf that every sample reaches: from the root, left where x_f <= t, else right.

    With `steps`, the walk stops after so many questions. Returns: (n,), numbers of nodes.

    >>> tree = grow(np.array([[1.0], [2.0], [4.0]]), np.array([0, 0, 1]))
    >>> descend(tree, np.array([[2.9], [3.0], [3.1]]))
    array([1, 1, 2])
    """
    node = np.zeros(len(X), dtype=int)  # every sample starts at the root
    for _ in range(tree.depth.max() if steps is None else steps):
        rows = np.flatnonzero(tree.feature[node] != LEAF)  # the samples that are not at a leaf
        at = node[rows]
        goes_left = X[rows, tree.feature[at]] <= tree.threshold[at]
        node[rows] = np.where(goes_left, tree.left[at], tree.right[at])
    return node


def leaf_boxes(tree, d):
    """The box of every node in R^d: the points with low < x <= high. Returns: low and high, (m, d).

    >>> [x.ravel() for x in leaf_boxes(grow(np.array([[1.0], [2.0]]), np.array([0, 1])), d=1)]
    [array([-inf, -inf,  1.5]), array([inf, 1.5, inf])]
    """
    m = len(tree.feature)
    low, high = np.full((m, d), -inf), np.full((m, d), inf)
    for i in np.flatnonzero(tree.feature != LEAF):
        children, f = [tree.left[i], tree.right[i]], tree.feature[i]
        low[children], high[children] = low[i], high[i]
        high[tree.left[i], f] = low[tree.right[i], f] = tree.threshold[i]
    return low, high


def data_thresholds(tree, X):
    """The tree with each t lowered to the largest x_f among the samples of X that go left.

    >>> X = np.array([[1.0], [2.0], [4.0]])
    >>> data_thresholds(grow(X, np.array([0, 0, 1])), X).threshold
    array([ 2., nan, nan])
    """
    threshold = np.where(tree.feature == LEAF, nan, -inf)
    for depth in range(tree.depth.max()):
        node, child = descend(tree, X, depth), descend(tree, X, depth + 1)
        rows = np.flatnonzero((node != child) & (tree.left[node] == child))
        np.maximum.at(threshold, node[rows], X[rows, tree.feature[node[rows]]])
    return tree._replace(threshold=threshold)


def tree_impurity(tree):
    """The impurity of the subtree below each node, the weighted mean of its leaves' impurity: (m,).

    >>> tree_impurity(grow(np.array([[0.0], [0], [1]]), np.array([0, 1, 1]))).round(4)
    array([0.3333, 0.5   , 0.    ])
    """
    impurity = tree.impurity.copy()
    for i in np.flatnonzero(tree.feature != LEAF)[::-1]:
        children = [tree.left[i], tree.right[i]]
        impurity[i] = tree.weight[children] / tree.weight[i] @ impurity[children]
    return impurity


# ---------------------------------------------------------------------------------------
# Growing
# ---------------------------------------------------------------------------------------


def grow(X, y, w=None, **rules):
    """The `Tree` of samples X (n, d): a table of the nodes that `growth` yields under its `rules`.

    >>> grow(np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]]), np.array([0, 1, 1, 0])).feature
    array([ 0,  1,  1, -1, -1, -1, -1])
    """
    nodes = growth(X, y, w, **rules)
    columns = zip(*nodes, strict=True)  # the features of all nodes, then their thresholds, ...
    return Tree(*map(np.array, columns))


def growth(
    X,
    y,
    w=None,
    *,
    criterion="gini",
    max_depth=None,
    min_samples_split=2,
    min_samples_leaf=1,
    min_impurity_decrease=0.0,
    max_features=None,
    rng=None,
    order=None,
):
    """Grow a tree from the root: a node takes its best split, and its children wait for their turn.

    A node is a leaf if its labels are equal, or all its inputs, or if a rule says so: at
    `max_depth`; with fewer than `min_samples_split` samples; if no split leaves `min_samples_leaf`
    on both sides; or if the impurity of the whole tree would fall by less than
    `min_impurity_decrease`. A split without any gain is allowed, since XOR needs it. With
    `max_features`, a node considers that many features only, drawn by `rng`. If none are
    drawn, they are sorted once: a child keeps the `order` of its samples.

    Yields: a `Node` each, level by level.

    >>> nodes = growth(np.array([[1.0], [2.0], [4.0]]), np.array([0, 0, 1]))
    >>> [(node.feature, node.threshold, node.left, node.right) for node in nodes]
    [(0, 3.0, 1, 2), (-1, nan, -1, -1), (-1, nan, -1, -1)]

    Errata: trees-15 (REP's block does not return the node, and tests s > t in place of x_f > t).
    """
    C = None if criterion == "squared_error" else max(int(np.max(y)) + 1, 2)
    rng, (X, y, w) = check_random_state(rng), _arrays(X, y, w)
    y, total = y if C is None else y.astype(int), w.sum()
    enough = max(min_samples_split, 2 * min_samples_leaf)
    draws = max_features is not None and max_features < X.shape[1]
    order = feature_order(X) if order is None and not draws else order
    waiting = deque([(X, y, w, order, w > 0, 0)])  # a node is some of these samples, and its depth
    m = 1  # so many nodes have a number
    while waiting:
        X, y, w, order, own, depth = waiting.popleft()
        y, w = y[own], w[own]
        value, impurity = node_value(y, w, criterion, C)
        node = Node(LEAF, nan, LEAF, LEAF, value, impurity, w.sum(), len(y), depth)
        split = None
        if depth != max_depth and len(y) >= enough and (y != y[0]).any():
            X, order = X[own], None if draws else order_among(order, own)
            rule = criterion, min_samples_leaf, max_features, rng
            split = node_split(X, y, w, *rule, order)
            split = _worthwhile(split, impurity, node.weight / total, min_impurity_decrease)
        if split is not None:
            f, t, _ = split
            goes_left = X[:, f] <= t
            waiting += [(X, y, w, order, side, depth + 1) for side in (goes_left, ~goes_left)]
            node = node._replace(feature=f, threshold=t, left=m, right=m + 1)
            m += 2
        yield node


def _worthwhile(split, impurity, share, least):
    """The split of a node that holds this share of all weight, or None if its gain is too small."""
    if split is None:
        return None
    gain = max(impurity - split.impurity, 0.0)  # below 0 by rounding only
    return split if (gain + TIED * impurity) * share >= least else None


def node_split(
    X, y, w, criterion="gini", min_samples_leaf=1, max_features=None, rng=None, order=None
):
    """The best split of a node among `max_features` features that `rng` draws for it, or among all.

    If none of these can be split, as many others are tried. Returns: a `Split`, or None if no split
    leaves `min_samples_leaf` samples on each side.

    >>> node_split(np.array([[1.0], [1.0]]), np.array([0, 1]), np.ones(2)) is None
    True
    """
    d, k = X.shape[1], max_features
    if k is None or k >= d:
        return best_split(X, y, w, criterion, min_samples_leaf, order)
    drawn = np.argsort(rng.random(d))  # the features in random order
    for start in range(0, d, k):
        tried = np.sort(drawn[start : start + k])
        split = best_split(X[:, tried], y, w, criterion, min_samples_leaf)
        if split is not None:
            return split._replace(feature=int(tried[split.feature]))
    return None


def node_value(y, w, criterion="gini", C=None):
    """The class fractions (C,), or the mean of the targets (1,), and the impurity of a node.

    >>> node_value(np.array([0, 0, 1, 0]), np.ones(4), C=2)
    (array([0.75, 0.25]), 0.375)
    """
    if criterion == "squared_error":
        mean = y[0] + (w * (y - float(y[0]))).sum() / w.sum()  # exact for equal targets
        return np.array([mean]), float((w * (y - mean) ** 2).sum() / w.sum())
    p = np.bincount(y, w, minlength=C) / w.sum()
    return p, float(IMPURITY[criterion](p))


class Rules(NamedTuple):
    """When a node becomes a leaf: the keyword arguments of `growth`."""

    criterion: str = "gini"
    max_depth: int | None = None
    min_samples_split: int = 2
    min_samples_leaf: int = 1
    min_impurity_decrease: float = 0.0
    max_features: int | None = None


def grow_all(X, y, W, *, rng=None, **rules):
    """A list of the trees that `grow` gives for each row of W (T, n) under its `rules`, but faster.

    With `max_features` `rng` draws for all trees in turn, so that only a tree that grows alone is
    that of `grow`.

    >>> X, y, W = np.array([[1.0], [2.0], [4.0]]), np.array([0, 1, 1]), [[1, 1, 1], [0, 2, 1]]
    >>> [tree.n_samples.tolist() for tree in grow_all(X, y, W)]
    [[3, 1, 2], [2]]
    """
    rng, W = check_random_state(rng), np.array([check_weights(row, len(X)) for row in W])
    if (W == np.rint(W)).all() and W.max() < 2**31:
        W = W.astype(int)  # counts are summed without rounding
    trees = grow_trees(X, y, W, total_impurity, Rules(**rules), rng)
    return [_with_children(*columns) for columns in trees]


def _with_children(feature, threshold, *others):
    """The `Tree` of these columns; its children are numbered in pairs, in the order of parents."""
    inner = feature != LEAF
    left = np.where(inner, 2 * np.cumsum(inner) - 1, LEAF)
    right = np.where(inner, left + 1, LEAF)
    return Tree(feature, threshold, left, right, *others)


def feature_importances(tree, d):
    """The share of each feature in the decrease of impurity by all splits (0 without any): (d,).

    >>> feature_importances(grow(np.array([[0.0, 1.0], [0.0, 2.0]]), np.array([0, 1])), 2)
    array([0., 1.])
    """
    i = np.flatnonzero(tree.feature != LEAF)
    cost = tree.weight * tree.impurity
    gain = np.maximum(cost[i] - cost[tree.left[i]] - cost[tree.right[i]], 0)
    total = np.bincount(tree.feature[i], gain, minlength=d)
    return total / total.sum() if total.sum() > 0 else total


# ---------------------------------------------------------------------------------------
# Pruning
# ---------------------------------------------------------------------------------------


def prune(tree, alpha):
    """The subtree of least cost R + alpha |leaves|, R its impurity; of equal costs, the smallest.

    Returns: a `Tree`. Raises: ValueError if alpha < 0.

    >>> tree = grow(np.array([[0.0], [1], [2]]), np.array([0, 1, 0]))
    >>> [len(prune(tree, alpha).feature) for alpha in (0.0, 0.2, 0.3)]
    [5, 5, 1]
    """
    _check_price(alpha)
    R = tree.weight / tree.weight[0] * tree.impurity
    is_leaf = tree.feature == LEAF
    as_leaf = R + alpha  # what every node costs as a leaf
    least = as_leaf.copy()  # the least cost of what is left below a node
    for v in np.flatnonzero(~is_leaf)[::-1]:  # children before parents
        least[v] = least[tree.left[v]] + least[tree.right[v]]
        if as_leaf[v] <= least[v] * (1 + TIED):  # no more than its two sides, up to rounding
            least[v], is_leaf[v] = as_leaf[v], True
    return cut(tree, is_leaf)


def _check_price(alpha):
    """Raises: ValueError if alpha < 0."""
    if not alpha >= 0:
        raise ValueError(f"alpha must be >= 0; got {alpha}")


class Pruned(NamedTuple):
    """A tree of the pruning path."""

    tree: Tree
    alpha: float  # from this alpha on it is the best subtree
    objective: float  # its impurity R


def weakest_links(tree):
    """The pruning path: cut where g(v) = (R_v - R(T_v)) / (|T_v| - 1) is least, again and again.

    R_v = n_v/n I(S_v), R(T_v) is the impurity of the subtree below v, and |T_v| the number of its
    leaves. From alpha = g(v) on, v as a leaf costs no more than this subtree.

    Yields: a `Pruned` each, from the whole tree at alpha = 0 to the root alone.

    >>> tree = grow(np.array([[0.0], [1], [2]]), np.array([0, 1, 0]))
    >>> [(len(step.tree.feature), round(step.alpha, 4)) for step in weakest_links(tree)]
    [(5, 0.0), (1, 0.2222)]
    """
    alpha = 0.0
    while True:
        share = tree.weight / tree.weight[0]
        R, R_below = share * tree.impurity, share * tree_impurity(tree)
        yield Pruned(tree, alpha, float(R_below[0]))
        inner = tree.feature != LEAF
        if not inner.any():
            return
        g = np.full(len(R), inf)  # leaves are not cut
        g[inner] = (R - R_below)[inner] / (_leaves_below(tree)[inner] - 1)
        alpha = max(alpha, float(g.min()))
        tree = cut(tree, ~inner | (g <= alpha * (1 + TIED)))  # the weakest links become leaves


def cut(tree, is_leaf):
    """The tree without the nodes below those that are leaves now; `is_leaf` is (m,).

    >>> cut(grow(np.array([[0.0], [1], [2]]), np.array([0, 1, 0])), np.arange(5) > 0).feature
    array([ 0, -1, -1])
    """
    kept = np.zeros(len(is_leaf), dtype=bool)
    kept[0] = True
    for v in np.flatnonzero(~is_leaf):
        kept[[tree.left[v], tree.right[v]]] = kept[v]
    number = np.cumsum(kept) - 1
    smaller = tree._replace(
        feature=np.where(is_leaf, LEAF, tree.feature),
        threshold=np.where(is_leaf, nan, tree.threshold),
        left=np.where(is_leaf, LEAF, number[tree.left]),
        right=np.where(is_leaf, LEAF, number[tree.right]),
    )
    return Tree(*(column[kept] for column in smaller))


def _leaves_below(tree):
    """The number of leaves of each subtree."""
    count = np.ones(len(tree.feature), dtype=int)
    for v in np.flatnonzero(tree.feature != LEAF)[::-1]:
        count[v] = count[tree.left[v]] + count[tree.right[v]]
    return count


# ---------------------------------------------------------------------------------------
# Categories
# ---------------------------------------------------------------------------------------


class Category(NamedTuple):
    """A node of a tree of categories."""

    feature: int  # the attribute asked for, -1 at a leaf
    children: dict  # a `Category` for each of its values
    p: np.ndarray  # (C,), the class fractions


def id3(X, y, C=None, max_depth=None):
    """Quinlan's ID3: ask for the attribute of least child entropy, with a child for every value.

    X (n, d) holds categories of any kind, y the class numbers 0 .. C - 1. A path asks for at
    most `max_depth` attributes. Of equally good attributes the first is taken.

    Returns: the root, a `Category`. Raises: ValueError if X holds NaN, which equals nothing.

    >>> root = id3(np.array([["sun", "dry"], ["sun", "wet"], ["rain", "dry"]]), np.array([1, 1, 0]))
    >>> root.feature, sorted(root.children)
    (0, ['rain', 'sun'])
    """
    X, y = _check_categories(X, y)
    C = int(y.max()) + 1 if C is None else C
    p = np.bincount(y, minlength=C) / len(y)
    useful = np.flatnonzero((X != X[0]).any(axis=0))  # the attributes that are not all equal
    if (y == y[0]).all() or len(useful) == 0 or max_depth == 0:
        return Category(LEAF, {}, p)
    after = np.array([multiway_impurity(X[:, f], y, "entropy") for f in useful])
    f = int(useful[np.argmax(after <= after.min() + TIED)])  # the first of the best
    deeper = None if max_depth is None else max_depth - 1
    children = {}
    for value in np.unique(X[:, f]):
        own = X[:, f] == value
        children[value.item()] = id3(X[own], y[own], C, deeper)
    return Category(f, children, p)


def _check_categories(X, y):
    """The categories and labels as arrays. Raises: ValueError if X holds NaN."""
    X, y = np.asarray(X), np.asarray(y)
    if (X != X).any():
        raise ValueError("X must hold categories that equal themselves; got NaN")
    return X, y


def id3_predict(root, X):
    """The class fractions of the node that every sample ends in: (n, C).

    A walk ends at a leaf, or where a node has no child for the sample's value.

    >>> root = id3(np.array([["a"], ["b"], ["b"]]), np.array([0, 1, 1]))
    >>> id3_predict(root, np.array([["c"]])).round(4)
    array([[0.3333, 0.6667]])
    """
    found = []
    for x in np.asarray(X).tolist():
        node = root
        while node.feature != LEAF and x[node.feature] in node.children:
            node = node.children[x[node.feature]]
        found.append(node.p)
    return np.array(found)


# ---------------------------------------------------------------------------------------
# Showing a tree
# ---------------------------------------------------------------------------------------


def export_text(tree, feature_names=None, class_names=None):
    """The tree as lines of text: the questions, indented by depth, and the labels of the leaves.

    `feature_names` (d,) and `class_names` (C,) replace x_0, x_1, ... and 0, 1, ...

    >>> tree = grow(np.array([[1.0], [2.0], [4.0]]), np.array([0, 0, 1]))
    >>> print(export_text(tree, ["length"], ["short", "long"]))
    length <= 3
    |   short (2)
    length > 3
    |   long (1)
    """
    lines, waiting = [], [(0, "")]
    while waiting:
        i, line = waiting.pop()
        lines += [line] if line else []
        pad = "|   " * tree.depth[i]
        if tree.feature[i] == LEAF:
            lines.append(f"{pad}{_leaf_label(tree, i, class_names)} ({tree.n_samples[i]})")
            continue
        name, t = _feature_name(tree, i, feature_names), f"{tree.threshold[i]:.4g}"
        waiting += [(tree.right[i], f"{pad}{name} > {t}"), (tree.left[i], f"{pad}{name} <= {t}")]
    return "\n".join(lines)


def _feature_name(tree, i, names):
    """The name of the feature that node i asks for."""
    f = tree.feature[i]
    return f"x_{f}" if names is None else str(names[f])


def _leaf_label(tree, i, names):
    """The label that leaf i predicts, or its mean."""
    p = tree.value[i]
    if len(p) == 1 and names is None:
        return f"{p[0]:.4g}"
    return str(p.argmax() if names is None else names[p.argmax()])


def tree_layout(tree):
    """x and -depth (m, 2) of the nodes: leaves side by side, parents above the middle of children.

    >>> tree_layout(grow(np.array([[1.0], [2.0]]), np.array([0, 1])))[0]
    array([0.5, 0. ])
    """
    place = np.column_stack([np.zeros(len(tree.depth)), -tree.depth])
    waiting, leaves = [0], 0
    while waiting:
        i = waiting.pop()
        if tree.feature[i] == LEAF:
            place[i, 0], leaves = leaves, leaves + 1
        else:
            waiting += [tree.right[i], tree.left[i]]
    for i in np.flatnonzero(tree.feature != LEAF)[::-1]:
        place[i, 0] = place[[tree.left[i], tree.right[i]], 0].mean()
    return place


# ---------------------------------------------------------------------------------------
# Estimators
# ---------------------------------------------------------------------------------------


@dataclass(eq=False, repr=False, kw_only=True)
class TreeRules:
    """The hyperparameters that trees and forests share: when a node becomes a leaf."""

    criterion: str = "gini"
    max_depth: Any = None
    min_samples_split: Any = 2
    min_samples_leaf: Any = 1
    max_features: Any = None
    random_state: Any = None
    min_impurity_decrease: float = 0.0
    ccp_alpha: float = 0.0

    def growth_rules(self, n, d):
        """The `rules` of `growth` for n samples of d features.

        Raises: ValueError if a hyperparameter is out of its range.

        >>> DecisionTreeClassifier(max_features="sqrt").growth_rules(n=50, d=9)["max_features"]
        3
        """
        criteria = ("squared_error",) if isinstance(self, Regressor) else tuple(IMPURITY)
        check_number("ccp_alpha", self.ccp_alpha, at_least=0)
        return {
            "criterion": check_choice("criterion", self.criterion, criteria),
            "max_depth": _check_depth(self.max_depth),
            "min_samples_split": _count("min_samples_split", self.min_samples_split, n, 2),
            "min_samples_leaf": _count("min_samples_leaf", self.min_samples_leaf, n, 1),
            "min_impurity_decrease": check_number(
                "min_impurity_decrease", self.min_impurity_decrease, at_least=0
            ),
            "max_features": _features(self.max_features, d),
            "rng": check_random_state(self.random_state),
        }


def _check_depth(depth):
    """The largest depth; None for any."""
    if depth is not None and not (
        isinstance(depth, Integral) and not isinstance(depth, bool) and depth >= 1
    ):
        raise ValueError(f"max_depth must be None or an integer >= 1; got {depth!r}")
    return depth


def _count(name, value, n, least):
    """A number of samples, given as such or as a share of n."""
    if isinstance(value, Integral) and not isinstance(value, bool) and value >= least:
        return int(value)
    if isinstance(value, Real) and not isinstance(value, Integral) and 0 < value <= 1:
        return max(least, ceil(value * n))
    raise ValueError(f"{name} must be an integer >= {least} or a share in (0, 1]; got {value!r}")


def _features(value, d):
    """The number of features that a node considers."""
    if value is None:
        return d
    if isinstance(value, str) and value in ("sqrt", "log2"):
        return max(1, int(np.sqrt(d) if value == "sqrt" else np.log2(d)))
    if isinstance(value, Integral) and not isinstance(value, bool) and value >= 1:
        return min(int(value), d)
    if isinstance(value, Real) and not isinstance(value, Integral) and 0 < value <= 1:
        return max(1, int(value * d))
    raise ValueError(
        "max_features must be None, 'sqrt', 'log2', an integer >= 1 or a share in (0, 1]; "
        f"got {value!r}"
    )


@dataclass(eq=False, repr=False, kw_only=True)
class _DecisionTree(TreeRules, Estimator):
    """A tree of labels or of targets."""

    def _keep(self, tree, d, max_features):
        """Keep a tree that was grown on d features, pruned if it is to be."""
        self.tree_ = prune(tree, self.ccp_alpha) if self.ccp_alpha > 0 else tree
        self.max_features_ = max_features
        self.feature_importances_ = feature_importances(self.tree_, d)

    def apply(self, X):
        """The leaf that every sample reaches, a node of `tree_`: (n,)."""
        X = self._check_fitted(X)
        return descend(self.tree_, X)

    def draw(self, ax, feature_names=None, **style):
        """Draw the tree on matplotlib's axes `ax`; return the texts in `style`, node by node."""
        self._require_fit()
        tree, place, texts = self.tree_, tree_layout(self.tree_), []
        labels = getattr(self, "classes_", None)
        for i, (x, y) in enumerate(place):
            for child in (tree.left[i], tree.right[i]):
                if child != LEAF:
                    ax.plot(*zip((x, y), place[child], strict=True), color="0.6", lw=0.9, zorder=1)
            question = f"{_feature_name(tree, i, feature_names)} $\\leq$ {tree.threshold[i]:.3g}"
            leaf = f"{_leaf_label(tree, i, labels)}\n{tree.n_samples[i]}"
            text = leaf if tree.feature[i] == LEAF else question
            box = {"fc": "white", "ec": "0.3", "lw": 0.8, "boxstyle": "round,pad=0.3"}
            look = {"ha": "center", "va": "center", "bbox": box} | style
            texts.append(ax.text(x, y, text, **look))
        for child, answer, side in ((tree.left[0], "yes", "right"), (tree.right[0], "no", "left")):
            if child != LEAF:
                x, y = place[[0, child]].mean(axis=0)  # beside the middle of the line
                ax.text(x, y, f" {answer} ", ha=side, va="bottom", size=style.get("fontsize"))
        ax.set(xlim=(-0.6, place[:, 0].max() + 0.6), ylim=(place[-1, 1] - 0.5, 0.5))
        ax.set_axis_off()
        return texts

    def get_depth(self):
        """The number of questions on the longest path."""
        self._require_fit()
        return int(self.tree_.depth.max())

    def get_n_leaves(self):
        """The number of leaves."""
        self._require_fit()
        return int(np.count_nonzero(self.tree_.feature == LEAF))


@dataclass(eq=False, repr=False, kw_only=True)
class DecisionTreeClassifier(_DecisionTree, ProbabilisticClassifier):
    """A tree of questions x_f <= t, grown by least impurity, with class fractions at its leaves.

    As in scikit-learn, with these differences: of equally good splits the first is taken, where
    scikit-learn draws one; the criterion "error" is new; nodes are numbered level by level; a
    `max_features` above d means d. The parameters splitter, max_leaf_nodes,
    min_weight_fraction_leaf, class_weight and monotonic_cst are absent.

    Parameters
    ----------
    criterion : "gini", "entropy" or "error"
    max_depth : int or None; None for no limit
    min_samples_split : int or float; a node with fewer samples is a leaf; a float is a share of n
    min_samples_leaf : int or float; a split leaves at least so many on each side
    max_features : int, float, "sqrt", "log2" or None; features that a node considers, None for all
    random_state : None, int or Generator; draws those features
    min_impurity_decrease : float; a split lowers the impurity of the whole tree at least by this
    ccp_alpha : float; the price of a leaf when the tree is pruned, 0 for no pruning

    Attributes
    ----------
    classes_ : ndarray of shape (C,)
    n_classes_ : int
    tree_ : Tree
    max_features_ : int
    feature_importances_ : ndarray of shape (d,)
    n_features_in_ : int

    >>> model = DecisionTreeClassifier().fit([[1], [2], [4]], ["low", "low", "high"])
    >>> model.predict([[2.5], [3.5]])
    array(['low', 'high'], dtype='<U4')
    """

    def fit(self, X, y, sample_weight=None):
        """Grow the tree of samples X (n, d) with labels y (n,); return self."""
        samples = check_samples(X)
        self.classes_, k = np.unique(check_labels(y, len(samples)), return_inverse=True)
        self.n_classes_ = len(self.classes_)
        rules = self.growth_rules(*samples.shape)
        tree = grow(samples, k, check_weights(sample_weight, len(samples)), **rules)
        self._keep(tree, samples.shape[1], rules["max_features"])
        return self._remember(X)

    def predict_proba(self, X):
        """The class fractions at the leaf of every sample: (n, C)."""
        leaf = self.apply(X)
        return self.tree_.value[leaf]


@dataclass(eq=False, repr=False, kw_only=True)
class DecisionTreeRegressor(_DecisionTree, Regressor):
    """A tree of questions x_f <= t, grown by least squares, with the mean target at its leaves.

    As in scikit-learn, with the differences of `DecisionTreeClassifier`.

    Parameters
    ----------
    criterion : "squared_error"
    max_depth : int or None; None for no limit
    min_samples_split : int or float; a node with fewer samples is a leaf; a float is a share of n
    min_samples_leaf : int or float; a split leaves at least so many on each side
    max_features : int, float, "sqrt", "log2" or None; features that a node considers, None for all
    random_state : None, int or Generator; draws those features
    min_impurity_decrease : float; a split lowers the impurity of the whole tree at least by this
    ccp_alpha : float; the price of a leaf when the tree is pruned, 0 for no pruning

    Attributes
    ----------
    tree_ : Tree
    max_features_ : int
    feature_importances_ : ndarray of shape (d,)
    n_features_in_ : int

    >>> DecisionTreeRegressor(max_depth=1).fit([[1], [2], [4]], [0, 1, 9]).predict([[2], [3.5]])
    array([0.5, 9. ])
    """

    criterion: str = "squared_error"

    def fit(self, X, y, sample_weight=None):
        """Grow the tree of samples X (n, d) with targets y (n,); return self."""
        samples = check_samples(X)
        targets = check_targets(y, len(samples))
        rules = self.growth_rules(*samples.shape)
        tree = grow(samples, targets, check_weights(sample_weight, len(samples)), **rules)
        self._keep(tree, samples.shape[1], rules["max_features"])
        return self._remember(X)

    def predict(self, X):
        """The mean target at the leaf of every sample: (n,)."""
        leaf = self.apply(X)
        return self.tree_.value[leaf, 0]


@dataclass(eq=False, repr=False, kw_only=True)
class ID3(ProbabilisticClassifier):
    """Quinlan's tree of categories: every distinct number of a feature is a category.

    If a node has not seen the value of a sample in training, its most frequent label is predicted.
    So measured features need a `DecisionTreeClassifier`. For words there is the function `id3`.

    Parameters
    ----------
    max_depth : int or None; questions on a path, None for no limit

    Attributes
    ----------
    classes_ : ndarray of shape (C,)
    root_ : Category
    n_features_in_ : int

    >>> model = ID3().fit([[0, 1], [1, 1], [2, 0], [2, 1]], ["no", "yes", "no", "yes"])
    >>> model.predict([[2, 0], [1, 0]])
    array(['no', 'yes'], dtype='<U3')
    """

    max_depth: Any = None

    def fit(self, X, y):
        """Grow the tree of samples X (n, d), coded categories, with labels y (n,); return self."""
        depth, samples = _check_depth(self.max_depth), check_samples(X)
        self.classes_, k = np.unique(check_labels(y, len(samples)), return_inverse=True)
        self.root_ = id3(samples, k, len(self.classes_), max_depth=depth)
        return self._remember(X)

    def predict_proba(self, X):
        """The class fractions where the walk of every sample ends: (n, C)."""
        samples = self._check_fitted(X)
        return id3_predict(self.root_, samples)
