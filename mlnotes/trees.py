"""Decision trees: questions about one feature at a time, until the label is known.

Contents
    Impurity           class_fractions, gini, entropy, error_rate, variance, split_impurity,
                       multiway_impurity
    The best split     Split, count_splits, contributions, cut_impurities, best_splits, best_split,
                       ObliqueSplit, oblique_split
    Trees              Tree, leaf_of, leaf_boxes, data_thresholds, tree_impurity
    Growing            Rules, Node, growth, node_splits, node_values, grow, tabulate,
                       feature_importances
    Pruning            prune, Pruned, weakest_links, leaves_below, collapse
    Categories         Category, id3, id3_predict
    Showing a tree     tree_layout
    Estimators         TreeRules, DecisionTreeClassifier, DecisionTreeRegressor

Symbols
    X          (n, d)    samples x, one per row
    y          (n,)      their labels; to grow a tree, the class numbers 0 .. C - 1, or targets
    w          (n,)      weights of the samples, None for ones; best_split wants them > 0
    p          (C, ...)  shares p_c = |S_c| / |S| of the classes in a set S of samples
    f, t       int, float  a split: x goes left if x_f <= t, else right
    J          float     the impurity after a split, |S_L|/|S| I(S_L) + |S_R|/|S| I(S_R)
    S          (m, n)    m sets of n samples, as the numbers of these samples; a node is such a set
    features   (d, ...)  the transposed X, or for sets (d, m, n): a row is a feature, to be sorted
    k          int       the number of features that a node draws, None for all
    tree       Tree      m nodes; node 0 is the root, and children have larger numbers than parents
    criterion  str       "gini", "entropy" or "error" for labels, "squared_error" for targets

Notes: MLN "Decision Trees"; REP "Decision Trees", "Impurity Functions", "Entropy", "ID3-Algorithm".
REP writes c for our C, and both P_k and p_k for our p_c.
"""

from collections import defaultdict
from dataclasses import dataclass
from math import inf, nan
from typing import Any, NamedTuple

import numpy as np

from mlnotes.base import (
    ROUNDING,
    Estimator,
    ProbabilisticClassifier,
    Regressor,
    by_rows,
    check_choice,
    check_labels,
    check_number,
    check_random_state,
    check_samples,
    check_targets,
    check_weights,
    floats,
)
from mlnotes.discriminant import regularised_direction
from mlnotes.probability import x_log_y

LEAF = -1  # the feature of a leaf, and the number of a child that does not exist
RIDGE = 1e-6  # added to the scatter of an oblique split, as a share of the total scatter

# =======================================================================================
# The lecture
# =======================================================================================

# --- Impurity --------------------------------------------------------------------------


def class_fractions(y):
    """The shares p_c = |S_c| / |S| of the classes that occur, in sorted order: (C,).

    >>> class_fractions(np.array(["b", "a", "b", "b"]))
    array([0.25, 0.75])
    """
    return np.unique(y, return_counts=True)[1] / len(y)


def gini(p):
    """The Gini impurity G = sum_c p_c (1 - p_c) = 1 - sum_c p_c^2 of shares p (C, ...): (...).

    G is the probability that two samples, drawn with replacement, have different labels.

    >>> float(gini([0.25, 0.75]))
    0.375
    """
    p = floats(p)
    return (p * (1 - p)).sum(axis=0)


def entropy(p):
    """The entropy H = -sum_c p_c ln p_c of shares p (C, ...), with 0 ln 0 = 0: (...).

    >>> float(entropy([0.5, 0.5, 0.0]).round(6))
    0.693147
    """
    p = floats(p)
    return np.abs(np.sum(x_log_y(p, p), axis=0))


def error_rate(p):
    """The share of wrong labels if the most frequent one is predicted, 1 - max_c p_c: (...).

    >>> float(error_rate([0.25, 0.75]))
    0.25
    """
    return 1 - np.max(floats(p), axis=0)


def variance(m):
    """The variance m_2 - m_1^2 of targets whose mean is m_1 and whose mean square is m_2: (...).

    >>> float(variance([1.0, 5.0]))
    4.0
    """
    m = floats(m)
    return m[1] - m[0] ** 2


IMPURITY = {"gini": gini, "entropy": entropy, "error": error_rate, "squared_error": variance}


def split_impurity(y, left, criterion="gini"):
    """The impurity J = |S_L|/|S| I(S_L) + |S_R|/|S| I(S_R), with S_L where `left` (n,) is true.

    >>> float(split_impurity(np.array([0, 1, 1, 1]), np.array([True, True, False, False])))
    0.25

    Errata: trees-14 (REP calls a split optimal if its children have less entropy than the parent).
    """
    left = floats(left) > 0
    J = [np.mean(S) * IMPURITY[criterion](class_fractions(y[S])) for S in (left, ~left)]
    return J[0] + J[1]


def multiway_impurity(x, y, criterion="gini"):
    """The impurity sum_v |S_v|/|S| I(S_v) with a child for each value v of the categories x (n,).

    >>> float(multiway_impurity(np.array(["red", "red", "blue", "green"]), np.array([0, 1, 1, 1])))
    0.25
    """
    children = [x == v for v in np.unique(x)]
    return sum(np.mean(S) * IMPURITY[criterion](class_fractions(y[S])) for S in children)


# --- The best split --------------------------------------------------------------------


class Split(NamedTuple):
    """x_f <= t, and the impurity J of the two children; for m sets each is an array (m,)."""

    feature: int
    threshold: float
    impurity: float


def count_splits(X):
    """The number of splits sum_f (u_f - 1), where feature f has u_f values: (n - 1) d without ties.

    >>> count_splits(np.array([[1.0, 5.0], [2.0, 5.0], [3.0, 6.0]]))
    3
    """
    return sum(len(np.unique(x)) - 1 for x in np.transpose(X))


def contributions(y, w, criterion="gini"):
    """What each sample adds to the sums over a set: its weight, and in the row of its class again.

    A set with the sums n, n_1, ..., n_C has the shares p_c = n_c / n. For targets the rows are w,
    w z and w z^2 with z = y - mean(y): the quotients are the mean and the mean square of z.
    Returns: (1 + C, n), or (3, n) for targets; for several sets y (m, n), an axis more.

    >>> contributions(np.array(["a", "b", "a"]), np.array([1.0, 1.0, 2.0]))
    array([[1., 1., 2.],
           [1., 0., 2.],
           [0., 1., 0.]])
    """
    w = floats(w)
    if criterion == "squared_error":
        y = floats(y)
        z = y - np.sum(w * y, axis=-1, keepdims=True) / np.sum(w, axis=-1, keepdims=True)
        return np.array([w, w * z, w * z * z])
    return np.array([w, *(w * (y == c) for c in np.unique(y))])


@by_rows
def cut_impurities(features, V, criterion="gini"):
    """The impurity J after each cut of each feature, all in one sweep: (d, n - 1).

    `features` (d, n) is the transposed X, and V holds the `contributions` of its samples. Column
    r - 1 is for the cut after r samples, in the order of the feature. Cumulative sums from both
    ends give the first r and the last r samples. Between equal values no threshold fits: J is inf.
    For several sets, the features are (d, m, n), and J is (d, m, n - 1).

    >>> features = np.array([[1.0, 2.0, 4.0], [5.0, 5.0, 3.0]])
    >>> cut_impurities(features, contributions(np.array([0, 0, 1]), np.ones(3))).round(4)
    array([[0.3333, 0.    ],
           [0.    ,    inf]])
    """
    order, x = features.argsort(axis=-1), np.sort(features, axis=-1)
    first = np.arange(V[0].size).reshape(V[0].shape)[..., :1]  # where each set begins in memory
    v = V.reshape(len(V), -1).take(first + order, axis=1)  # (1 + C, d, ..., n)
    L, R = v.cumsum(axis=-1)[..., :-1], v[..., ::-1].cumsum(axis=-1)[..., -2::-1]
    cost = [S[0] * IMPURITY[criterion](S[1:] / S[0]) for S in (L, R)]  # |S| I(S)
    J = (cost[0] + cost[1]) / V[0].sum(axis=-1, keepdims=True)
    return np.where(x[..., :-1] < x[..., 1:], J, inf)


def best_splits(features, y, w, criterion="gini", min_samples_leaf=1):
    """The `Split` of least impurity of each of m sets of n samples: arrays (m,).

    The features are (d, m, n), y and w (m, n). Each side keeps `min_samples_leaf` samples. If no
    threshold fits, the feature is -1.

    >>> features, y = np.array([[[1.0, 2.0], [5.0, 5.0]]]), np.array([[0, 1], [0, 1]])
    >>> best_splits(features, y, np.ones((2, 2)))
    Split(feature=array([ 0, -1]), threshold=array([1.5, nan]), impurity=array([ 0., inf]))
    """
    features, V, r = floats(features), contributions(y, w, criterion), min_samples_leaf
    m, n = y.shape
    J = cut_impurities(features, V, criterion)[..., r - 1 : n - r]
    J = np.moveaxis(J, 0, 1).reshape(m, -1)  # the cuts of a set, feature by feature
    lowest, sums = J.min(axis=1), V.sum(axis=-1)
    before = IMPURITY[criterion](sums[1:] / sums[0])
    equal = J <= (lowest + ROUNDING * before)[:, None]
    f, j = np.divmod(equal.argmax(axis=1), n + 1 - 2 * r)  # the first of the best
    x = np.sort(features[f, np.arange(m)], axis=1)
    low, high = np.take_along_axis(x, np.array([j + r - 1, j + r]).T, axis=1).T
    middle, fits = (low + high) / 2, lowest < inf
    t = np.where(middle < high, middle, low)
    return Split(np.where(fits, f, LEAF), np.where(fits, t, nan), np.maximum(lowest, 0))


def best_split(X, y, w=None, criterion="gini", min_samples_leaf=1):
    """The `Split` of least impurity J among all cuts of all features, or None if no threshold fits.

    Of equally good splits it is the first feature and there the lowest threshold. Each side keeps
    `min_samples_leaf` samples. It takes O(d n log n).

    >>> best_split(np.array([[1.0], [2.0], [4.0]]), np.array([0, 0, 1]))
    Split(feature=0, threshold=3.0, impurity=0.0)

    Errata: trees-12 (REP calls the optimal split NP-hard to find; the smallest tree is).
    Errata: trees-13 (REP says that a split halves the samples; their numbers play no part).
    """
    if len(y) < 2 * min_samples_leaf:
        return None
    X, w = floats(X, np.ones(len(y)) if w is None else w)
    split = best_splits(X.T[:, None], y[None], w[None], criterion, min_samples_leaf)
    f, t, J = (column.item() for column in split)
    return None if f == LEAF else Split(f, t, J)


class ObliqueSplit(NamedTuple):
    """u^T x <= t, and the impurity J of the two children."""

    u: np.ndarray
    threshold: float
    impurity: float


def oblique_split(X, y):
    """The split u^T x <= t of least Gini impurity, u an axis or the Fisher direction of a class.

    The labels y are of two classes or more, and the samples differ.

    >>> split = oblique_split(np.array([[0, 1], [1, 0], [1, 2], [2, 1.0]]), np.array([0, 1, 0, 1]))
    >>> abs(split.u).round(4), split.impurity
    (array([0.7071, 0.7071]), 0.0)
    """
    X, directions = floats(X), list(np.eye(X.shape[1]))
    for c in np.unique(y):
        means = np.array([X[y != c].mean(axis=0), X[y == c].mean(axis=0)])
        D = X - means[(y == c).astype(int)]
        u = regularised_direction(D.T @ D, means, RIDGE * np.sum((X - X.mean(axis=0)) ** 2))
        directions.append(u / (np.linalg.norm(u) or 1.0))
    f, t, J = best_split(X @ np.transpose(directions), y)
    return ObliqueSplit(directions[f], t, J)


# --- Trees -----------------------------------------------------------------------------


class Tree(NamedTuple):
    """The m nodes of a tree, level by level and from left to right."""

    feature: np.ndarray  # (m,), the f of the node's question, -1 at a leaf
    threshold: np.ndarray  # (m,), its t, nan at a leaf
    left: np.ndarray  # (m,), the child for x_f <= t, -1 at a leaf
    right: np.ndarray  # (m,), the child for x_f > t, -1 at a leaf
    value: np.ndarray  # (m, C), the class fractions, or (m, 1), the mean of the targets
    impurity: np.ndarray  # (m,), I(S_v)
    share: np.ndarray  # (m,), n_v / n, the node's share of the weight of all training samples
    n_samples: np.ndarray  # (m,), the number of training samples that reach the node
    depth: np.ndarray  # (m,), 0 at the root


def leaf_of(tree, X, steps=None):
    """The leaf that each sample reaches, or its node after so many `steps` from the root: (n,).

    >>> tree = grow(np.array([[1.0], [2.0], [4.0]]), np.array([0, 0, 1]))
    >>> leaf_of(tree, np.array([[2.9], [3.0], [3.1]]))
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
    """The corners of each node's box in R^d, the points with low < x <= high: low and high, (m, d).

    >>> [x.ravel() for x in leaf_boxes(grow(np.array([[1.0], [2.0]]), np.array([0, 1])), d=1)]
    [array([-inf, -inf,  1.5]), array([inf, 1.5, inf])]
    """
    m = len(tree.feature)
    low, high = np.full((m, d), -inf), np.full((m, d), inf)
    for v in np.flatnonzero(tree.feature != LEAF):
        children, f = [tree.left[v], tree.right[v]], tree.feature[v]
        low[children], high[children] = low[v], high[v]
        high[tree.left[v], f] = low[tree.right[v], f] = tree.threshold[v]
    return low, high


def data_thresholds(tree, X):
    """The `Tree` with each t lowered to the largest x_f among the samples of X that go left.

    >>> X = np.array([[1.0], [2.0], [4.0]])
    >>> data_thresholds(grow(X, np.array([0, 0, 1])), X).threshold
    array([ 2., nan, nan])
    """
    threshold = np.where(tree.feature == LEAF, nan, -inf)
    for depth in range(tree.depth.max()):
        node, child = leaf_of(tree, X, depth), leaf_of(tree, X, depth + 1)
        rows = np.flatnonzero((node != child) & (tree.left[node] == child))
        np.maximum.at(threshold, node[rows], X[rows, tree.feature[node[rows]]])
    return tree._replace(threshold=threshold)


def tree_impurity(tree):
    """The impurity of the subtree below each node, the weighted mean of its leaves' impurity: (m,).

    >>> tree_impurity(grow(np.array([[0.0], [0], [1]]), np.array([0, 1, 1]))).round(4)
    array([0.3333, 0.5   , 0.    ])
    """
    impurity = tree.impurity.copy()
    for v in np.flatnonzero(tree.feature != LEAF)[::-1]:
        children = [tree.left[v], tree.right[v]]
        impurity[v] = tree.share[children] / tree.share[v] @ impurity[children]
    return impurity


# --- Growing ---------------------------------------------------------------------------


@dataclass(eq=False, repr=False, kw_only=True)
class Rules:
    """How a tree grows: its impurity, and when a node becomes a leaf."""

    criterion: str = "gini"
    max_depth: Any = None  # a node so deep is a leaf
    min_samples_split: int = 2  # a node with fewer samples is a leaf
    min_samples_leaf: int = 1  # a split leaves so many samples on each side


WHOLE = Rules()  # no leaf is impure, unless its inputs are equal


class Node(NamedTuple):
    """A node of a growing tree: its samples and its question."""

    place: int  # 1 for the root; the children of place v have the places 2 v and 2 v + 1
    samples: np.ndarray  # (n_v,), their numbers
    feature: int = LEAF
    threshold: float = nan
    tree: int = 0  # the number of its tree, if several grow

    @property
    def depth(self):
        """The number of questions above the node."""
        return self.place.bit_length() - 1


def growth(X, y, w=None, rules=WHOLE, k=None, rng=None):
    """Grow a tree from the root: each node takes its best split, the largest nodes first.

    A node is a leaf if its labels are equal, or all its inputs, or if one of the `rules` says so. A
    split without any gain is allowed, since XOR needs it. With `k`, each node considers k features
    only, which `rng` draws. With weights w (m, n), m trees grow side by side. All nodes of one size
    are split at once: their children are smaller.

    Yields: a `Node` each.

    >>> nodes = growth(np.array([[1.0], [2.0], [4.0]]), np.array([0, 0, 1]))
    >>> [(node.place, node.samples.tolist(), node.threshold) for node in nodes]
    [(1, [0, 1, 2], 3.0), (2, [0, 1], nan), (3, [2], nan)]

    Errata: trees-15 (REP's block does not return the node, and tests s > t in place of x_f > t).
    """
    W = np.atleast_2d(np.ones(len(y)) if w is None else floats(w))
    features = np.ascontiguousarray(floats(X).T)
    enough = max(rules.min_samples_split, 2 * rules.min_samples_leaf)
    deepest = inf if rules.max_depth is None else 2**rules.max_depth
    waiting = defaultdict(list)  # the place, the samples and the tree of nodes, by their size
    for b, root in enumerate(map(np.flatnonzero, W)):
        waiting[len(root)].append((1, root, b))
    while waiting:
        place, samples, tree = zip(*waiting.pop(max(waiting)), strict=True)
        S, T = np.array(samples), np.array(tree)[:, None]  # (m, n), (m, 1)
        asks = (y[S] != y[S[:, :1]]).any(axis=1) & (S.shape[1] >= enough)
        asks &= [v < deepest for v in place]
        f, t = np.full(len(S), LEAF), np.full(len(S), nan)
        if asks.any():
            at = S[asks]
            f[asks], t[asks], _ = node_splits(features, at, y[at], W[T[asks], at], rules, k, rng)
        yield from map(Node, place, samples, f.tolist(), t.tolist(), tree)
        left = features[f[:, None], S] <= t[:, None]
        for v in np.flatnonzero(f != LEAF).tolist():
            for side, i in enumerate((S[v, left[v]], S[v, ~left[v]])):
                waiting[len(i)].append((2 * place[v] + side, i, tree[v]))


def node_splits(features, S, y, w, rules, k=None, rng=None):
    """The best `Split` of each of m nodes S among k features that `rng` draws for it: arrays (m,).

    None stands for all. A node whose k features cannot be split tries k others. The feature is -1
    if the `rules` leave no split. The `features` are (d, N), y and w (m, n) belong to S.

    >>> node_splits(np.ones((1, 2)), np.array([[0, 1]]), np.array([[0, 1]]), np.ones((1, 2)), WHOLE)
    Split(feature=array([-1]), threshold=array([nan]), impurity=array([inf]))
    """
    d, m = len(features), len(S)
    params = rules.criterion, rules.min_samples_leaf
    if k is None or k == d:
        return best_splits(features[:, S], y, w, *params)
    drawn = rng.permuted(np.tile(np.arange(d), (m, 1)), axis=1)
    f, t, J = np.full(m, LEAF), np.full(m, nan), np.full(m, inf)
    for start in range(0, d, k):
        v = np.flatnonzero(f == LEAF)  # the nodes that have no split yet
        if len(v) > 0:
            tried = np.sort(drawn[v, start : start + k], axis=1).T  # (k, nodes)
            j, t[v], J[v] = best_splits(features[tried[..., None], S[v]], y[v], w[v], *params)
            f[v] = np.where(j == LEAF, LEAF, tried[j, np.arange(len(v))])
    return Split(f, t, J)


def node_values(samples, y, w, criterion="gini"):
    """The value, the impurity and the weight of nodes with these `samples`, a list of (n_v,).

    Returns: class fractions (m, C) or means of the targets (m, 1), then (m,) and (m,).

    >>> node_values([np.arange(4)], np.array([0, 0, 1, 0]), np.ones(4))
    (array([[0.75, 0.25]]), array([0.375]), array([4.]))
    """
    i, v = np.concatenate(samples), np.repeat(np.arange(len(samples)), [len(S) for S in samples])
    y_i, w_i = y[i], w[i]
    weight = np.bincount(v, w_i)
    if criterion == "squared_error":
        first = floats(y)[[S[0] for S in samples]]  # so that the mean of equal targets is exact
        mean = first + np.bincount(v, w_i * (y_i - first[v])) / weight
        return mean[:, None], np.bincount(v, w_i * (y_i - mean[v]) ** 2) / weight, weight
    classes = range(max(int(y.max()) + 1, 2))
    p = np.array([np.bincount(v, w_i * (y_i == c)) for c in classes]) / weight
    return p.T, IMPURITY[criterion](p), weight


def grow(X, y, w=None, rules=WHOLE, k=None, rng=None):
    """The `Tree` of samples X (n, d), grown by `rules`; `rng` draws the k features of each node.

    >>> grow(np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]]), np.array([0, 1, 1, 0])).feature
    array([ 0,  1,  1, -1, -1, -1, -1])
    """
    w = np.ones(len(y)) if w is None else w
    return tabulate(growth(X, y, w, rules, k, rng), y, w, rules)


def tabulate(nodes, y, w, rules=WHOLE):
    """The `Tree` of the `nodes` that `growth` yields by the `rules`: a table, with their values.

    >>> tabulate([Node(1, np.arange(3))], np.array([0, 1, 1]), np.ones(3)).value.round(4)
    array([[0.3333, 0.6667]])
    """
    nodes = sorted(nodes)  # by their places: level by level
    place, samples, feature, threshold, _ = zip(*nodes, strict=True)
    number = {v: row for row, v in enumerate(place)}
    left, right = ([number.get(2 * v + side, LEAF) for v in place] for side in (0, 1))
    value, impurity, weight = node_values(samples, y, w, rules.criterion)
    size, depth = [len(i) for i in samples], [node.depth for node in nodes]
    question = map(np.array, (feature, threshold, left, right))
    return Tree(*question, value, impurity, weight / weight[0], np.array(size), np.array(depth))


def feature_importances(tree, d):
    """The share of each feature in what all questions gain, 0 without any: (d,).

    A question gains R_v - R_left - R_right with R_v = n_v/n I(S_v).

    >>> feature_importances(grow(np.array([[0.0, 1.0], [0.0, 2.0]]), np.array([0, 1])), 2)
    array([0., 1.])
    """
    R, v = tree.share * tree.impurity, np.flatnonzero(tree.feature != LEAF)
    gain = np.maximum(R[v] - R[tree.left[v]] - R[tree.right[v]], 0)
    total = np.bincount(tree.feature[v], gain, minlength=d)
    return total / (total.sum() or 1.0)


# --- Pruning ---------------------------------------------------------------------------


def prune(tree, alpha):
    """The subtree of least cost R + alpha |leaves|, R its impurity; of equals the smallest.

    >>> tree = grow(np.array([[0.0], [1], [2]]), np.array([0, 1, 0]))
    >>> [len(prune(tree, alpha).feature) for alpha in (0.0, 0.2, 0.3)]
    [5, 5, 1]
    """
    is_leaf = tree.feature == LEAF
    as_leaf = tree.share * tree.impurity + alpha  # what each node costs as a leaf
    least = as_leaf.copy()  # the least cost of what is left below a node
    for v in np.flatnonzero(~is_leaf)[::-1]:  # children before parents
        least[v] = least[tree.left[v]] + least[tree.right[v]]
        if as_leaf[v] <= least[v] * (1 + ROUNDING):  # no more than its two sides
            least[v], is_leaf[v] = as_leaf[v], True
    return collapse(tree, is_leaf)


class Pruned(NamedTuple):
    """A tree of the pruning path."""

    tree: Tree
    alpha: float  # from this alpha on it is the best subtree
    objective: float  # its impurity R


def weakest_links(tree):
    """The pruning path: cut where g(v) = (R_v - R(T_v)) / (|T_v| - 1) is least, again and again.

    R_v = n_v/n I(S_v), R(T_v) is the impurity of the subtree below v, and |T_v| the number of its
    leaves. From alpha = g(v) on, v as a leaf costs no more than this subtree. Yields: a `Pruned`
    each, from the whole tree at alpha = 0 to the root alone.

    >>> tree = grow(np.array([[0.0], [1], [2], [3]]), np.array([0, 1, 1, 0]))
    >>> [(len(step.tree.feature), float(step.alpha)) for step in weakest_links(tree)]
    [(5, 0.0), (1, 0.25)]
    """
    alpha = 0.0
    while True:
        R, R_below = tree.share * tree.impurity, tree.share * tree_impurity(tree)
        yield Pruned(tree, alpha, R_below[0])
        inner = tree.feature != LEAF
        if not inner.any():
            return
        g = np.full(len(R), inf)  # leaves are not cut
        g[inner] = (R - R_below)[inner] / (leaves_below(tree)[inner] - 1)
        alpha = max(alpha, g.min())
        tree = collapse(tree, ~inner | (g <= alpha * (1 + ROUNDING)))  # the weakest become leaves


def leaves_below(tree):
    """The number of leaves |T_v| of the subtree below each node: (m,).

    >>> leaves_below(grow(np.array([[0.0], [1], [2]]), np.array([0, 1, 0])))
    array([3, 1, 2, 1, 1])
    """
    count = np.ones(len(tree.feature), dtype=int)
    for v in np.flatnonzero(tree.feature != LEAF)[::-1]:
        count[v] = count[tree.left[v]] + count[tree.right[v]]
    return count


def collapse(tree, is_leaf):
    """The `Tree` without the nodes below those that become leaves; `is_leaf` is (m,).

    >>> collapse(grow(np.array([[0.0], [1], [2]]), np.array([0, 1, 0])), np.arange(5) > 0).feature
    array([ 0, -1, -1])
    """
    is_leaf = is_leaf | (tree.feature == LEAF)
    kept = np.arange(len(is_leaf)) == 0  # the root
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


# --- Categories ------------------------------------------------------------------------


class Category(NamedTuple):
    """A node of a tree of categories."""

    feature: int  # the attribute asked for, -1 at a leaf
    children: dict  # a `Category` for each of its values
    p: np.ndarray  # (C,), the class fractions


def id3(X, y, C=None, max_depth=None):
    """The root of Quinlan's ID3: the attribute of least child entropy, a child for each value.

    X (n, d) holds categories of any kind, y the class numbers 0 .. C - 1. The tree has at most
    `max_depth` levels of questions. Of equals the first is taken. Returns: a `Category`.

    >>> root = id3(np.array([["sun", "dry"], ["sun", "wet"], ["rain", "dry"]]), np.array([1, 1, 0]))
    >>> root.feature, sorted(root.children)
    (0, ['rain', 'sun'])
    """
    C = int(y.max()) + 1 if C is None else C
    p = np.bincount(y, minlength=C) / len(y)
    useful = np.flatnonzero((X != X[0]).any(axis=0))  # the attributes that are not all equal
    if (y == y[0]).all() or len(useful) == 0 or max_depth == 0:
        return Category(LEAF, {}, p)
    J = np.array([multiway_impurity(X[:, f], y, "entropy") for f in useful])
    f = useful[np.argmax(J <= J.min() + ROUNDING)].item()  # the first of the best
    deeper = None if max_depth is None else max_depth - 1
    S = {v.item(): X[:, f] == v for v in np.unique(X[:, f])}
    return Category(f, {v: id3(X[S[v]], y[S[v]], C, deeper) for v in S}, p)


def id3_predict(root, X):
    """The class fractions of the leaf, or of the last node with the sample's value: (n, C).

    >>> root = id3(np.array([["a"], ["b"], ["b"]]), np.array([0, 1, 1]))
    >>> id3_predict(root, np.array([["c"]])).round(4)
    array([[0.3333, 0.6667]])
    """
    P = []
    for x in X.tolist():
        node = root
        while node.feature != LEAF and x[node.feature] in node.children:
            node = node.children[x[node.feature]]
        P.append(node.p)
    return np.array(P)


# --- Showing a tree --------------------------------------------------------------------


def tree_layout(tree):
    """x and -depth (m, 2) of the nodes: leaves side by side, parents above the middle of children.

    >>> tree_layout(grow(np.array([[1.0], [2.0]]), np.array([0, 1])))[0]
    array([0.5, 0. ])
    """
    place = np.column_stack([np.zeros(len(tree.depth)), 0 - floats(tree.depth)])
    waiting, leaves = [0], 0
    while waiting:
        v = waiting.pop()
        if tree.feature[v] == LEAF:
            place[v, 0], leaves = leaves, leaves + 1
        else:
            waiting += [tree.right[v], tree.left[v]]
    for v in np.flatnonzero(tree.feature != LEAF)[::-1]:
        place[v, 0] = place[[tree.left[v], tree.right[v]], 0].mean()
    return place


# =======================================================================================
# The estimators
# =======================================================================================


@dataclass(eq=False, repr=False, kw_only=True)
class TreeRules(Rules):
    """The hyperparameters that trees and forests share: the rules of growth, and three more."""

    max_features: Any = None
    random_state: Any = None
    ccp_alpha: float = 0.0

    def features_drawn(self, d):
        """The number k of d features that a node considers; all hyperparameters are checked first.

        Raises: ValueError if a hyperparameter is out of its range.
        """
        labels = "gini", "entropy", "error"
        kinds = ("squared_error",) if isinstance(self, Regressor) else labels
        check_choice("criterion", self.criterion, kinds)
        if self.max_depth is not None:
            check_number("max_depth", self.max_depth, at_least=1, integer=True)
        check_number("min_samples_split", self.min_samples_split, at_least=2, integer=True)
        check_number("min_samples_leaf", self.min_samples_leaf, at_least=1, integer=True)
        check_number("ccp_alpha", self.ccp_alpha, at_least=0)
        if self.max_features is None or isinstance(self.max_features, str):
            rule = check_choice("max_features", self.max_features, (None, "sqrt"))
            return int(np.sqrt(d)) if rule else d
        return min(check_number("max_features", self.max_features, at_least=1, integer=True), d)


@dataclass(eq=False, repr=False, kw_only=True)
class _DecisionTree(TreeRules, Estimator):
    """A tree of labels or of targets."""

    def _grow(self, X, y, w):
        """Grow a tree by these rules, and keep it."""
        k = self.features_drawn(X.shape[1])
        tree = grow(X, y, w / w.max(), self, k, check_random_state(self.random_state))
        self._keep(tree, X.shape[1], k)

    def _keep(self, tree, d, max_features):
        """Keep a tree that was grown on d features, pruned if it is to be."""
        self.tree_ = prune(tree, self.ccp_alpha) if self.ccp_alpha > 0 else tree
        self.max_features_ = max_features
        self.feature_importances_ = feature_importances(self.tree_, d)

    def apply(self, X):
        """The leaf that every sample reaches, a node of `tree_`: (n,)."""
        X = self._check_fitted(X)
        return leaf_of(self.tree_, X)

    def draw(self, ax, feature_names=None, number=".3g", **style):
        """Draw the tree on matplotlib's axes `ax`; return the texts in `style`, node by node."""
        self._require_fit()
        tree, place, texts = self.tree_, tree_layout(self.tree_), []
        names, inner = getattr(self, "classes_", None), tree.feature != LEAF
        for v, said in enumerate(np.where(inner, tree.threshold, tree.value[:, 0])):
            text, f = f"{said:{number}}".replace("-", "\N{MINUS SIGN}"), tree.feature[v]
            if inner[v]:
                text = f"{f'x_{f}' if feature_names is None else feature_names[f]} ≤ {text}"
                ends = place[[tree.left[v], v, tree.right[v]]]
                ax.plot(*ends.T, color="0.6", lw=0.9, zorder=1)
            else:
                label = text if names is None else names[tree.value[v].argmax()]
                text = f"{label}\nn = {tree.n_samples[v]}"
            box = {"fc": "white", "ec": "0.3", "lw": 0.8, "boxstyle": "round,pad=0.3"}
            look = {"ha": "center", "va": "center", "bbox": box} | style
            texts.append(ax.text(*place[v], text, **look))
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
    `max_features` above d means d; counts are no shares of n or d. The parameters splitter,
    max_leaf_nodes, min_weight_fraction_leaf, class_weight and monotonic_cst are absent.

    Parameters
    ----------
    criterion : "gini", "entropy" or "error"
    max_depth : int or None; None for no limit
    min_samples_split : int; a node with fewer samples is a leaf
    min_samples_leaf : int; a split leaves at least so many on each side
    max_features : int, "sqrt" or None; features that a node considers, None for all
    random_state : None, int or Generator; draws those features
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
        y, w = check_labels(y, len(samples)), check_weights(sample_weight, len(samples))
        samples, y, w = samples[w > 0], y[w > 0], w[w > 0]
        self.classes_, c = np.unique(check_labels(y, len(y)), return_inverse=True)
        self.n_classes_ = len(self.classes_)
        self._grow(samples, c, w)
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
    Those of `DecisionTreeClassifier`.

    Attributes
    ----------
    Those of `DecisionTreeClassifier`, but for classes.

    >>> DecisionTreeRegressor(max_depth=1).fit([[1], [2], [4]], [0, 1, 9]).predict([[2], [3.5]])
    array([0.5, 9. ])
    """

    criterion: str = "squared_error"

    def fit(self, X, y, sample_weight=None):
        """Grow the tree of samples X (n, d) with targets y (n,); return self."""
        samples = check_samples(X)
        y, w = check_targets(y, len(samples)), check_weights(sample_weight, len(samples))
        self._grow(samples, y, w)
        return self._remember(X)

    def predict(self, X):
        """The mean target at the leaf of every sample: (n,)."""
        leaf = self.apply(X)
        return self.tree_.value[leaf, 0]
