"""Ensembles: many classifiers, none of them good, that are right together.

If voters err independently of one another, the majority errs far less than any of them. Trained on
one set of data they do not: bagging and random forests make them differ by chance, AdaBoost by
giving weight to what the others got wrong.

Contents
    Voting               weighted_vote, plurality, majority_error, disagreement
    Three components     ThreeComponents, three_components, tie_break
    Bagging              bootstrap_counts, bagged, variance_of_mean, out_of_bag
    Random forest        random_forest, tree_outputs
    Weak classifiers     weighted_error, Stump, stumps, learner
    AdaBoost             vote_weight, normaliser, reweighted, Round, adaboost, samme, error_bounds
    Estimators           BaggingClassifier, BaggingRegressor, RandomForestClassifier,
                         RandomForestRegressor, AdaBoostClassifier

Symbols
    X       (n, d)    samples x, one per row
    y       (n,)      labels, -1 or +1 where not said otherwise
    h       object    a classifier, with a method ``predict``
    H       (n, T)    outputs of T classifiers, -1 or +1
    D       (n,)      weights of the samples, >= 0, of sum 1
    error   float     weighted error eps = sum_i D_i 1[h(x_i) != y_i]
    gamma   float     edge, 1/2 - eps
    alpha   float     vote weight of a classifier; (T,) of several
    Z       float     normaliser of the new weights
    F       (n,)      votes sum_t alpha_t h_t(x); (n, K) of K classes
    m, T    int       members of the ensemble, drawn and boosted
    I       (m, n)    bootstrap sets, numbers of samples
    k       int       features that a split of a forest considers; also the number of a class
    learn   callable  a weak learner: learn(D) is a classifier h fitted to the samples weighted by D
    rng     Generator draws what is random

Notes: MLN "Bagging Estimate", "Combining Classifier", "Random Forest", "AdaBoost"; REP "Bagging",
"Random Forest", "Boosting"; ISML "AdaBoost". MLN writes B for our m, w_i(m) for D, xi_m for eps and
M for T; ISML has m samples. REP's alpha is twice ours, and the vote weights of `AdaBoostClassifier`
are, too, as scikit-learn has them.
"""

import inspect
import warnings
from itertools import islice
from math import inf
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np

from mlnotes.base import (
    Estimator,
    ProbabilisticClassifier,
    Regressor,
    check_flag,
    check_labels,
    check_number,
    check_random_state,
    check_samples,
    check_targets,
    check_weights,
)
from mlnotes.logistic_regression import softmax
from mlnotes.model_selection import bootstrap_indices, clone
from mlnotes.probability import binomial_log_pmf
from mlnotes.trees import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    Tree,
    descend,
    feature_importances,
    gini,
    grow_all,
    growth_rules,
    midpoint,
    prune,
)

__all__ = [
    "weighted_vote", "plurality", "majority_error", "disagreement", "ThreeComponents",
    "three_components", "tie_break", "bootstrap_counts", "bagged", "variance_of_mean",
    "out_of_bag", "random_forest", "tree_outputs", "weighted_error", "Stump", "stumps", "learner",
    "vote_weight", "normaliser", "reweighted", "Round", "adaboost", "samme", "error_bounds",
    "BaggingClassifier", "BaggingRegressor", "RandomForestClassifier", "RandomForestRegressor",
    "AdaBoostClassifier",
]  # fmt: skip

CHANCE = 1e-12  # errors that differ by less are equal: what rounding leaves of 1/2 is no edge
SEEDS = 2**31  # numbers of a generator that seed a member


# ---------------------------------------------------------------------------------------
# Voting
# ---------------------------------------------------------------------------------------


def weighted_vote(H, alpha=None):
    """H(x) = sign(sum_t alpha_t h_t(x)), with sign(0) = -1; the majority if alpha is None.

    All samples at once it is the sign of the matrix H times the vector alpha.

    >>> H = np.array([[1, -1, -1], [1, 1, -1]])
    >>> weighted_vote(H), weighted_vote(H, alpha=np.array([2.0, 0.5, 0.5]))
    (array([-1.,  1.]), array([1., 1.]))

    Claims: ensemble-01
    """
    F = np.sum(H, axis=1) if alpha is None else H @ alpha
    return np.where(F > 0, 1.0, -1.0)


def plurality(L, alpha=None):
    """argmax_c sum_t alpha_t 1[h_t(x) = c]: the label with most votes, of equals the first.

    L (n, T) holds the outputs, labels of any kind.

    >>> plurality(np.array([["b", "c", "c"], ["c", "b", "a"]]))
    array(['c', 'a'], dtype='<U1')
    """
    classes, k = np.unique(L, return_inverse=True)
    k = k.reshape(np.shape(L))
    alpha = np.ones(k.shape[1]) if alpha is None else alpha
    votes = [(k == c) @ alpha for c in range(len(classes))]
    return classes[np.argmax(votes, axis=0)]


def majority_error(error, T):
    """sum_{k > T/2} C(T, k) eps^k (1 - eps)^{T-k}: how often most of T independent voters err.

    For eps < 1/2 it is less than eps and falls to 0 as T grows; 1/2 stays 1/2; worse gets worse.

    Raises: ValueError if T is even, which leaves ties.

    >>> round(majority_error(0.3, 3), 4)  # 3 eps^2 - 2 eps^3
    0.216

    Claims: ensemble-02
    """
    if T % 2 == 0:
        raise ValueError(f"T must be odd, so that there are no ties; got {T}")
    wrong = np.arange(T // 2 + 1, T + 1)
    return float(np.exp(binomial_log_pmf(wrong, T, error)).sum())


def disagreement(L):
    """The share of the samples on which each two members differ, of outputs L (n, T): (T, T).

    Where it is 0 the vote is that of one member: they must complement each other.

    >>> disagreement(np.array([[1, 1, -1], [1, -1, -1]]))
    array([[0. , 0.5, 1. ],
           [0.5, 0. , 0.5],
           [1. , 0.5, 0. ]])
    """
    return np.array([np.mean(L.T != own, axis=1) for own in L.T])


# ---------------------------------------------------------------------------------------
# Three components
# ---------------------------------------------------------------------------------------


class ThreeComponents(NamedTuple):
    """MLN's ensemble of three classifiers, and the samples that each was trained on."""

    members: tuple  # h_1, h_2, h_3
    samples: tuple  # the numbers of the samples in D_1, D_2, D_3

    def predict(self, X):
        """h_1 where h_1 = h_2, else h_3: (n,).

        >>> h = Stump(0, 1.5, "a", "b")
        >>> ThreeComponents((h, h, h), ()).predict(np.array([[1.0], [2.0]]))
        array(['a', 'b'], dtype='<U1')
        """
        return tie_break(*(h.predict(X) for h in self.members))


def three_components(estimator, X, y, n1, *, rng):
    """MLN's example: every component learns where those before it are of no use.

    D_1 is n1 of the samples, at random. D_2 is one half samples that h_1 gets right and one half
    samples that it gets wrong, as many as there are: on it, h_1 guesses. D_3 is where h_1 and h_2
    differ; if they never do, h_3 is h_1. Each component is a copy of the `estimator`; y holds two
    labels of any kind.

    Returns: `ThreeComponents`.
    Raises: ValueError unless 0 < n1 < n, and if h_1 is right, or wrong, on all of the samples.

    >>> X, y = np.arange(6.0)[:, None], np.array([0, 0, 1, 1, 0, 0])
    >>> stump = DecisionTreeClassifier(max_depth=1)
    >>> ensemble = three_components(stump, X, y, 5, rng=np.random.default_rng(1))
    >>> [len(D) for D in ensemble.samples], ensemble.predict(X)
    ([5, 4, 4], array([0, 0, 1, 1, 0, 0]))

    Claims: ensemble-04
    """
    X, y, n = np.asarray(X, dtype=float), np.asarray(y), len(X)
    if not 0 < n1 < n:
        raise ValueError(f"n1 must be between 1 and n - 1 = {n - 1}; got {n1}")
    D1 = rng.permutation(n)[:n1]
    h1 = _fit(clone(estimator), X[D1], y[D1])
    right = h1.predict(X) == y
    half = min(right.sum(), n - right.sum())
    if half == 0:
        raise ValueError("h_1 must be right on some of the samples and wrong on others")
    D2 = np.concatenate([rng.permutation(np.flatnonzero(s))[:half] for s in (right, ~right)])
    h2 = _fit(clone(estimator), X[D2], y[D2])
    D3 = np.flatnonzero(h1.predict(X) != h2.predict(X))
    h3 = _fit(clone(estimator), X[D3], y[D3]) if len(D3) else h1
    return ThreeComponents((h1, h2, h3), (D1, D2, D3))


def tie_break(h1, h2, h3):
    """What h_1 and h_2 say where they agree, else what h_3 says: the majority of three.

    If `h1` errs at most with e, `h2` at most with e on a law under which h_1 is right half of the
    time, and `h3` at most with e where the two differ, it errs at most with 3 e^2 - 2 e^3.

    >>> tie_break(np.array([1, 1, -1]), np.array([1, -1, 1]), np.array([-1, -1, 1]))
    array([ 1, -1,  1])
    """
    return np.where(h1 == h2, h1, h3)


def _fit(model, X, y):
    """The fitted model; where there is one label only, a stump that always says that."""
    return model.fit(X, y) if (y != y[0]).any() else Stump(0, inf, y[0], y[0])


# ---------------------------------------------------------------------------------------
# Bagging
# ---------------------------------------------------------------------------------------


def bootstrap_counts(n, m, *, rng):
    """How often each of n samples is in each of m bootstrap sets D_b ~ Q^n, Q(x_i | D) = 1/n.

    Given D the sets are independent and of one law, Q^n. So the law of large numbers does hold for
    bagging, but its limit is E_Q[h | D] and not E[h] over data sets (ensemble-10).

    Returns: (m, n); a row sums to n, and is what weights of the samples are to a learner.

    >>> bootstrap_counts(4, 2, rng=np.random.default_rng(0))
    array([[0, 1, 2, 1],
           [3, 1, 0, 0]])
    """
    return _counts(bootstrap_indices(n, m, rng=rng), n)


def _counts(I, n):  # noqa: E741 the matrix of indices
    """How often each of n samples is in each row."""
    return np.array([np.bincount(rows, minlength=n) for rows in I])


def bagged(members, X):
    """h_bag(x) = (1/m) sum_b h_b(x): the mean of what the `members` predict, summed one by one.

    On squared error it is no worse than its members are on average, at every x:

        (h_bag - y)^2 = (1/m) sum_b (h_b - y)^2 - (1/m) sum_b (h_b - h_bag)^2

    What vanishes as m grows is the deviation of the mean from its limit; that of one h_b does not
    depend on m, whatever REP concludes (ensemble-09).

    >>> bagged([Stump(0, 0.0, 1.0, 2.0), Stump(0, 1.0, 1.0, 4.0)], np.array([[0.5], [2.0]]))
    array([1.5, 3. ])

    Claims: ensemble-06
    """
    return sum(h.predict(X) for h in members) / len(members)


def variance_of_mean(variance, correlation, m):
    """rho s^2 + (1 - rho) s^2 / m: the variance of the mean of m members.

    Each has the `variance` s^2, each two the `correlation` rho. Independent training sets leave
    s^2 / m; bootstrap sets are not, and more members help no further than rho s^2.

    >>> variance_of_mean(4.0, 0.5, m=4), variance_of_mean(4.0, 0.0, m=4)
    (2.5, 1.0)
    """
    return correlation * variance + (1 - correlation) * variance / m


def out_of_bag(outputs, counts):
    """For every sample, the mean output of the members whose training set lacks it; else nan.

    `outputs` yields what each member says of all samples, (n,) or (n, K); `counts` (m, n) is how
    often each sample was in its set. It estimates the error on new samples without any of them.

    >>> out_of_bag(iter([np.array([1.0, 2, 3]), np.array([5.0, 6, 7])]), [[0, 1, 2], [0, 3, 0]])
    array([ 3., nan,  7.])
    """
    total, members = 0.0, 0
    for output, count in zip(outputs, counts, strict=True):
        out = np.asarray(count) == 0
        total = total + (out * output.T).T
        members = members + out
    with np.errstate(invalid="ignore"):
        return (total.T / members).T


# ---------------------------------------------------------------------------------------
# Random forest
# ---------------------------------------------------------------------------------------


def random_forest(X, y, m, k, *, rng, **rules):
    """m full trees on bootstrap sets, each split the best among k features that are drawn for it.

    The features are drawn without replacement, so that k <= d, where REP has k >= d
    (ensemble-15); k = sqrt(d) is usual, and k = d is bagging. The labels y are the numbers 0 .. C -
    1 of the classes, or targets; `rules` are those of `trees.levels`. The trees grow together.

    Returns: a list of `trees.Tree`. Raises: ValueError unless 1 <= k <= d.

    >>> X, y = np.array([[0.0, 7], [1, 7], [2, 7], [3, 7]]), np.array([0, 0, 1, 1])
    >>> trees = random_forest(X, y, m=3, k=1, rng=np.random.default_rng(0))
    >>> [tree.n_samples.tolist() for tree in trees]
    [[3, 1, 2], [2], [3, 1, 2]]

    Claims: ensemble-14
    """
    n, d = np.shape(X)
    if not 1 <= k <= d:
        raise ValueError(f"k must be between 1 and d = {d}, drawn without replacement; got {k}")
    return grow_all(X, y, bootstrap_counts(n, m, rng=rng), max_features=k, rng=rng, **rules)


def tree_outputs(trees, X):
    """What the leaves of each of the `trees` say: the most frequent class, or the mean: (n, m).

    The forest says their `plurality`, or their mean. The mean of the class fractions, which
    `RandomForestClassifier` takes, is the same as the votes where all leaves are pure.

    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 0, 1, 1])
    >>> plurality(tree_outputs(random_forest(X, y, m=9, k=1, rng=np.random.default_rng(0)), X))
    array([0, 0, 1, 1])
    """
    said = [tree.value[descend(tree, X)] for tree in trees]
    return np.column_stack([v[:, 0] if v.shape[1] == 1 else v.argmax(axis=1) for v in said])


# ---------------------------------------------------------------------------------------
# Weak classifiers
# ---------------------------------------------------------------------------------------


def weighted_error(y, h, D):
    """eps(h) = sum_i D_i 1[h(x_i) != y_i] / sum_i D_i, for outputs h (n,): ISML (14).

    REP prints sum_i w_i y_i h(x_i) / sum_i w_i, which is 1 - 2 eps (ensemble-31).

    >>> weighted_error(np.array([1, 1, -1]), np.array([1, -1, -1]), np.array([0.5, 0.3, 0.2]))
    0.3
    """
    return float(np.sum(D * (h != y)) / np.sum(D))


class Stump(NamedTuple):
    """The label `left` where x_f <= t, else `right`; of two classes p sign(x_f - t), p = right.

    >>> Stump(0, 1.5, "low", "high").predict(np.array([[1.0], [2.0]]))
    array(['low', 'high'], dtype='<U4')
    """

    feature: int
    threshold: float
    left: Any
    right: Any

    def predict(self, X):
        """The label on the side of each sample: (n,).

        >>> Stump(0, 1.5, -1, 1).predict(np.array([[1.0], [2.0]]))
        array([-1,  1])
        """
        return np.where(X[:, self.feature] <= self.threshold, self.left, self.right)


def stumps(X, y):
    """The weak learner D -> argmin_h eps(h) over all stumps h, those of one label included.

    Every feature is sorted once. In a round, cumulative sums of D along the sorted samples are the
    weights L_k and R_k of class k left and right of every threshold; the best labels for the sides
    are those of most weight, so that all eps = 1 - max_k L_k - max_k R_k are there at once.

    The labels y are of any kind and number. Of equally good stumps it is that of the first feature,
    and there of the lowest threshold. With two classes eps <= 1/2, whatever the weights.

    Returns: learn, of which learn(D) is a `Stump`.

    >>> learn = stumps(np.array([[1.0], [2.0], [4.0]]), np.array([1, -1, 1]))
    >>> learn(np.array([0.2, 0.5, 0.3]))
    Stump(feature=0, threshold=3.0, left=-1, right=1)

    Claims: ensemble-20
    """
    classes, k = np.unique(y, return_inverse=True)
    XT = np.ascontiguousarray(np.transpose(X), dtype=float)
    order = np.argsort(XT, axis=1)
    values = np.take_along_axis(XT, order, axis=1)
    cut = np.ones(order.shape, dtype=bool)
    cut[:, :-1] = values[:, :-1] < values[:, 1:]
    return _Stumps(order, values, cut, classes, k == np.arange(len(classes))[:, None])


class _Stumps(NamedTuple):
    """Samples, each feature sorted, and their classes: the learner of stumps."""

    order: np.ndarray  # (d, n)
    values: np.ndarray  # (d, n)
    cut: np.ndarray  # (d, n), whether a threshold fits behind; behind the last, all are left
    classes: np.ndarray  # (K,)
    own: np.ndarray  # (K, n), whether a sample is of a class

    def __call__(self, D):
        """The stump of least error."""
        W = self.own * (D / np.sum(D))
        right = np.where(self.cut, self._right(W), -inf).ravel()
        f, i = divmod(int(np.argmax(right >= right.max() - CHANCE)), W.shape[1])
        left = np.zeros(W.shape[1], dtype=bool)
        left[self.order[f, : i + 1]] = True
        a, b = self.classes[[np.argmax(W @ side) for side in (left, ~left)]].tolist()
        if left.all():
            return Stump(f, inf, a, a)
        return Stump(f, float(midpoint(*self.values[f, i : i + 2])), a, b)

    def _right(self, W):
        """max_k L_k + max_k R_k, behind every sample."""
        most = np.zeros((2, *self.order.shape))
        for w in W:
            L = w.take(self.order)
            np.cumsum(L, axis=1, out=L)
            np.maximum(most[0], L, out=most[0])
            np.subtract(w.sum(), L, out=L)
            np.maximum(most[1], L, out=most[1])
        return most[0] + most[1]


def learner(estimator, X, y, *, rng=None):
    """The weak learner D -> a copy of the `estimator` fitted to the samples weighted by D.

    One that takes no sample_weight is fitted to n samples drawn with replacement by D: MLN's way.
    What it errs on them is, in expectation, what it errs under D (ensemble-35).

    Returns: learn. Raises: ValueError if such an estimator gets no rng.

    >>> X, y = np.array([[1.0], [2.0], [4.0]]), np.array([1, -1, 1])
    >>> learn = learner(DecisionTreeClassifier(max_depth=1), X, y)
    >>> learn(np.array([0.1, 0.6, 0.3])).predict(X)
    array([-1, -1,  1])
    """
    if rng is None and not _takes_weights(estimator):
        raise ValueError(f"rng must be given: {type(estimator).__name__} takes no sample_weight")
    return _Learner(estimator, X, y, rng)


class _Learner(NamedTuple):
    """The learner that an estimator is."""

    estimator: Any
    X: np.ndarray
    y: np.ndarray
    rng: Any

    def __call__(self, D):
        """A fitted copy."""
        model = _seeded(self.estimator, self.rng)
        if _takes_weights(model):
            return model.fit(self.X, self.y, sample_weight=D)
        rows = _draw(len(self.X), len(self.X), D, self.rng)
        return _fit(model, self.X[rows], self.y[rows])


def _takes_weights(estimator):
    """Whether the `fit` of an estimator takes weights of the samples."""
    return "sample_weight" in inspect.signature(estimator.fit).parameters


def _seeded(estimator, rng):
    """A copy of the estimator, with a seed of its own if it draws."""
    model = clone(estimator)
    if rng is not None and "random_state" in model.get_params():
        model.set_params(random_state=int(rng.integers(SEEDS)))
    return model


def _draw(n, size, w, rng):
    """`size` of n samples, with replacement, by weight."""
    return rng.choice(n, size=size, p=w / w.sum())


# ---------------------------------------------------------------------------------------
# AdaBoost
# ---------------------------------------------------------------------------------------


def vote_weight(error):
    """alpha = 1/2 ln((1 - eps) / eps): the least Z(alpha) = (1 - eps) e^{-alpha} + eps e^alpha.

    Positive for eps < 1/2 only, where ISML says always: 0 at 1/2, and infinite at 0; boosting ends
    at both (ensemble-22). REP takes it twice, which goes with exp(alpha 1[y != h]) and not with the
    exp(-alpha y h) that it prints: the two together make D jump to and fro (ensemble-32).

    >>> vote_weight(0.5), float(vote_weight(0.1).round(4)), float(np.log(3).round(4))
    (np.float64(0.0), 1.0986, 1.0986)

    Claims: ensemble-21
    """
    with np.errstate(divide="ignore"):
        return np.log((1 - error) / np.asarray(error)) / 2


def normaliser(error):
    """Z = 2 sqrt(eps (1 - eps)) = sqrt(1 - 4 gamma^2): what alpha makes of Z(alpha); < 1 off 1/2.

    >>> print(normaliser(0.2), normaliser(0.5))
    0.8 1.0
    """
    return 2 * np.sqrt(error * (1 - error))


def reweighted(D, y, h, alpha):
    """D_{t+1}(i) = D_t(i) exp(-alpha y_i h(x_i)) / Z, and Z = sum_i D_t(i) exp(-alpha y_i h(x_i)).

    Outputs h (n,) that are right lose weight by 1 / (2 (1 - eps)), wrong ones gain by 1 / (2 eps),
    and either then weigh 1/2 together: under the new D, h is a coin.

    >>> D, Z = reweighted(np.full(4, 0.25), np.ones(4), np.array([-1, 1, 1, 1]), vote_weight(0.25))
    >>> D.round(4), round(Z, 4)
    (array([0.5   , 0.1667, 0.1667, 0.1667]), 0.866)

    Claims: ensemble-23
    """
    raw = D * np.exp(-alpha * y * h)
    Z = float(np.sum(raw))
    return raw / Z, Z


class Round(NamedTuple):
    """AdaBoost after a round.

    Attributes
    ----------
    h : object; the classifier of this round, None at the start
    error : float; what it errs under the D of the round before, inf at the start
    alpha : float; its vote weight
    Z : float; the normaliser of D
    D : ndarray of shape (n,); the weights for the next round
    F : ndarray of shape (n,), or (n, K); the votes so far, of y = +1, or of each class
    objective : float; sum_i D_1(i) exp(-y_i F_i), which bounds the training error and is prod_t Z_t
    """

    h: object
    error: float
    alpha: float
    Z: float
    D: np.ndarray
    F: np.ndarray
    objective: float


def adaboost(X, y, learn, w=None):
    """From D_1 = 1/n on: h = learn(D), its error eps and vote alpha, the new D; for t = 1, 2, ...

    The labels y are -1 and +1; D_1 is in the proportions of `w`, if given. The classifier after T
    rounds is sign(sum_t alpha_t h_t(x)), which ISML's procedure leaves out. It is coordinate
    descent on the exponential loss: a round takes the h and alpha that lower it most, and leaves
    the earlier votes alone.

    It ends after a classifier without error, whose infinite vote is replaced by one that outvotes
    all others together, and before one that is no better than chance. Until then every round
    lowers the objective, by the factor Z; to 0 only if the edges stay away from 0 (ensemble-29).

    Yields: the start, then a `Round` each.

    >>> X, y = np.array([[1.0], [2.0], [3.0], [4.0]]), np.array([1, -1, -1, 1])
    >>> rounds = adaboost(X, y, stumps(X, y))
    >>> for state in islice(rounds, 4):
    ...     print(round(state.error, 3), state.D.round(3), np.sign(state.F))
    inf [0.25 0.25 0.25 0.25] [0. 0. 0. 0.]
    0.25 [0.167 0.167 0.167 0.5  ] [ 1. -1. -1. -1.]
    0.167 [0.5 0.1 0.1 0.3] [-1. -1. -1.  1.]
    0.2 [0.312 0.25  0.25  0.188] [ 1. -1. -1.  1.]

    Claims: ensemble-26
    """
    D = check_weights(w, len(X))
    D = D / D.sum()
    F, objective, votes = np.zeros(len(X)), 1.0, 0.0
    yield Round(None, inf, 0.0, 1.0, D, F, objective)
    error = inf
    while error > 0:
        h = learn(D)
        said = h.predict(X)
        error = weighted_error(y, said, D)
        if error >= 1 / 2 - CHANCE:
            return
        alpha = float(vote_weight(error)) if error > 0 else 1 + votes
        D, Z = reweighted(D, y, said, alpha)
        F, votes, objective = F + alpha * said, votes + alpha, objective * Z
        yield Round(h, error, alpha, Z, D, F, objective)


def samme(X, y, learn, w=None, *, learning_rate=1.0):
    """AdaBoost for K classes, whose labels y are of any kind: only chance is now 1 - 1/K.

        alpha = eta (ln((1 - eps) / eps) + ln(K - 1)),   D_i <- D_i exp(alpha 1[h(x_i) != y_i]) / Z

    with eta = `learning_rate`. For K = 2 and eta = 1 the weights and the classifier are those of
    `adaboost`, and alpha twice as large, as in REP. D_1, from `w`, and the two ends are as there.

    Yields: the start, then a `Round` each. Its F (n, K) are the votes for each class, in order; the
    objective is sum_i D_1(i) exp(sum_t alpha_t (1[h_t(x_i) != y_i] - (K - 1)/K)).

    >>> X, y = np.array([[1.0], [2.0], [3.0]]), np.array(["a", "b", "c"])
    >>> for state in islice(samme(X, y, stumps(X, y)), 3):
    ...     print(round(state.alpha, 3), state.D.round(3))
    0.0 [0.333 0.333 0.333]
    1.386 [0.167 0.167 0.667]
    2.303 [0.067 0.667 0.267]
    """
    classes, D = np.unique(y), check_weights(w, len(X))
    D, K = D / D.sum(), len(classes)
    F, objective, votes = np.zeros((len(X), K)), 1.0, 0.0
    yield Round(None, inf, 0.0, 1.0, D, F, objective)
    error = inf
    while error > 0:
        h = learn(D)
        said = h.predict(X)
        error = weighted_error(y, said, D)
        if error >= 1 - 1 / K - CHANCE:
            return
        odds = 2 * vote_weight(error) + np.log(K - 1)
        alpha = learning_rate * float(odds) if error > 0 else 1 + votes
        raw = D * np.exp(alpha * (said != y))
        Z = float(raw.sum())
        D, F, votes = raw / Z, F + alpha * (said[:, None] == classes), votes + alpha
        objective *= Z * float(np.exp(-alpha * (1 - 1 / K)))
        yield Round(h, error, alpha, Z, D, F, objective)


def error_bounds(errors):
    """prod_t Z_t = prod_t sqrt(1 - 4 gamma_t^2) <= exp(-2 sum_t gamma_t^2), after each round.

    Both bound the training error of `adaboost`, from its weighted `errors` (T,). ISML's Z is the
    product; with the Z of one round the second inequality fails (ensemble-30).

    Returns: two arrays (T,).

    >>> Z, bound = error_bounds([0.2, 0.1])
    >>> Z.round(4), bound.round(4)
    (array([0.8 , 0.48]), array([0.8353, 0.6065]))
    """
    errors = np.asarray(errors, dtype=float)
    return np.cumprod(normaliser(errors)), np.exp(-2 * np.cumsum((1 / 2 - errors) ** 2))


# ---------------------------------------------------------------------------------------
# Estimators
# ---------------------------------------------------------------------------------------


class _Committee(Estimator):
    """What bagging and forests have in common: members on bootstrap sets, and their mean."""

    def _sets(self, n, w, rng):
        """The numbers of the samples in each training set; of all of them without bootstrap."""
        m = check_number("n_estimators", self.n_estimators, at_least=1, integer=True)
        size, bootstrap = _size(self.max_samples, n), check_flag("bootstrap", self.bootstrap)
        if check_flag("oob_score", self.oob_score) and not bootstrap:
            raise ValueError("bootstrap must be True where oob_score is; got False")
        if not bootstrap:
            return self._without(n, size, m, w, rng)
        if np.ptp(w) > 0:
            return _draw(n, (m, size), w, rng)
        return rng.integers(n, size=(m, size))

    def _output(self, member, X):
        """What a member says, to be averaged."""
        raise NotImplementedError

    def _mean(self, X):
        """The mean of what the members say, summed one by one."""
        return sum(self._output(h, X) for h in self.estimators_) / len(self.estimators_)

    def _out_of_bag(self, X, sets):
        """The `out_of_bag` means, and for which samples there are any."""
        mean = out_of_bag((self._output(h, X) for h in self.estimators_), _counts(sets, len(X)))
        known = ~np.isnan(mean if mean.ndim == 1 else mean[:, 0])
        if not known.all():
            warnings.warn(
                f"{np.count_nonzero(~known)} samples are in every bootstrap set and have no "
                "out-of-bag prediction: raise n_estimators",
                stacklevel=4,
            )
        return mean, known


def _size(max_samples, n):
    """How many samples a training set has."""
    if max_samples is None:
        return n
    if isinstance(max_samples, Integral) and not isinstance(max_samples, bool) and max_samples >= 1:
        return int(max_samples)
    share = isinstance(max_samples, Real) and not isinstance(max_samples, Integral)
    if share and 0 < max_samples <= 1:
        return max(1, int(max_samples * n))
    raise ValueError(
        f"max_samples must be None, an integer >= 1 or a share in (0, 1]; got {max_samples!r}"
    )


class _CommitteeClassifier(_Committee, ProbabilisticClassifier):
    """A committee that votes."""

    def _output(self, member, X):
        """The class fractions of a member, or its vote where it has none: (n, C)."""
        if not hasattr(member, "predict_proba"):
            return (member.predict(X)[:, None] == self.classes_).astype(float)
        P = np.zeros((len(X), len(self.classes_)))
        P[:, np.searchsorted(self.classes_, member.classes_)] = member.predict_proba(X)
        return P

    def _judge(self, X, y, sets):
        """The out-of-bag attributes."""
        self.oob_decision_function_, known = self._out_of_bag(X, sets)
        said = self.classes_[self.oob_decision_function_[known].argmax(axis=1)]
        self.oob_score_ = float(np.mean(said == y[known])) if known.any() else np.nan

    def predict_proba(self, X):
        """The mean of the members' class fractions: (n, C)."""
        X = self._check_fitted(X)
        return self._mean(X)


class _CommitteeRegressor(_Committee, Regressor):
    """A committee whose mean counts."""

    def _output(self, member, X):
        """What a member predicts: (n,)."""
        return member.predict(X)

    def _judge(self, X, y, sets):
        """The out-of-bag attributes."""
        self.oob_prediction_, known = self._out_of_bag(X, sets)
        f, t = self.oob_prediction_[known], y[known]
        spread = np.sum((t - t.mean()) ** 2) if known.any() else 0.0
        self.oob_score_ = float(1 - np.sum((t - f) ** 2) / spread) if spread > 0 else np.nan

    def predict(self, X):
        """The mean of what the members predict: (n,)."""
        X = self._check_fitted(X)
        return self._mean(X)


def _check_estimator(estimator, default):
    """The estimator to copy; what it must be, has `fit` and `predict`."""
    if estimator is None:
        return default
    if isinstance(estimator, type) or not (
        hasattr(estimator, "fit") and hasattr(estimator, "predict")
    ):
        raise ValueError(f"estimator must be None or have fit and predict; got {estimator!r}")
    return estimator


class _Bagging(_Committee):
    """Bagging of any estimator."""

    def _without(self, n, size, m, w, rng):
        """Sets drawn without replacement."""
        most = np.count_nonzero(w)
        if size > most:
            raise ValueError(
                f"max_samples must be <= {most} without bootstrap, the number of samples that have "
                f"a weight; got {size}"
            )
        p = w / w.sum()
        return np.array([rng.choice(n, size=size, replace=False, p=p) for _ in range(m)])

    def _bag(self, X, y, w, default):
        """Fit a copy of the estimator to every set."""
        self.estimator_ = _check_estimator(self.estimator, default)
        rng = check_random_state(self.random_state)
        sets = self._sets(len(X), w, rng)
        self.estimators_ = [self._member(X, y, rows, rng) for rows in sets]
        self.estimators_samples_ = list(sets)
        if self.oob_score:
            self._judge(X, y, sets)

    def _member(self, X, y, rows, rng):
        """A copy fitted to the samples in these rows, by counts if it takes weights.

        Classifiers may refuse a set that holds one label only; `_fit` does without them.
        """
        model = _seeded(self.estimator_, rng)
        if isinstance(self, ProbabilisticClassifier) and (y[rows] == y[rows[0]]).all():
            return _fit(model, X[rows], y[rows])
        if _takes_weights(model):
            return model.fit(X, y, sample_weight=np.bincount(rows, minlength=len(X)))
        return model.fit(X[rows], y[rows])


class BaggingClassifier(_Bagging, _CommitteeClassifier):
    """A vote of copies of one classifier, each trained on a bootstrap set.

    As scikit-learn's, without max_features, bootstrap_features, warm_start, n_jobs and verbose. The
    mean is of class fractions, or of votes where the members have none; with `sample_weight`, the
    sets are drawn by it.

    Parameters
    ----------
    estimator : classifier or None; what is copied, None for a `DecisionTreeClassifier`
    n_estimators : int
    max_samples : None, int or float; size of a set, None for n, a share of n if float
    bootstrap : bool; draw with replacement
    oob_score : bool; judge it by the samples that the members have not seen
    random_state : None, int or Generator

    Attributes
    ----------
    classes_ : ndarray of shape (C,)
    n_classes_ : int
    estimator_ : classifier; the one that is copied
    estimators_ : list of fitted classifiers; a `Stump` for a set that holds one label only
    estimators_samples_ : list of ndarray; the samples that each was trained on
    oob_score_ : float; accuracy out of bag, if asked for
    oob_decision_function_ : ndarray of shape (n, C); class fractions out of bag, nan for none
    n_features_in_ : int

    >>> X, y = [[0], [1], [2], [3]], ["low", "low", "high", "high"]
    >>> BaggingClassifier(random_state=0).fit(X, y).predict([[0.4], [2.6]])
    array(['low', 'high'], dtype='<U4')
    """

    def __init__(
        self,
        estimator=None,
        n_estimators=10,
        *,
        max_samples=None,
        bootstrap=True,
        oob_score=False,
        random_state=None,
    ):
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.bootstrap = bootstrap
        self.oob_score = oob_score
        self.random_state = random_state

    def fit(self, X, y, sample_weight=None):
        """Train on samples X (n, d) with labels y (n,) of any kind; return self."""
        samples = check_samples(X)
        y = check_labels(y, len(samples))
        w = check_weights(sample_weight, len(samples))
        self.classes_ = np.unique(y)
        self.n_classes_ = len(self.classes_)
        self._bag(samples, y, w, DecisionTreeClassifier())
        return self._remember(X)

    def decision_function(self, X):
        """Scores (n,) for the second of two classes, or (n, C) for each of more.

        They are the mean of the members' own, or of shares, p_1 - p_0 or p, if one has none.
        """
        X = self._check_fitted(X)
        if all(hasattr(h, "decision_function") for h in self.estimators_):
            return sum(h.decision_function(X) for h in self.estimators_) / len(self.estimators_)
        P = self._mean(X)
        return P[:, 1] - P[:, 0] if len(self.classes_) == 2 else P


class BaggingRegressor(_Bagging, _CommitteeRegressor):
    """The mean of copies of one regressor, each trained on a bootstrap set: `bagged`.

    As scikit-learn's, with the differences of `BaggingClassifier`.

    Parameters
    ----------
    estimator : regressor or None; what is copied, None for a `DecisionTreeRegressor`
    n_estimators : int
    max_samples : None, int or float; size of a set, None for n, a share of n if float
    bootstrap : bool; draw with replacement
    oob_score : bool; judge it by the samples that the members have not seen
    random_state : None, int or Generator

    Attributes
    ----------
    estimator_ : regressor; the one that is copied
    estimators_ : list of fitted regressors
    estimators_samples_ : list of ndarray; the samples that each was trained on
    oob_score_ : float; R^2 out of bag, if asked for
    oob_prediction_ : ndarray of shape (n,); predictions out of bag, nan for none
    n_features_in_ : int

    >>> X, y = [[0], [1], [2], [3]], [0, 0, 1, 1]
    >>> BaggingRegressor(random_state=0).fit(X, y).predict([[0], [3]]) > 0.5
    array([False,  True])
    """

    def __init__(
        self,
        estimator=None,
        n_estimators=10,
        *,
        max_samples=None,
        bootstrap=True,
        oob_score=False,
        random_state=None,
    ):
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.bootstrap = bootstrap
        self.oob_score = oob_score
        self.random_state = random_state

    def fit(self, X, y, sample_weight=None):
        """Train on samples X (n, d) with targets y (n,); return self."""
        samples = check_samples(X)
        y = check_targets(y, len(samples))
        w = check_weights(sample_weight, len(samples))
        self._bag(samples, y, w, DecisionTreeRegressor())
        return self._remember(X)


class _Forest(_Committee):
    """Trees on bootstrap sets, grown together."""

    _kind = None  # the class of a tree by itself

    def _without(self, n, size, m, w, rng):
        """All samples, for every tree."""
        if self.max_samples is not None:
            raise ValueError(f"max_samples must be None without bootstrap; got {size}")
        return np.tile(np.arange(n), (m, 1))

    def _plant(self, X, y, w):
        """Grow a tree for every training set; return the sets."""
        rules = growth_rules(self, *X.shape)
        sets = self._sets(len(X), w, rules["rng"])
        W = _counts(sets, len(X)) if self.bootstrap else np.tile(w, (len(sets), 1))
        trees = grow_all(X, y, W, **rules)
        self.max_features_ = rules["max_features"]
        params = {name: getattr(self, name) for name in self._kind().get_params()}
        model = self._kind(**params | {"random_state": None})
        self.estimators_ = [self._as_estimator(model, tree, X.shape[1]) for tree in trees]
        self.estimators_samples_ = list(sets)
        total = sum(h.feature_importances_ for h in self.estimators_)
        self.feature_importances_ = total / total.sum() if total.sum() > 0 else total
        return sets

    def _as_estimator(self, model, tree, d):
        """The tree as a fitted estimator, a copy of `model`."""
        tree = prune(tree, self.ccp_alpha) if self.ccp_alpha > 0 else tree
        return _dressed(clone(model), tree, d, self.max_features_, getattr(self, "classes_", None))


def _dressed(model, tree, d, max_features, classes=None):
    """The tree estimator, as if fitted to d features, that has grown this tree."""
    model.tree_, model.max_features_, model.n_features_in_ = tree, max_features, d
    model.feature_importances_ = feature_importances(tree, d)
    if classes is not None:
        model.classes_, model.n_classes_ = classes, len(classes)
    return model


class RandomForestClassifier(_Forest, _CommitteeClassifier):
    """A vote of trees on bootstrap sets, each split the best among some features: `random_forest`.

    As scikit-learn's: it averages the class fractions at the leaves, which for pure leaves are
    votes. The differences are those of `DecisionTreeClassifier`; warm_start, n_jobs and verbose are
    not there either, and the out-of-bag score leaves out the samples that have no prediction.

    Parameters
    ----------
    n_estimators : int
    criterion : "gini" or "entropy"
    max_depth : int or None; None for no limit
    min_samples_split : int or float; a node of fewer samples is a leaf; a share of n if float
    min_samples_leaf : int or float; a split leaves at least so many on each side
    max_features : int, float, "sqrt", "log2" or None; features that a node tries, None for all
    min_impurity_decrease : float; a split takes at least this from the impurity of the whole tree
    bootstrap : bool; False for all samples, for every tree
    oob_score : bool; judge it by the samples that the trees have not seen
    random_state : None, int or Generator
    ccp_alpha : float; what a leaf costs when the trees are pruned, 0 for no pruning
    max_samples : None, int or float; size of a set, None for n, a share of n if float

    Attributes
    ----------
    classes_ : ndarray of shape (C,)
    n_classes_ : int
    estimators_ : list of fitted DecisionTreeClassifier
    estimators_samples_ : list of ndarray; the samples that each was grown on
    max_features_ : int
    feature_importances_ : ndarray of shape (d,); the mean of those of the trees
    oob_score_ : float; accuracy out of bag, if asked for
    oob_decision_function_ : ndarray of shape (n, C); class fractions out of bag, nan for none
    n_features_in_ : int

    >>> X, y = [[0], [1], [2], [3]], ["low", "low", "high", "high"]
    >>> RandomForestClassifier(random_state=0).fit(X, y).predict([[0.4], [2.6]])
    array(['low', 'high'], dtype='<U4')
    """

    _kind = DecisionTreeClassifier

    def __init__(
        self,
        n_estimators=100,
        *,
        criterion="gini",
        max_depth=None,
        min_samples_split=2,
        min_samples_leaf=1,
        max_features="sqrt",
        min_impurity_decrease=0.0,
        bootstrap=True,
        oob_score=False,
        random_state=None,
        ccp_alpha=0.0,
        max_samples=None,
    ):
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.max_features = max_features
        self.min_impurity_decrease = min_impurity_decrease
        self.bootstrap = bootstrap
        self.oob_score = oob_score
        self.random_state = random_state
        self.ccp_alpha = ccp_alpha
        self.max_samples = max_samples

    def fit(self, X, y, sample_weight=None):
        """Grow the trees of samples X (n, d) with labels y (n,) of any kind; return self."""
        samples = check_samples(X)
        y = check_labels(y, len(samples))
        w = check_weights(sample_weight, len(samples))
        self.classes_, k = np.unique(y, return_inverse=True)
        self.n_classes_ = len(self.classes_)
        sets = self._plant(samples, k, w)
        if self.oob_score:
            self._judge(samples, y, sets)
        return self._remember(X)


class RandomForestRegressor(_Forest, _CommitteeRegressor):
    """The mean of regression trees on bootstrap sets: `random_forest` for targets.

    As scikit-learn's, with the differences of `RandomForestClassifier`; a node tries all features
    unless told otherwise.

    Parameters
    ----------
    n_estimators : int
    criterion : "squared_error"
    max_depth : int or None; None for no limit
    min_samples_split : int or float; a node of fewer samples is a leaf; a share of n if float
    min_samples_leaf : int or float; a split leaves at least so many on each side
    max_features : int, float, "sqrt", "log2" or None; features that a node tries, None for all
    min_impurity_decrease : float; a split takes at least this from the impurity of the whole tree
    bootstrap : bool; False for all samples, for every tree
    oob_score : bool; judge it by the samples that the trees have not seen
    random_state : None, int or Generator
    ccp_alpha : float; what a leaf costs when the trees are pruned, 0 for no pruning
    max_samples : None, int or float; size of a set, None for n, a share of n if float

    Attributes
    ----------
    estimators_ : list of fitted DecisionTreeRegressor
    estimators_samples_ : list of ndarray; the samples that each was grown on
    max_features_ : int
    feature_importances_ : ndarray of shape (d,); the mean of those of the trees
    oob_score_ : float; R^2 out of bag, if asked for
    oob_prediction_ : ndarray of shape (n,); predictions out of bag, nan for none
    n_features_in_ : int

    >>> X, y = [[0], [1], [2], [3]], [0, 0, 1, 1]
    >>> RandomForestRegressor(random_state=0).fit(X, y).predict([[0], [3]]) > 0.5
    array([False,  True])
    """

    _kind = DecisionTreeRegressor

    def __init__(
        self,
        n_estimators=100,
        *,
        criterion="squared_error",
        max_depth=None,
        min_samples_split=2,
        min_samples_leaf=1,
        max_features=1.0,
        min_impurity_decrease=0.0,
        bootstrap=True,
        oob_score=False,
        random_state=None,
        ccp_alpha=0.0,
        max_samples=None,
    ):
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.max_features = max_features
        self.min_impurity_decrease = min_impurity_decrease
        self.bootstrap = bootstrap
        self.oob_score = oob_score
        self.random_state = random_state
        self.ccp_alpha = ccp_alpha
        self.max_samples = max_samples

    def fit(self, X, y, sample_weight=None):
        """Grow the trees of samples X (n, d) with targets y (n,); return self."""
        samples = check_samples(X)
        y = check_targets(y, len(samples))
        w = check_weights(sample_weight, len(samples))
        sets = self._plant(samples, y, w)
        if self.oob_score:
            self._judge(samples, y, sets)
        return self._remember(X)


class AdaBoostClassifier(ProbabilisticClassifier):
    """A weighted vote of weak classifiers, each trained where those before it err: `samme`.

    As scikit-learn's, with these differences: the default stump is the one of least weighted error,
    `stumps`, where scikit-learn's is ``DecisionTreeClassifier(max_depth=1)``; an estimator that
    takes no weights is trained on samples drawn by them, as in the notes; one that makes no error
    outvotes all before it.

    Parameters
    ----------
    estimator : classifier or None; the weak classifier that is copied, None for stumps
    n_estimators : int; largest number of rounds, which end early at error 0 or at chance
    learning_rate : float; factor of every vote weight
    random_state : None, int or Generator; seeds the members and draws for those without weights

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
    n_classes_ : int
    estimator_ : classifier; the one that is copied
    estimators_ : list of T fitted classifiers; a stump is a DecisionTreeClassifier of one question
    estimator_weights_ : ndarray of shape (n_estimators,); votes, twice the notes' alpha; 0 after T
    estimator_errors_ : ndarray of shape (n_estimators,); weighted errors; 1 after T
    n_features_in_ : int

    >>> X, y = [[1], [2], [3], [4]], ["in", "out", "out", "in"]
    >>> model = AdaBoostClassifier(n_estimators=3).fit(X, y)
    >>> model.predict(X), model.estimator_errors_.round(4)
    (array(['in', 'out', 'out', 'in'], dtype='<U3'), array([0.25  , 0.1667, 0.2   ]))
    """

    def __init__(self, estimator=None, *, n_estimators=50, learning_rate=1.0, random_state=None):
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.random_state = random_state

    def fit(self, X, y, sample_weight=None):
        """Boost on samples X (n, d) with labels y (n,) of any kind; return self."""
        samples = check_samples(X)
        self.estimator_ = _check_estimator(self.estimator, DecisionTreeClassifier(max_depth=1))
        T = check_number("n_estimators", self.n_estimators, at_least=1, integer=True)
        rate = check_number("learning_rate", self.learning_rate, above=0)
        rng = check_random_state(self.random_state)
        y = check_labels(y, len(samples))
        w = check_weights(sample_weight, len(samples))
        samples, y, w = (part[w > 0] for part in (samples, y, w))
        self.classes_ = np.unique(check_labels(y, len(y)))
        self.n_classes_ = len(self.classes_)
        own = self.estimator is None
        learn = self._stumps(samples, y) if own else learner(self.estimator, samples, y, rng=rng)
        states = islice(samme(samples, y, learn, w, learning_rate=rate), 1, T + 1)
        rounds = [(state.h, state.error, state.alpha) for state in states]
        if not rounds:
            raise ValueError(
                "estimator must be better than chance on the training samples: "
                f"its error is {1 - 1 / self.n_classes_:.3g} or more"
            )
        members, errors, votes = zip(*rounds, strict=True)
        self.estimators_, t = list(members), len(rounds)
        self.estimator_errors_, self.estimator_weights_ = np.ones(T), np.zeros(T)
        self.estimator_errors_[:t], self.estimator_weights_[:t] = errors, votes
        return self._remember(X)

    def _stumps(self, X, y):
        """The learner of stumps, which come as trees."""
        best, k = stumps(X, y), np.searchsorted(self.classes_, y)
        return lambda D: _as_tree(best(D), X, k, D, self.classes_)

    @property
    def feature_importances_(self):
        """The mean of the members' importances by vote weight: (d,); for members that have them."""
        self._require_fit()
        each = [h.feature_importances_ for h in self.estimators_]
        return np.average(each, axis=0, weights=self._alpha)

    @property
    def _alpha(self):
        """The votes of the members: (T,)."""
        return self.estimator_weights_[: len(self.estimators_)]

    def staged_decision_function(self, X):
        """`decision_function` after every round.

        Yields: (n,), or (n, K).
        """
        X, K = self._check_fitted(X), self.n_classes_
        votes, total = np.zeros((len(X), K)), 0.0
        for h, alpha in zip(self.estimators_, self._alpha, strict=True):
            votes = votes + alpha * (h.predict(X)[:, None] == self.classes_)
            total += alpha
            F = (K * votes / total - 1) / (K - 1)
            yield F[:, 1] - F[:, 0] if K == 2 else F

    def decision_function(self, X):
        """f_k = sum_t alpha_t (1 if h_t votes for k, else -1 / (K - 1)) / sum_t alpha_t.

        Returns: (n, K), or f_1 - f_0 (n,) for two classes.
        """
        for F in self.staged_decision_function(X):
            last = F
        return last

    def _label(self, F):
        """The label of largest score, of equals the first."""
        return self.classes_[(F > 0).astype(int) if F.ndim == 1 else F.argmax(axis=1)]

    def predict(self, X):
        """The label with most votes: (n,)."""
        F = self.decision_function(X)
        return self._label(F)

    def staged_predict(self, X):
        """`predict` after every round.

        Yields: (n,).
        """
        return (self._label(F) for F in self.staged_decision_function(X))

    def staged_score(self, X, y, sample_weight=None):
        """The accuracy after every round.

        Yields: float.
        """
        for said in self.staged_predict(X):
            yield float(np.average(said == np.asarray(y), weights=sample_weight))

    def _proba(self, F):
        """The probabilities that the scores stand for."""
        if F.ndim == 1:
            F = np.column_stack([-F, F]) / 2
        return softmax(F / (self.n_classes_ - 1))

    def predict_proba(self, X):
        """softmax(f / (K - 1)), as scikit-learn has it: (n, K). Flat, since f is a mean vote."""
        F = self.decision_function(X)
        return self._proba(F)

    def staged_predict_proba(self, X):
        """`predict_proba` after every round.

        Yields: (n, K).
        """
        return (self._proba(F) for F in self.staged_decision_function(X))


def _as_tree(stump, X, k, D, classes):
    """The stump as the fitted tree that says the same, for samples of the classes number k."""
    right, nan = X[:, stump.feature] > stump.threshold, np.nan
    if right.any():
        feature, threshold, left = [stump.feature, -1, -1], [stump.threshold, nan, nan], [1, -1, -1]
        sides = np.array([np.ones(len(X), dtype=bool), ~right, right])
    else:
        feature, threshold, left, sides = [-1], [nan], [-1], np.ones((1, len(X)), dtype=bool)
    totals = np.array([np.bincount(k, D * side, minlength=len(classes)) for side in sides])
    weight, left = totals.sum(axis=1), np.array(left)
    p, depth = totals / weight[:, None], (left < 0) * (len(left) > 1)
    tree = Tree(
        np.array(feature), np.array(threshold), left, np.where(left > 0, 2, -1), p, gini(p),
        weight, sides.sum(axis=1), depth.astype(int),
    )  # fmt: skip
    model = DecisionTreeClassifier(max_depth=1)
    return _dressed(model, tree, X.shape[1], X.shape[1], classes)
