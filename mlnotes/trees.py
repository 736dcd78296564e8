"""Decision trees: questions about one feature at a time, until the answer is plain.

A tree asks whether a feature is at most a threshold, and goes left or right; at a leaf it says what
the training samples there had for labels. The smallest tree without error is hard to find, the
best single question is not: so the tree is grown from the root, one best split after the other.

Contents
    Impurity              class_fractions, gini, entropy, split_impurity, multiway_impurity
    The best split        Split, count_splits, best_split, midpoint, ObliqueSplit, oblique_split
    Trees                 Tree, descend, leaf_boxes, data_thresholds, tree_impurity
    Growing               Level, levels, grow, grow_all, feature_importances
    Pruning               prune, Pruned, weakest_links
    Categories            Category, id3, id3_predict
    Showing a tree        export_text, tree_layout
    Estimators            growth_rules, DecisionTreeClassifier, DecisionTreeRegressor, ID3

Symbols
    X        (n, d)    samples x, one per row
    y        (n,)      their labels; where trees are grown, the numbers 0 .. C - 1 of the classes,
                       or the targets of a regression
    w        (n,)      weights of the samples, None for ones; or (T, n), a row for each of T trees
    p        (..., C)  shares p_k = |S_k| / |S| of the classes among some samples S
    f, t     int, float   a split: x goes left if x_f <= t, else right
    tree     Tree      m nodes; node 0 is the root, and children have larger numbers than parents
    criterion  str     "gini" or "entropy", or "squared_error" for targets

Notes: MLN "Decision Trees"; REP "Decision Trees", "Impurity Functions", "Entropy", "ID3-Algorithm".
REP has c for our C and P_k as well as p_k. It sends x_f > t to the right, as here; its words "all
points that have a feature value" leave out which.
"""

from math import ceil, inf
from numbers import Integral, Real
from typing import NamedTuple

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
)
from mlnotes.discriminant import regularised_direction
from mlnotes.probability import x_log_y

__all__ = [
    "class_fractions", "gini", "entropy", "split_impurity", "multiway_impurity", "Split",
    "count_splits", "best_split", "midpoint", "ObliqueSplit", "oblique_split", "Tree", "descend",
    "leaf_boxes", "data_thresholds", "tree_impurity", "Level", "levels", "grow", "grow_all",
    "feature_importances", "prune", "Pruned", "weakest_links", "Category", "id3", "id3_predict",
    "export_text", "tree_layout", "growth_rules", "DecisionTreeClassifier",
    "DecisionTreeRegressor", "ID3",
]  # fmt: skip

SHORT = 2**31  # integers below it are sorted in half the time
LEAF = -1  # the feature of a node that asks nothing, and the number of a child that is not there
TIED = 1e-12  # splits that differ by this share of the node's impurity are equally good
BLOCK = 2**15  # values of samples that are swept at a time: they fit the cache
TOGETHER = 2**16  # samples of the trees that grow together
SMALLEST = np.finfo(float).tiny  # numbers below it lose digits
SLIGHT = 1e-6  # share of the spread that makes the scatter of an oblique split regular


# ---------------------------------------------------------------------------------------
# Impurity
# ---------------------------------------------------------------------------------------


def class_fractions(y, w=None):
    """p_k = |S_k| / |S|, for the classes that occur, sorted; of weighted samples, of the weight.

    >>> class_fractions(np.array(["b", "a", "b", "b"]))
    array([0.25, 0.75])
    """
    _, k = np.unique(y, return_inverse=True)
    size = np.bincount(k, w)
    return size / size.sum()


def gini(p):
    """G = sum_k p_k (1 - p_k) = 1 - sum_k p_k^2.

    It is the probability that two samples, drawn with replacement, are of two classes: 0 where all
    are of one, 1 - 1/C where the C classes are equally frequent.

    >>> float(gini([0.25, 0.75]))
    0.375

    Claims: trees-04
    """
    p = np.asarray(p)
    return np.sum(p * (1 - p), axis=-1)


def entropy(p):
    """H = -sum_k p_k ln p_k, with 0 ln 0 = 0: 0 for one class, ln C for C equally frequent ones.

    Another base of the logarithm multiplies it by a constant, and no split becomes better by that.

    >>> float(entropy([0.5, 0.5, 0.0]).round(6))
    0.693147

    Claims: trees-05
    """
    p = np.asarray(p)
    return np.abs(np.sum(x_log_y(p, p), axis=-1))


IMPURITY = {"gini": gini, "entropy": entropy}


def split_impurity(y, left, criterion="gini"):
    """I(S) = |S_L|/|S| I(S_L) + |S_R|/|S| I(S_R), for S_L where `left` (n,) is true.

    It never exceeds the impurity of S, since I is concave: a decrease does not tell the best split
    from the others, as REP has it (trees-14); the largest decrease does.

    Raises: ValueError if all samples are on one side.

    >>> float(split_impurity(np.array([0, 1, 1, 1]), np.array([True, True, False, False])))
    0.25

    Claims: trees-06
    """
    left = np.asarray(left, dtype=bool)
    if left.all() or not left.any():
        raise ValueError("left must send samples to both sides; got all on one")
    return multiway_impurity(left, y, criterion)


def multiway_impurity(x, y, criterion="gini"):
    """sum_v |S_v|/|S| I(S_v), with a child for every value v of the categories x (n,).

    >>> x, y = np.array(["red", "red", "green", "blue"]), np.array([0, 1, 1, 1])
    >>> float(multiway_impurity(x, y))
    0.25
    """
    impurity = IMPURITY[check_choice("criterion", criterion, tuple(IMPURITY))]
    values, v = np.unique(x, return_inverse=True)
    classes, k = np.unique(y, return_inverse=True)
    size = np.bincount(v * len(classes) + k, minlength=len(values) * len(classes))
    size = size.reshape(len(values), -1)
    n_v = size.sum(axis=1)
    return n_v / n_v.sum() @ impurity(size / n_v[:, None])


# ---------------------------------------------------------------------------------------
# The best split
# ---------------------------------------------------------------------------------------


class Split(NamedTuple):
    """x_f <= t, and the weighted impurity of the two children."""

    feature: int
    threshold: float
    impurity: float


def count_splits(X):
    """sum_f (u_f - 1), with u_f distinct values of feature f: (n - 1) d without ties.

    >>> count_splits(np.array([[1.0, 5.0], [2.0, 5.0], [3.0, 6.0]]))
    3
    """
    ordered = np.sort(X, axis=0)
    return int(np.count_nonzero(ordered[1:] > ordered[:-1]))


def best_split(X, y, w=None, criterion="gini"):
    """The split of least weighted child impurity, by one sweep over every sorted feature.

    Cumulative counts give the impurities of all splits of a feature at once, in O(d n log n)
    altogether: no more than (n - 1) d splits are to be compared. What is NP-hard is the smallest
    tree, not the best split (trees-12). It need not halve the samples (trees-13). Of equally good
    splits it is that of the first feature, and there of the lowest threshold.

    Returns: a `Split`, or None where all inputs are equal.

    >>> best_split(np.array([[1.0], [2.0], [4.0]]), np.array([0, 0, 1]))
    Split(feature=0, threshold=3.0, impurity=0.0)

    Claims: trees-08
    """
    w = check_weights(w, len(X))
    X, y, w = np.asarray(X, dtype=float)[w > 0], np.asarray(y)[w > 0], w[w > 0]
    codes = y if criterion == "squared_error" else np.unique(y, return_inverse=True)[1]
    stump = grow(X, codes, w, criterion=criterion, max_depth=1)
    if len(stump.feature) == 1:
        return _any_split(X)
    share = stump.weight[1:] / stump.weight[0]
    f, t = int(stump.feature[0]), float(stump.threshold[0])
    return Split(f, t, float(share @ stump.impurity[1:]))


def midpoint(a, b):
    """The threshold between the values a < b: their middle, or a where rounding leaves none.

    >>> float(midpoint(1.0, 4.0))
    2.5
    """
    middle = a / 2 + b / 2
    return np.where((a <= middle) & (middle < b), middle, a)


def _any_split(X):
    """The first of the splits of samples that are pure already."""
    varying = np.flatnonzero(np.ptp(X, axis=0) > 0)
    if not len(varying):
        return None
    a, b = np.unique(X[:, varying[0]])[:2]
    return Split(int(varying[0]), float(midpoint(a, b)), 0.0)


class ObliqueSplit(NamedTuple):
    """w^T x <= t, and the weighted impurity of the two children."""

    w: np.ndarray
    threshold: float
    impurity: float


def oblique_split(X, y, criterion="gini"):
    """The best split w^T x <= t among the axes and the Fisher direction of each class.

    The best of all w is hard to find; along the few that are tried, the threshold is the best.

    Returns: an `ObliqueSplit`. Raises: ValueError if all samples are equal.

    >>> X, y = np.array([[0, 1], [1, 0], [1, 2], [2, 1], [2, 3], [3, 2.0]]), [0, 1, 0, 1, 0, 1]
    >>> w, t, impurity = oblique_split(X, np.array(y))
    >>> abs(w).round(4), impurity
    (array([0.7071, 0.7071]), 0.0)
    """
    X, y = np.asarray(X, dtype=float), np.asarray(y)
    if (X == X[0]).all():
        raise ValueError("X must hold samples that differ; all are equal")
    fisher = [_against_the_rest(X, y == c) for c in np.unique(y)]
    W = np.column_stack([np.eye(X.shape[1]), *fisher])
    j, t, impurity = best_split(X @ W, y, criterion=criterion)
    return ObliqueSplit(W[:, j], t, impurity)


def _against_the_rest(X, inside):
    """The unit vector of Fisher's direction of a class; 0 where its mean is that of the rest."""
    if inside.all():
        return np.zeros(X.shape[1])
    means = np.array([X[~inside].mean(axis=0), X[inside].mean(axis=0)])
    D = X - means[inside.astype(int)]
    S_W = D.T @ D
    spread = np.trace(S_W) / len(S_W)
    w = regularised_direction(S_W, means, SLIGHT * spread if spread > 0 else 1.0)
    length = np.linalg.norm(w)
    return w / length if length > 0 else w


# ---------------------------------------------------------------------------------------
# Trees
# ---------------------------------------------------------------------------------------


class Tree(NamedTuple):
    """The m nodes of a tree, level by level.

    Attributes
    ----------
    feature : ndarray of shape (m,); the f of the node's question, -1 at a leaf
    threshold : ndarray of shape (m,); its t, nan at a leaf
    left, right : ndarray of shape (m,); the children for x_f <= t and x_f > t, -1 at a leaf
    value : ndarray of shape (m, C), the class fractions, or (m, 1), the mean of the targets
    impurity : ndarray of shape (m,)
    weight : ndarray of shape (m,); that of the training samples that came by
    n_samples : ndarray of shape (m,); their number
    depth : ndarray of shape (m,); 0 at the root
    """

    feature: np.ndarray
    threshold: np.ndarray
    left: np.ndarray
    right: np.ndarray
    value: np.ndarray
    impurity: np.ndarray
    weight: np.ndarray
    n_samples: np.ndarray
    depth: np.ndarray


def descend(tree, X, levels=None):
    """The leaf that every sample ends in: from the root, left where x_f <= t, else right.

    No more comparisons than the tree is deep, whatever the number of training samples. With
    `levels`, the node after that many steps.

    Returns: (n,), numbers of nodes.

    >>> tree = grow(np.array([[1.0], [2.0], [4.0]]), np.array([0, 0, 1]))
    >>> descend(tree, np.array([[2.9], [3.0], [3.1]]))
    array([1, 1, 2])

    Claims: trees-01
    """
    X = np.ascontiguousarray(X)
    children = np.column_stack([tree.left, tree.right]).ravel()
    node = at = np.zeros(len(X), dtype=int)
    walking, step = np.arange(len(X)), 0
    while step != levels:
        asks = np.flatnonzero(tree.feature.take(at) != LEAF)
        if not len(asks):
            break
        walking, at = walking.take(asks), at.take(asks)
        right = X.take(walking * X.shape[1] + tree.feature.take(at)) > tree.threshold.take(at)
        at = children.take(2 * at + right)
        node[walking] = at
        step += 1
    return node


def leaf_boxes(tree, d):
    """The box of every node in R^d: its samples are those with low < x <= high.

    The boxes of the leaves share out the whole space.

    Returns: low and high, (m, d).

    >>> low, high = leaf_boxes(grow(np.array([[1.0], [2.0]]), np.array([0, 1])), 1)
    >>> low.ravel(), high.ravel()
    (array([-inf, -inf,  1.5]), array([inf, 1.5, inf]))
    """
    m = len(tree.feature)
    low, high = np.full((m, d), -inf), np.full((m, d), inf)
    for i in np.flatnonzero(tree.feature != LEAF):
        children, f = [tree.left[i], tree.right[i]], tree.feature[i]
        low[children], high[children] = low[i], high[i]
        high[tree.left[i], f] = low[tree.right[i], f] = tree.threshold[i]
    return low, high


def data_thresholds(tree, X):
    """The tree with each t lowered to the largest x_f that X sends to the left of it.

    Such thresholds follow every increasing map of a feature, as halves between values do not.

    >>> X = np.array([[1.0], [2.0], [4.0]])
    >>> data_thresholds(grow(X, np.array([0, 0, 1])), X).threshold
    array([ 2., nan, nan])
    """
    threshold = np.where(tree.feature == LEAF, np.nan, -inf)
    for depth in range(tree.depth.max()):
        node, child = descend(tree, X, depth), descend(tree, X, depth + 1)
        rows = np.flatnonzero((node != child) & (tree.left[node] == child))
        np.maximum.at(threshold, node[rows], X[rows, tree.feature[node[rows]]])
    return tree._replace(threshold=threshold)


def tree_impurity(tree):
    """I(S) = |S_L|/|S| I(S_L) + |S_R|/|S| I(S_R), recursively down to the leaves' own.

    Returns: (m,), for the subtree of every node; the first is that of the tree.

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


class Level(NamedTuple):
    """The nodes of a level; the children of those that split are the next: all left ones first.

    Attributes
    ----------
    feature, threshold, value, impurity, weight, n_samples : as those of a `Tree`
    tree : ndarray of shape (m,); the number of the tree that the node is of, 0 if there is but one
    objective : float; weighted impurity of all samples, once these nodes have split
    """

    feature: np.ndarray
    threshold: np.ndarray
    value: np.ndarray
    impurity: np.ndarray
    weight: np.ndarray
    n_samples: np.ndarray
    tree: np.ndarray
    objective: float


class _Data(NamedTuple):
    """The samples, each feature sorted: order[f, r] is the one of rank r, rank[f] the inverse."""

    XT: np.ndarray
    ordered: np.ndarray  # (d, n), the values in that order
    order: np.ndarray
    rank: np.ndarray
    y: np.ndarray
    W: np.ndarray  # (T, n), a row per tree
    unit: bool  # all weights are 1
    criterion: str
    C: int  # 0 for targets


def _sorted(X, y, w, criterion):
    """The `_Data` of the samples that weigh something."""
    X, y = np.asarray(X, dtype=float), np.asarray(y)
    rows = [w] if w is None or np.ndim(w) < 2 else w
    W = np.array([check_weights(row, len(X)) for row in rows])
    y = y.astype(float if criterion == "squared_error" else int)
    C = 0 if criterion == "squared_error" else max(int(y.max()) + 1, 2)  # one column is a mean
    kept = W.any(axis=0)
    if not kept.all():
        X, y, W = X[kept], y[kept], W[:, kept]
    if not C:
        _check_squares(y, W)
    XT = np.ascontiguousarray(X.T)
    order = np.argsort(XT, axis=1)
    ordered = np.take_along_axis(XT, order, axis=1)
    rank = np.empty(order.shape, dtype=np.int32)
    np.put_along_axis(rank, order, np.arange(len(X))[None], axis=1)
    return _Data(XT, ordered, order, rank, y, W, bool((W == 1).all()), criterion, C)


def _check_squares(y, W):
    """That the squares of what targets differ by neither overflow nor vanish, nor do their sums."""
    with np.errstate(over="ignore", under="ignore"):
        spread = np.ptp(y)
        square = spread**2
        fits = spread == 0 or (square >= SMALLEST and np.isfinite(square * W.sum(axis=1)).all())
    if not fits:
        raise ValueError(
            f"y must differ by numbers whose squares can be summed; got {spread:.3g}: scale y"
        )


class _Nodes(NamedTuple):
    """Some nodes: their samples `at`, those of a node side by side, its size and its tree."""

    at: np.ndarray
    sizes: np.ndarray
    tree: np.ndarray


def _roots(W):
    """A node for every tree, with the samples that weigh something in it."""
    tree, at = np.nonzero(W)
    return _Nodes(at, np.bincount(tree, minlength=len(W)), np.arange(len(W)))


def _those(nodes, chosen):
    """The nodes that are `chosen`."""
    at = nodes.at[np.repeat(chosen, nodes.sizes)]
    return _Nodes(at, nodes.sizes[chosen], nodes.tree[chosen])


def _children(data, nodes, feature, threshold):
    """The two children of every node, all left ones first."""
    offset, t = (np.repeat(part, nodes.sizes) for part in (feature * data.XT.shape[1], threshold))
    right = data.XT.take(offset + nodes.at) > t
    segment = np.repeat(np.arange(len(nodes.sizes)), nodes.sizes)
    to_right = np.bincount(segment[right], minlength=len(nodes.sizes))
    at = np.concatenate([nodes.at[~right], nodes.at[right]])
    sizes = np.concatenate([nodes.sizes - to_right, to_right])
    return _Nodes(at, sizes, np.tile(nodes.tree, 2))


class _Sums(NamedTuple):
    """What nodes hold: `totals` (m, C) is the weight of each class, or empty."""

    totals: np.ndarray
    value: np.ndarray
    impurity: np.ndarray
    weight: np.ndarray
    pure: np.ndarray


def _sums(data, nodes):
    """The `_Sums` of the nodes."""
    of = np.repeat(np.arange(len(nodes.sizes)), nodes.sizes)
    y, w = data.y[nodes.at], _weights(data, nodes, of, nodes.at)
    if data.criterion == "squared_error":
        return _target_sums(y, w, of, nodes.sizes)
    return _class_sums(y, w, of, len(nodes.sizes), data.C, IMPURITY[data.criterion])


def _weights(data, nodes, of, rows):
    """What the samples in `rows`, of the nodes `of`, weigh in the trees of these."""
    return data.W.take((nodes.tree * data.W.shape[1])[of] + rows)


def _class_sums(y, w, of, m, C, impurity):
    """The `_Sums` of m nodes, for samples of the classes y in the nodes `of`."""
    totals = np.bincount(of * C + y, w, minlength=m * C).reshape(m, C)
    weight = totals.sum(axis=1)
    p, pure = totals / weight[:, None], np.count_nonzero(totals, axis=1) == 1
    return _Sums(totals, p, impurity(p), weight, pure)


def _target_sums(y, w, of, sizes):
    """The `_Sums` of nodes of these sizes, for samples with the targets y in the nodes `of`."""
    starts = np.cumsum(sizes) - sizes
    low, high = np.minimum.reduceat(y, starts), np.maximum.reduceat(y, starts)
    weight = np.bincount(of, w)
    mean = low + np.bincount(of, w * (y - low[of])) / weight
    spread = np.bincount(of, w * (y - mean[of]) ** 2) / weight
    return _Sums(np.empty((len(sizes), 0)), mean[:, None], spread, weight, low == high)


def levels(
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
):
    """Grow a tree top-down, all nodes of a level at once; or T trees together, for w (T, n).

    A node is a leaf if its labels are equal, or all its inputs, or a rule says so: at `max_depth`,
    with fewer than `min_samples_split` samples, or where no split leaves `min_samples_leaf` on
    both sides or takes `min_impurity_decrease` (in shares of all the weight) from the impurity.
    Every other node takes its best split; one that gains nothing will do, as XOR needs it. With
    `max_features`, a node tries that many features, drawn by `rng`, and where none of them can be
    split, as many others.

    Every feature is sorted once. What is left to sort in a level are integers, rank within node,
    so that cumulative sums along a row meet all splits of all nodes in turn.

    Yields: a `Level` for each depth.
    Raises: ValueError if the criterion is none of the three, or squares of targets overflow.

    >>> for level in levels(np.array([[1.0], [2.0], [4.0]]), np.array([0, 0, 1])):
    ...     print(level.feature, level.threshold, level.n_samples)
    [0] [3.] [3]
    [-1 -1] [nan nan] [2 1]
    """
    check_choice("criterion", criterion, (*IMPURITY, "squared_error"))
    rng, data = check_random_state(rng), _sorted(X, y, w, criterion)
    enough = max(min_samples_split, 2 * min_samples_leaf)
    nodes, everything, depth, leaves = _roots(data.W), data.W.sum(axis=1), 0, 0.0
    while len(nodes.sizes):
        sums, m = _sums(data, nodes), len(nodes.sizes)
        asks = ~sums.pure & (nodes.sizes >= enough) & (depth != max_depth)
        feature, threshold, cost = np.full(m, LEAF), np.full(m, np.nan), sums.weight * sums.impurity
        if asks.any():
            asking = _those(nodes, asks), _Sums(*(s[asks] for s in sums))
            f, t, after = _search(data, *asking, max_features, min_samples_leaf, rng)
            least = min_impurity_decrease * everything[nodes.tree[asks]]
            gain = np.maximum(cost[asks] - after, 0)  # below 0 by rounding only
            kept = (f != LEAF) & (gain >= least - TIED * cost[asks])
            places = np.flatnonzero(asks)[kept]
            feature[places], threshold[places], cost[places] = f[kept], t[kept], after[kept]
        yield Level(
            feature, threshold, sums.value, sums.impurity, sums.weight, nodes.sizes, nodes.tree,
            float((cost.sum() + leaves) / everything.sum()),
        )  # fmt: skip
        splits = feature != LEAF
        leaves += cost[~splits].sum()
        nodes = _children(data, _those(nodes, splits), feature[splits], threshold[splits])
        depth += 1


def _search(data, nodes, sums, max_features, least, rng):
    """Feature, threshold and summed child impurity of the best split of every node.

    A node tries `max_features`, drawn by `rng`, until one of them can be split; with all of them
    constant, and where no split leaves `least` samples on both sides, the feature stays -1.
    """
    d, m = len(data.XT), len(nodes.sizes)
    k = d if max_features is None else min(max_features, d)
    drawn = np.argsort(rng.random((d, m)), axis=0) if k < d else np.arange(d)[:, None].repeat(m, 1)
    feature, threshold, cost = np.full(m, LEAF), np.full(m, np.nan), np.full(m, inf)
    open_ = np.ones(m, dtype=bool)
    for a in range(0, d, k):
        tried = np.sort(drawn[a : a + k, open_], axis=0)
        some = _those(nodes, open_), _Sums(*(s[open_] for s in sums))
        feature[open_], threshold[open_], cost[open_] = _best_splits(data, *some, tried, least)
        open_ = feature == LEAF
        if not open_.any():
            break
    return feature, threshold, cost


def _best_splits(data, nodes, sums, tried, least):
    """The same of the features `tried` (k, m), those of a node in a column.

    They are swept some rows at a time.
    """
    sizes, m, n = nodes.sizes, len(nodes.sizes), len(nodes.at)
    starts = np.cumsum(sizes) - sizes
    segment, everyone = np.repeat(np.arange(m), sizes), np.arange(n)
    place = everyone - starts[segment] + 1
    allowed = (place >= least) & (sizes[segment] - place >= least)
    tie = TIED * sums.weight * sums.impurity
    best, feature, threshold = np.full(m, inf), np.full(m, LEAF), np.full(m, np.nan)
    step = max(1, BLOCK // n)
    for a in range(0, len(tried), step):
        F = tried[a : a + step]
        rows, x = _in_order(data, nodes, F, segment)
        cost = _costs(data, nodes, rows, sums, segment, place)
        cost[:, :-1][(x[:, :-1] == x[:, 1:]) | ~allowed[:-1]] = inf
        cost[:, -1] = inf
        low = _lowest(cost, sums, starts, segment)
        lowest = low.min(axis=0)
        better = lowest < best - np.where(best < inf, tie, 0)
        j = np.argmax(low <= lowest + tie, axis=0)
        hit = cost[j[segment], everyone] <= (lowest + tie)[segment]
        i = np.minimum.reduceat(np.where(hit, everyone, n - 1), starts)
        found = cost[j, i], F[j, np.arange(m)], midpoint(x[j, i], x[j, np.minimum(i + 1, n - 1)])
        best[better], feature[better], threshold[better] = (part[better] for part in found)
    return feature, threshold, best


def _in_order(data, nodes, F, segment):
    """The samples, node by node, sorted by the feature that F (k, m) names; and its values.

    Node and rank make one integer, so that a row is sorted in one go.
    """
    n = data.XT.shape[1]
    place, first = (F * n)[:, segment], segment * n
    key = data.rank.take(place + nodes.at)
    if first[-1] + n < SHORT:
        first = first.astype(np.int32)
    key = key + first
    key.sort(axis=1)
    key -= first
    place += key
    return data.order.take(place), data.ordered.take(place)


def _costs(data, nodes, rows, sums, segment, place):
    """|S_L| I(S_L) + |S_R| I(S_R) after every sample of the rows, in its node."""
    w = None if data.unit else _weights(data, nodes, segment, rows)
    n_L = place if data.unit else _running(w, sums.weight, segment)
    n_R = sums.weight[segment] - n_L
    with np.errstate(divide="ignore", invalid="ignore"):
        if data.criterion == "squared_error":
            return _squared_costs(data.y[rows], w, sums, segment, n_L, n_R)
        return _class_costs(data.y[rows], w, sums, segment, n_L, n_R, data.criterion)


def _lowest(cost, sums, starts, segment):
    """The lowest cost of each node in each row, with `cost` mended where it is none.

    A side whose weight is lost in the rounding of the other's makes it nan: that gains nothing.
    """
    low = np.minimum.reduceat(cost, starts, axis=1)
    if (low > -inf).all():
        return low
    np.copyto(cost, (sums.weight * sums.impurity)[segment], where=~(cost > -inf))
    return np.minimum.reduceat(cost, starts, axis=1)


def _running(values, totals, segment):
    """Cumulative sums along the rows, from the start of every node; `totals` are the nodes'."""
    before = np.cumsum(totals) - totals
    running = np.cumsum(values, axis=1, dtype=float)
    running -= before[segment]
    return running


def _squared_costs(y, w, sums, segment, n_L, n_R):
    """The sums of squares: D - s^2 n / (n_L n_R), with s the sum of w (y - mean) on the left."""
    y = y - sums.value[segment, 0]
    s = _running(y if w is None else w * y, np.zeros(len(sums.weight)), segment)
    s *= s
    s /= n_L * n_R
    s *= -sums.weight[segment]
    s += (sums.weight * sums.impurity)[segment]
    return s


def _class_costs(y, w, sums, segment, n_L, n_R, criterion):
    """sum_k n_k (1 - p_k), or -sum_k n_k ln p_k, of both sides; of two classes G needs but one."""
    C, cost = sums.totals.shape[1], 0.0
    once = criterion == "gini" and C == 2
    for k in range(1, C) if once else range(C):
        own = y == k
        L = _running(own if w is None else own * w, sums.totals[:, k], segment)
        R = sums.totals[segment, k] - L
        cost = _class_cost(L, n_L, criterion) + cost
        cost += _class_cost(R, n_R, criterion)
    return 2 * cost if once else cost


def _class_cost(size, n, criterion):
    """n_k (1 - p_k), or -n_k ln p_k, for n_k = `size`."""
    if criterion == "gini":
        cost = n - size
        cost *= size
        cost /= n
        return cost
    return -size * np.log(np.where(size > 0, size / n, 1.0))


def grow(X, y, w=None, **rules):
    """The tree of all `levels`; with the same arguments, `rules` among them.

    This is the top-down learning that REP calls ID3: with the base cases "labels equal" and "inputs
    equal", and in the recursive case the node (f, t, left, right). REP's block ends without
    returning that node, and tests "s > t" where x_f > t is meant (trees-15). Without further rules
    the training error is 0, unless equal inputs carry different labels.

    Returns: a `Tree`.

    >>> tree = grow(np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]]), np.array([0, 1, 1, 0]))
    >>> tree.feature, tree.value[3:].argmax(axis=1)
    (array([ 0,  1,  1, -1, -1, -1, -1]), array([0, 1, 1, 0]))

    Claims: trees-09
    """
    return _joined(list(levels(X, y, w, **rules)))


def grow_all(X, y, W, **rules):
    """A tree for every row of the weights W (T, n), some grown together; `rules` as in `levels`.

    A bootstrap set is a row of counts: the samples themselves are not copied.

    Returns: a list of `Tree`.

    >>> X, y, W = np.array([[1.0], [2.0], [4.0]]), np.array([0, 1, 1]), [[1, 1, 1], [0, 2, 1]]
    >>> [tree.n_samples.tolist() for tree in grow_all(X, y, W)]
    [[3, 1, 2], [2]]
    """
    step, trees = max(1, TOGETHER // len(X)), []
    rules["rng"] = check_random_state(rules.get("rng"))
    for a in range(0, len(W), step):
        some = np.asarray(W[a : a + step])
        found = list(levels(X, y, some, **rules))
        trees += [_joined([_of(level, t) for level in found]) for t in range(len(some))]
    return trees


def _of(level, t):
    """The nodes of tree t."""
    chosen = level.tree == t
    parts = (part[chosen] for part in level[:-1])
    return Level(*parts, level.objective)


def _joined(found):
    """The `Tree` of these levels."""
    parts = [np.concatenate(part) for part in list(zip(*found, strict=True))[:6]]
    feature, threshold, value, impurity, weight, n_samples = parts
    depth = np.repeat(np.arange(len(found)), [len(level.feature) for level in found])
    left, right, first = np.full(len(feature), LEAF), np.full(len(feature), LEAF), 0
    for level in found:
        splits = first + np.flatnonzero(level.feature != LEAF)
        first += len(level.feature)
        left[splits] = first + np.arange(len(splits))
        right[splits] = left[splits] + len(splits)
    return Tree(feature, threshold, left, right, value, impurity, weight, n_samples, depth)


def feature_importances(tree, d):
    """The share of each feature in the decrease of impurity by all splits; 0 without any.

    Returns: (d,).

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
    """The smallest subtree of least R + alpha |leaves|, with R the impurity of the whole tree.

    From the bottom up, a node becomes a leaf if it costs no more than its two subtrees do together.

    Returns: a `Tree`. Raises: ValueError if alpha < 0.

    >>> tree = grow(np.array([[0.0], [1], [2]]), np.array([0, 1, 0]))
    >>> [len(prune(tree, alpha).feature) for alpha in (0.0, 0.2, 0.3)]
    [5, 5, 1]
    """
    if not alpha >= 0:
        raise ValueError(f"alpha must be >= 0; got {alpha}")
    alone = tree.weight / tree.weight[0] * tree.impurity + alpha
    cost, is_leaf = alone.copy(), tree.feature == LEAF
    for i in np.flatnonzero(~is_leaf)[::-1]:
        cost[i] = cost[tree.left[i]] + cost[tree.right[i]]
        if alone[i] <= cost[i] * (1 + TIED):
            cost[i], is_leaf[i] = alone[i], True
    return _cut(tree, is_leaf)


def _cut(tree, is_leaf):
    """The tree without what is below the leaves."""
    reached = np.zeros(len(is_leaf), dtype=bool)
    reached[0] = True
    for i in np.flatnonzero(~is_leaf):
        reached[[tree.left[i], tree.right[i]]] = reached[i]
    number = np.cumsum(reached) - 1
    cut = tree._replace(
        feature=np.where(is_leaf, LEAF, tree.feature),
        threshold=np.where(is_leaf, np.nan, tree.threshold),
        left=np.where(is_leaf, LEAF, number[tree.left]),
        right=np.where(is_leaf, LEAF, number[tree.right]),
    )
    return Tree(*(part[reached] for part in cut))


class Pruned(NamedTuple):
    """A tree of the pruning path.

    Attributes
    ----------
    tree : Tree
    alpha : float; from this alpha on it is the best subtree
    objective : float; its impurity R
    """

    tree: Tree
    alpha: float
    objective: float


def weakest_links(tree):
    """The pruning path: the node with the least g = (R_node - R_subtree) / (leaves - 1) is cut.

    Yields: `Pruned`, from the whole tree at alpha = 0 to the root alone.

    >>> tree = grow(np.array([[0.0], [1], [2]]), np.array([0, 1, 0]))
    >>> [(len(step.tree.feature), round(step.alpha, 4)) for step in weakest_links(tree)]
    [(5, 0.0), (1, 0.2222)]
    """
    alpha = 0.0
    while True:
        share = tree.weight / tree.weight[0]
        below = share * tree_impurity(tree)
        yield Pruned(tree, alpha, float(below[0]))
        inner = tree.feature != LEAF
        if not inner.any():
            return
        g = (share * tree.impurity - below)[inner] / (_leaves_below(tree)[inner] - 1)
        alpha = max(alpha, float(g.min()))
        is_leaf = ~inner
        is_leaf[np.flatnonzero(inner)[g <= alpha * (1 + TIED)]] = True
        tree = _cut(tree, is_leaf)


def _leaves_below(tree):
    """How many leaves each subtree has."""
    count = np.ones(len(tree.feature), dtype=int)
    for i in np.flatnonzero(tree.feature != LEAF)[::-1]:
        count[i] = count[tree.left[i]] + count[tree.right[i]]
    return count


# ---------------------------------------------------------------------------------------
# Categories
# ---------------------------------------------------------------------------------------


class Category(NamedTuple):
    """A node of a multiway tree; `feature` is -1 at a leaf, `children` go by the value of x_f."""

    feature: int
    children: dict
    p: np.ndarray


def id3(X, y, C=None, max_depth=None):
    """Quinlan's ID3: a node takes the attribute of least child entropy, with a child per value.

    X (n, d) holds categories of any kind, y the numbers 0 .. C - 1 of the classes. A path asks for
    an attribute once, since its value is known from there on, and no more than `max_depth` of them.
    A chain of binary splits gives the same partition.

    Returns: the root, a `Category`. Raises: ValueError if X holds NaN, which equals nothing.

    >>> X = np.array([["sun", "calm"], ["sun", "wind"], ["rain", "calm"], ["rain", "wind"]])
    >>> root = id3(X, np.array([1, 1, 0, 0]))
    >>> root.feature, sorted(root.children)
    (0, ['rain', 'sun'])
    """
    X, y = np.asarray(X), np.asarray(y)
    if (X != X).any():
        raise ValueError("X must hold categories that equal themselves; got NaN")
    C = int(y.max()) + 1 if C is None else C
    hung = {}
    waiting = [(np.arange(len(X)), hung, "root", 0)]
    while waiting:
        rows, siblings, value, depth = waiting.pop()
        f, children = LEAF if depth == max_depth else _attribute(X[rows], y[rows]), {}
        p = np.bincount(y[rows], minlength=C) / len(rows)
        siblings[value] = Category(f, children, p)
        if f != LEAF:
            values, v = np.unique(X[rows, f], return_inverse=True)
            parts = [rows[v == i] for i in range(len(values))]
            waiting += [
                (part, children, each, depth + 1)
                for part, each in zip(parts, values.tolist(), strict=True)
            ]
    return hung["root"]


def _attribute(X, y):
    """The attribute of least weighted child entropy, -1 where there is nothing to ask."""
    varying = np.flatnonzero((X != X[0]).any(axis=0))
    if (y == y[0]).all() or not len(varying):
        return LEAF
    after = np.array([multiway_impurity(X[:, f], y, "entropy") for f in varying])
    return int(varying[np.argmax(after <= after.min() + TIED)])


def id3_predict(root, X):
    """The class fractions at the node of every sample; where a value is new, at its parent.

    Returns: (n, C).

    >>> root = id3(np.array([["a"], ["b"], ["b"]]), np.array([0, 1, 1]))
    >>> id3_predict(root, np.array([["b"], ["c"]])).round(4)
    array([[0.    , 1.    ],
           [0.3333, 0.6667]])
    """
    return np.array([_walk(root, x) for x in np.asarray(X).tolist()])


def _walk(node, x):
    """The class fractions where the walk of x ends."""
    while node.feature != LEAF and x[node.feature] in node.children:
        node = node.children[x[node.feature]]
    return node.p


# ---------------------------------------------------------------------------------------
# Showing a tree
# ---------------------------------------------------------------------------------------


def export_text(tree, feature_names=None, class_names=None):
    """The tree in lines: questions, indented by depth, and what the leaves say.

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
            lines.append(f"{pad}{_says(tree, i, class_names)} ({tree.n_samples[i]})")
            continue
        name, t = _asks(tree, i, feature_names), f"{tree.threshold[i]:.4g}"
        waiting += [(tree.right[i], f"{pad}{name} > {t}"), (tree.left[i], f"{pad}{name} <= {t}")]
    return "\n".join(lines)


def _asks(tree, i, names):
    """The name of the feature of node i."""
    f = tree.feature[i]
    return f"x_{f}" if names is None else str(names[f])


def _says(tree, i, names):
    """The label, or the mean, of leaf i."""
    p = tree.value[i]
    if len(p) == 1 and names is None:
        return f"{p[0]:.4g}"
    return str(p.argmax() if names is None else names[p.argmax()])


def tree_layout(tree):
    """Where to draw the nodes: leaves side by side, parents over the middle of their children.

    Returns: (m, 2), with the depth, negative, in the second column.

    >>> tree_layout(grow(np.array([[1.0], [2.0]]), np.array([0, 1])))
    array([[ 0.5,  0. ],
           [ 0. , -1. ],
           [ 1. , -1. ]])
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


def growth_rules(model, n, d):
    """The `rules` of `levels` that the hyperparameters of an estimator stand for.

    The `model` is a tree, or a forest; it is to be fitted to n samples of d features.

    Raises: ValueError if one of them is not what it must be.

    >>> rules = growth_rules(DecisionTreeClassifier(min_samples_leaf=0.1), n=50, d=3)
    >>> rules["min_samples_leaf"], rules["max_features"]
    (5, 3)
    """
    criteria = ("squared_error",) if isinstance(model, Regressor) else tuple(IMPURITY)
    check_number("ccp_alpha", model.ccp_alpha, at_least=0)
    return {
        "criterion": check_choice("criterion", model.criterion, criteria),
        "max_depth": _check_depth(model.max_depth),
        "min_samples_split": _count("min_samples_split", model.min_samples_split, n, 2),
        "min_samples_leaf": _count("min_samples_leaf", model.min_samples_leaf, n, 1),
        "min_impurity_decrease": check_number(
            "min_impurity_decrease", model.min_impurity_decrease, at_least=0
        ),
        "max_features": _features(model.max_features, d),
        "rng": check_random_state(model.random_state),
    }


class _DecisionTree(Estimator):
    """What trees of labels and of targets have in common."""

    def _grow(self, X, y, w, rules):
        """Keep the tree of the checked samples."""
        tree = grow(X, y, w, **rules)
        self.tree_ = prune(tree, self.ccp_alpha) if self.ccp_alpha > 0 else tree
        self.max_features_ = rules["max_features"]
        self.feature_importances_ = feature_importances(self.tree_, X.shape[1])

    def apply(self, X):
        """The leaf that every sample ends in, a node of `tree_`: (n,)."""
        X = self._check_fitted(X)
        return descend(self.tree_, X)

    def draw(self, ax, feature_names=None, **style):
        """Draw the tree on matplotlib's axes `ax`, x_f <= t to the left; `style` is of the text.

        Returns: the texts, node by node.
        """
        self._require_fit()
        tree, place, texts = self.tree_, tree_layout(self.tree_), []
        labels = getattr(self, "classes_", None)
        for i, (x, y) in enumerate(place):
            for child in (tree.left[i], tree.right[i]):
                if child != LEAF:
                    ax.plot(*zip((x, y), place[child], strict=True), color="0.6", lw=0.9, zorder=1)
            question = f"{_asks(tree, i, feature_names)} $\\leq$ {tree.threshold[i]:.3g}"
            text = _says(tree, i, labels) if tree.feature[i] == LEAF else question
            box = {"fc": "white", "ec": "0.3", "lw": 0.8, "boxstyle": "round,pad=0.3"}
            look = {"ha": "center", "va": "center", "bbox": box} | style
            texts.append(ax.text(x, y, text, **look))
        ax.set(xlim=(-0.6, place[:, 0].max() + 0.6), ylim=(place[-1, 1] - 0.5, 0.5))
        ax.set_axis_off()
        return texts

    def get_depth(self):
        """Questions on the longest path."""
        self._require_fit()
        return int(self.tree_.depth.max())

    def get_n_leaves(self):
        """How many leaves there are."""
        self._require_fit()
        return int(np.count_nonzero(self.tree_.feature == LEAF))


def _check_depth(depth):
    """The largest depth, None for any."""
    if depth is not None and not (isinstance(depth, Integral) and depth >= 1):
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
    """How many features a node tries."""
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


class DecisionTreeClassifier(_DecisionTree, ProbabilisticClassifier):
    """A tree of questions x_f <= t, grown by least impurity, with class fractions at the leaves.

    As scikit-learn's, with these differences: of equally good splits it takes the first, where
    scikit-learn draws one; the nodes are numbered level by level; a `max_features` above d is d.
    The parameters splitter, max_leaf_nodes, min_weight_fraction_leaf, class_weight and
    monotonic_cst are not there.

    Parameters
    ----------
    criterion : "gini" or "entropy"
    max_depth : int or None; None for no limit
    min_samples_split : int or float; a node of fewer samples is a leaf; a share of n if float
    min_samples_leaf : int or float; a split leaves at least so many on each side
    max_features : int, float, "sqrt", "log2" or None; features that a node tries, None for all
    random_state : None, int or Generator; draws those features
    min_impurity_decrease : float; a split takes at least this from the impurity of the whole tree
    ccp_alpha : float; what a leaf costs when the tree is pruned, 0 for no pruning

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

    def __init__(
        self,
        *,
        criterion="gini",
        max_depth=None,
        min_samples_split=2,
        min_samples_leaf=1,
        max_features=None,
        random_state=None,
        min_impurity_decrease=0.0,
        ccp_alpha=0.0,
    ):
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.max_features = max_features
        self.random_state = random_state
        self.min_impurity_decrease = min_impurity_decrease
        self.ccp_alpha = ccp_alpha

    def fit(self, X, y, sample_weight=None):
        """Grow the tree of samples X (n, d) with labels y (n,); return self."""
        samples = check_samples(X)
        rules = growth_rules(self, *samples.shape)
        classes, k = np.unique(check_labels(y, len(samples)), return_inverse=True)
        w = check_weights(sample_weight, len(samples))
        self._grow(samples, k, w, rules)
        self.classes_, self.n_classes_ = classes, len(classes)
        return self._remember(X)

    def predict_proba(self, X):
        """The class fractions at the leaf of every sample: (n, C)."""
        leaf = self.apply(X)
        return self.tree_.value[leaf]


class DecisionTreeRegressor(_DecisionTree, Regressor):
    """A tree of questions x_f <= t, grown by least squares, with the mean target at the leaves.

    As scikit-learn's, with the differences of `DecisionTreeClassifier`.

    Parameters
    ----------
    criterion : "squared_error"
    max_depth : int or None; None for no limit
    min_samples_split : int or float; a node of fewer samples is a leaf; a share of n if float
    min_samples_leaf : int or float; a split leaves at least so many on each side
    max_features : int, float, "sqrt", "log2" or None; features that a node tries, None for all
    random_state : None, int or Generator; draws those features
    min_impurity_decrease : float; a split takes at least this from the impurity of the whole tree
    ccp_alpha : float; what a leaf costs when the tree is pruned, 0 for no pruning

    Attributes
    ----------
    tree_ : Tree
    max_features_ : int
    feature_importances_ : ndarray of shape (d,)
    n_features_in_ : int

    >>> DecisionTreeRegressor(max_depth=1).fit([[1], [2], [4]], [0, 1, 9]).predict([[2], [3.5]])
    array([0.5, 9. ])
    """

    def __init__(
        self,
        *,
        criterion="squared_error",
        max_depth=None,
        min_samples_split=2,
        min_samples_leaf=1,
        max_features=None,
        random_state=None,
        min_impurity_decrease=0.0,
        ccp_alpha=0.0,
    ):
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.max_features = max_features
        self.random_state = random_state
        self.min_impurity_decrease = min_impurity_decrease
        self.ccp_alpha = ccp_alpha

    def fit(self, X, y, sample_weight=None):
        """Grow the tree of samples X (n, d) with targets y (n,); return self."""
        samples = check_samples(X)
        rules = growth_rules(self, *samples.shape)
        targets = check_targets(y, len(samples))
        self._grow(samples, targets, check_weights(sample_weight, len(samples)), rules)
        return self._remember(X)

    def predict(self, X):
        """The mean target at the leaf of every sample: (n,)."""
        leaf = self.apply(X)
        return self.tree_.value[leaf, 0]


class ID3(ProbabilisticClassifier):
    """Quinlan's tree of categories: every distinct number of a feature is a value of its own.

    A value that was not there at training ends the walk, and the label is the most frequent at that
    node: features that are measured, not counted, want a `DecisionTreeClassifier`. Words are for
    the function `id3`.

    Parameters
    ----------
    max_depth : int or None; questions on a path, None for as many as it takes

    Attributes
    ----------
    classes_ : ndarray of shape (C,)
    root_ : Category
    n_features_in_ : int

    >>> model = ID3().fit([[0, 1], [1, 1], [2, 0], [2, 1]], ["no", "yes", "no", "yes"])
    >>> model.predict([[2, 0], [1, 0]])
    array(['no', 'yes'], dtype='<U3')
    """

    def __init__(self, *, max_depth=None):
        self.max_depth = max_depth

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
