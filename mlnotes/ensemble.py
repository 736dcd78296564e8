"""Ensembles: many classifiers, each a little better than chance, that are right together.

Bagging and random forests make the classifiers differ by chance. AdaBoost gives weight to the
samples that the earlier ones got wrong.

Contents
    Voting               weighted_vote, plurality, majority_error, disagreement
    Members              Stump, fitted_copy
    Three components     ThreeComponents, three_components, tie_break
    Bagging              bootstrap_counts, bag, bagged, variance_of_mean, out_of_bag
    Random forest        random_forest, tree_outputs
    Weak learners        weighted_error, best_stump, stumps
    AdaBoost             vote_weight, normaliser, reweighted, Round, adaboost, samme, error_bounds
    Estimators           BaggingClassifier, BaggingRegressor, RandomForestClassifier,
                         RandomForestRegressor, learner, AdaBoostClassifier

Symbols
    X          (n, d)     samples x, one per row
    y          (n,)       labels, -1 or +1 unless stated otherwise
    h          object     a classifier, with a method ``predict``; or its outputs (n,)
    H          (n, T)     outputs of T classifiers, -1 or +1 unless stated otherwise
    D          (n,)       weights of the samples, >= 0, with the sum 1
    w          (n,)       weights of the samples, > 0, with any sum
    sets       (m, n)     sample numbers of the bootstrap sets S_b
    counts     (m, n)     how often each sample is in each of the sets
    error      float      weighted error eps = sum_i D_i 1[h(x_i) != y_i]
    gamma      float      edge, 1/2 - eps
    alpha      float      vote weight of a classifier; (T,) for several
    Z          float      normaliser of the new weights
    F          (n,)       votes sum_t alpha_t h_t(x); (n, K) for K classes
    m, T       int        number of members, drawn and boosted
    k          int        number of features that a split of a forest considers
    estimator  object     an unfitted learner with ``fit`` and ``predict``; it is copied
    learn      callable   a weak learner: learn(D) is an h that is fitted to the weighted samples
    rules      Rules      when a node of a tree becomes a leaf
    rng        Generator  source of random numbers

Notes: MLN "Bagging Estimate", "Combining Classifier", "Random Forest", "AdaBoost"; REP "Bagging",
"Random Forest", "Boosting"; ISML "AdaBoost". MLN writes B for our m, w_i(m) for D, xi_m for eps and
M for T; ISML has m samples. REP's alpha is twice ours, as are the votes of `samme`.
"""

import inspect
import warnings
from collections import deque
from dataclasses import KW_ONLY, dataclass, field
from itertools import islice
from math import inf, nan
from typing import Any, NamedTuple

import numpy as np

from mlnotes.base import (
    LARGEST,
    ROUNDING,
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
    floats,
    row_blocks,
    signs,
)
from mlnotes.logistic_regression import softmax
from mlnotes.model_selection import bootstrap_indices, clone
from mlnotes.probability import binomial_log_pmf
from mlnotes.trees import (
    WHOLE,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    TreeRules,
    best_split,
    growth,
    leaf_of,
    tabulate,
)

# =======================================================================================
# The lecture
# =======================================================================================

# --- Voting ----------------------------------------------------------------------------


def weighted_vote(H, alpha=None):
    """H(x) = sign(sum_t alpha_t h_t(x)) with sign(0) = -1, the majority if alpha is None: (n,).

    >>> H = np.array([[1, -1, -1], [1, 1, -1]])
    >>> weighted_vote(H), weighted_vote(H, alpha=np.array([2.0, 0.5, 0.5]))
    (array([-1.,  1.]), array([1., 1.]))
    """
    F = np.sum(floats(H), axis=1) if alpha is None else floats(H) @ alpha
    return np.where(F > 0, 1.0, -1.0)


def plurality(H, alpha=None):
    """argmax_c sum_t alpha_t 1[h_t(x) = c] for labels of any kind, of equals the first: (n,).

    >>> plurality(np.array([["b", "c", "c"], ["c", "b", "a"]]))
    array(['c', 'a'], dtype='<U1')
    """
    classes, c = np.unique(H, return_inverse=True)
    votes = [np.bincount(row, alpha, len(classes)) for row in c.reshape(np.shape(H))]
    return classes[np.argmax(votes, axis=1)]


def majority_error(error, T):
    """sum_{k > T/2} C(T, k) eps^k (1 - eps)^{T-k}: the error of T independent voters' majority.

    T is odd. The `error` eps is that of each voter.

    >>> majority_error(0.3, 3).round(4)  # 3 eps^2 - 2 eps^3
    np.float64(0.216)
    """
    wrong = np.arange(T // 2 + 1, T + 1)
    return np.exp(binomial_log_pmf(wrong, T, error)).sum()


def disagreement(H):
    """The share of the samples on which two members differ, for all pairs: (T, T).

    >>> disagreement(np.array([[1, 1, -1], [1, -1, -1]]))[0]
    array([0. , 0.5, 1. ])
    """
    return np.array([np.mean(H.T != h, axis=1) for h in H.T])


# --- Members ---------------------------------------------------------------------------


class Stump(NamedTuple):
    """The label `left` where x_f <= t, else `right`; for labels -1, +1 it is p sign(x_f - t).

    >>> Stump(0, 1.5, "low", "high").predict(np.array([[1.0], [2.0]]))
    array(['low', 'high'], dtype='<U4')
    """

    feature: int
    threshold: float
    left: Any
    right: Any

    def predict(self, X):
        """The label on the side of each sample: (n,)."""
        return np.where(X[:, self.feature] <= self.threshold, self.left, self.right)


def fitted_copy(estimator, X, y, rng=None, **params):
    """A copy of the `estimator`, fitted to samples X with labels or targets y.

    The `params` are what else its ``fit`` takes; `rng` draws its seed. If all labels are equal,
    which many classifiers refuse, it is a `Stump` that says this label.

    >>> X, y = np.array([[1.0], [2.0], [3.0]]), np.array([0, 1, 1])
    >>> fitted_copy(DecisionTreeClassifier(), X[1:], y[1:]).predict(X)
    array([1, 1, 1])
    """
    if (y == y[0]).all() and not isinstance(estimator, Regressor):
        return Stump(0, inf, y[0], y[0])
    h = clone(estimator)
    if rng is not None and "random_state" in h.get_params():
        h.set_params(random_state=rng.integers(2**31).item())
    return h.fit(X, y, **params)


# --- Three components ------------------------------------------------------------------


class ThreeComponents(NamedTuple):
    """MLN's ensemble of three classifiers, and the samples that each was trained on."""

    members: tuple  # h_1, h_2, h_3
    samples: tuple  # the numbers of the samples in S_1, S_2, S_3

    def predict(self, X):
        """h_1 where h_1 = h_2, else h_3: (n,).

        >>> h = Stump(0, 1.5, "a", "b")
        >>> ThreeComponents((h, h, h), ()).predict(np.array([[1.0], [2.0]]))
        array(['a', 'b'], dtype='<U1')
        """
        return tie_break(*(h.predict(X) for h in self.members))


def three_components(estimator, X, y, n1, *, rng):
    """MLN's `ThreeComponents`: copies of `estimator`, each trained where those before do not help.

    S_1 holds n1 < n random samples, S_2 as many that h_1 gets right as wrong. S_3 holds the samples
    on which h_1 and h_2 differ. If S_2 or S_3 is empty, its classifier is h_1. MLN calls the sets
    D_1, D_2, D_3.

    >>> X, y = np.arange(6.0)[:, None], np.array([0, 0, 1, 1, 0, 0])
    >>> stump = DecisionTreeClassifier(max_depth=1)
    >>> ensemble = three_components(stump, X, y, 5, rng=np.random.default_rng(1))
    >>> [len(S) for S in ensemble.samples], ensemble.predict(X)
    ([5, 4, 4], array([0, 0, 1, 1, 0, 0]))
    """
    S1 = rng.permutation(len(X))[:n1]
    h1 = fitted_copy(estimator, X[S1], y[S1])

    said = h1.predict(X)
    right, wrong = np.flatnonzero(said == y), np.flatnonzero(said != y)
    half = min(len(right), len(wrong))
    S2 = np.concatenate([rng.permutation(right)[:half], rng.permutation(wrong)[:half]])
    h2 = fitted_copy(estimator, X[S2], y[S2]) if half else h1

    S3 = np.flatnonzero(h2.predict(X) != said)
    h3 = fitted_copy(estimator, X[S3], y[S3]) if len(S3) else h1
    return ThreeComponents((h1, h2, h3), (S1, S2, S3))


def tie_break(h1, h2, h3):
    """The labels of `h1` and `h2` where they agree, else those of `h3`, the majority: (n,).

    >>> tie_break(np.array([1, 1, -1]), np.array([1, -1, 1]), np.array([-1, -1, 1]))
    array([ 1, -1,  1])
    """
    return np.where(h1 == h2, h1, h3)


# --- Bagging ---------------------------------------------------------------------------


def bootstrap_counts(n, m, *, rng):
    """How often each of n samples is in each of m bootstrap sets S_b ~ Q^n, Q(x_i|S) = 1/n: (m, n).

    >>> bootstrap_counts(4, 2, rng=np.random.default_rng(0))
    array([[0, 1, 2, 1],
           [3, 1, 0, 0]])

    Errata: ensemble-10 (REP says that the weak law does not apply; given S, it does).
    """
    sets = bootstrap_indices(n, m, rng=rng)
    return np.array([np.bincount(S, minlength=n) for S in sets])


def bag(estimator, X, y, sets, *, rng=None):
    """The members h_b of a bag, a list: a copy of the `estimator` fitted to each of the m `sets`.

    >>> X, y = np.arange(4.0)[:, None], np.array([0, 0, 1, 1])
    >>> members = bag(DecisionTreeClassifier(), X, y, [[0, 1, 3], [0, 2, 2]])
    >>> [h.predict(X).tolist() for h in members]
    [[0, 0, 0, 1], [0, 0, 1, 1]]
    """
    return [fitted_copy(estimator, X[rows], y[rows], rng) for rows in sets]


def bagged(members, X):
    """h_bag(x) = (1/m) sum_b h_b(x), the mean of the predictions of the `members`: (n,).

    At every x, (h_bag - y)^2 = (1/m) sum_b (h_b - y)^2 - (1/m) sum_b (h_b - h_bag)^2. So its
    squared error is at most the mean squared error of the members.

    >>> bagged([Stump(0, 0.0, 1.0, 2.0), Stump(0, 1.0, 1.0, 4.0)], np.array([[0.5], [2.0]]))
    array([1.5, 3. ])

    Errata: ensemble-09 (REP concludes that the deviation of a single h_b vanishes).
    """
    return sum(h.predict(X) for h in members) / len(members)


def variance_of_mean(variance, correlation, m):
    """rho s^2 + (1 - rho) s^2 / m: the variance of the mean of m members of `variance` s^2.

    Each two have the `correlation` rho.

    >>> variance_of_mean(4.0, 0.5, m=4), variance_of_mean(4.0, 0.0, m=4)
    (2.5, 1.0)
    """
    return correlation * variance + (1 - correlation) * variance / m


def out_of_bag(outputs, counts):
    """For every sample, the mean output of the members whose training set lacks it; nan if none.

    The `outputs` are those of the m members for all samples, each (n,) or (n, K), as is the mean.

    >>> out_of_bag([np.array([1.0, 2, 3]), np.array([5.0, 6, 7])], [[0, 1, 2], [0, 3, 0]])
    array([ 3., nan,  7.])
    """
    absent = np.asarray(counts) == 0  # (m, n)
    total = sum((a * floats(h).T).T for a, h in zip(absent, outputs, strict=True))
    voters = absent.sum(axis=0)
    return (total.T / np.where(voters > 0, voters, nan)).T


# --- Random forest ---------------------------------------------------------------------


def random_forest(X, y, m, k, *, rng, counts=None, rules=WHOLE):
    """m full trees on bootstrap sets, each split the best among k features that are drawn for it.

    Usual is k = sqrt(d); k = d is bagging. The labels y are class numbers 0 .. C - 1, or targets.
    The `counts` replace the bootstrap sets. Returns: a list of `trees.Tree`.

    >>> X, y = np.array([[0.0, 7], [1, 7], [2, 7], [3, 7]]), np.array([0, 0, 1, 1])
    >>> trees = random_forest(X, y, m=3, k=1, rng=np.random.default_rng(0))
    >>> [tree.n_samples.tolist() for tree in trees]
    [[3, 1, 2], [2], [3, 1, 2]]

    Errata: ensemble-15 (REP has k >= d).
    """
    counts = bootstrap_counts(len(X), m, rng=rng) if counts is None else counts
    nodes = [[] for _ in counts]  # those of each tree
    for node in growth(X, y, counts, rules, k, rng):
        nodes[node.tree].append(node)
    return [tabulate(each, y, count, rules) for each, count in zip(nodes, counts, strict=True)]


def tree_outputs(trees, X):
    """What each of the `trees` predicts: the most frequent class of the leaf, or its mean: (n, m).

    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 0, 1, 1])
    >>> plurality(tree_outputs(random_forest(X, y, m=9, k=1, rng=np.random.default_rng(0)), X))
    array([0, 0, 1, 1])
    """
    values = [tree.value[leaf_of(tree, X)] for tree in trees]
    return np.column_stack([v[:, 0] if v.shape[1] == 1 else v.argmax(axis=1) for v in values])


# --- Weak learners ---------------------------------------------------------------------


def weighted_error(y, h, D):
    """eps(h) = sum_i D_i 1[h(x_i) != y_i] / sum_i D_i, for outputs h (n,): ISML (14).

    >>> weighted_error(np.array([1, 1, -1]), np.array([1, -1, -1]), np.array([0.5, 0.3, 0.2]))
    np.float64(0.3)

    Errata: ensemble-31 (REP prints sum_i w_i y_i h(x_i) / sum_i w_i, which is 1 - 2 eps).
    """
    D = floats(D)
    return np.sum(D[h != y]) / np.sum(D)


def best_stump(X, y, D):
    """The `Stump` h of least error eps(h), for labels y of any kind; if no cut fits, one label.

    On each side every sample votes for its own label, with its weight.

    >>> best_stump(np.array([[1.0], [2.0], [4.0]]), np.array([1, -1, 1]), np.array([0.2, 0.5, 0.3]))
    Stump(feature=0, threshold=3.0, left=-1, right=1)
    """
    seen = D > 0
    f, t, _ = best_split(X[seen], y[seen], D[seen], "error") or (0, inf, 0)
    goes_left = X[:, f] <= t
    left = plurality(y[None], D * goes_left).item()
    right = plurality(y[None], D * ~goes_left).item()
    return Stump(f, t, left, right)


def stumps(X, y):
    """The weak learner of stumps: learn(D) is the `best_stump` of the samples weighted by D.

    >>> stumps(np.array([[1.0], [2.0], [4.0]]), np.array([1, -1, 1]))(np.array([0.2, 0.5, 0.3]))
    Stump(feature=0, threshold=3.0, left=-1, right=1)
    """
    return lambda D: best_stump(X, y, D)


# --- AdaBoost --------------------------------------------------------------------------


def vote_weight(error):
    """alpha = 1/2 ln((1 - eps) / eps): it minimises Z(alpha) = (1 - eps) e^-alpha + eps e^alpha.

    It is positive if eps < 1/2, 0 at 1/2, and infinite at 0; boosting ends at both.

    >>> float(vote_weight(0.1).round(4)), float(np.log(3).round(4))
    (1.0986, 1.0986)

    Errata: ensemble-22 (ISML says that alpha is always positive).
    Errata: ensemble-32 (REP has 2 alpha, which does not go with its exp(-alpha y h)).
    """
    error = floats(error)
    return (np.log(1 - error) - np.log(error)) / 2


def normaliser(error):
    """Z = 2 sqrt(eps (1 - eps)) = sqrt(1 - 4 gamma^2), the least value of Z(alpha).

    >>> print(normaliser(0.2), normaliser(0.5))
    0.8 1.0
    """
    error = floats(error)
    return 2 * np.sqrt(error * (1 - error))


def reweighted(D, y, h, alpha):
    """D_{t+1}(i) = D_t(i) exp(-alpha y_i h(x_i)) / Z, and Z = sum_i D_t(i) exp(-alpha y_i h(x_i)).

    With the alpha of `vote_weight`, the error of h (n,) under the new D is 1/2.

    Returns: D (n,) and Z.

    >>> D, Z = reweighted(np.full(4, 0.25), np.ones(4), np.array([-1, 1, 1, 1]), vote_weight(0.25))
    >>> D.round(4), Z.round(4)
    (array([0.5   , 0.1667, 0.1667, 0.1667]), np.float64(0.866))
    """
    unscaled = floats(D) * np.exp(-alpha * signs(y) * floats(h))
    Z = np.sum(unscaled)
    return unscaled / Z, Z


class Round(NamedTuple):
    """AdaBoost after a round."""

    h: Any  # the classifier of this round, None at the start
    error: float  # its weighted error under the D of the round before, inf at the start
    alpha: float  # its vote weight
    D: np.ndarray  # (n,), the weights for the next round
    F: np.ndarray  # (n,) or (n, K), the votes so far for y = +1, or for each class
    objective: float  # the exponential loss prod_t Z_t, a bound on the training error


def adaboost(X, y, learn):
    """AdaBoost: h = learn(D), its error eps, its vote alpha, the new D, and again.

    The labels y are -1 and +1, D_1 is 1/n, and the classifier is sign(F). Boosting ends before a
    classifier that is no better than chance, and after one without error. That one outvotes all
    others together; its alpha would be infinite.

    Yields: the start, then a `Round` each, with the objective (1/n) sum_i exp(-y_i F_i).

    >>> X, y = np.array([[1.0], [2.0], [3.0], [4.0]]), np.array([1, -1, -1, 1])
    >>> for state in islice(adaboost(X, y, stumps(X, y)), 2):
    ...     print(np.round(state.error, 3), state.D.round(3), np.sign(state.F))
    inf [0.25 0.25 0.25 0.25] [0. 0. 0. 0.]
    0.25 [0.167 0.167 0.167 0.5  ] [ 1. -1. -1. -1.]

    Errata: ensemble-29 (ISML says that the bound always converges to 0, even if the edges go to 0).
    """
    n, y = len(y), signs(y)
    D, F, votes, loss, error = np.full(n, 1 / n), np.zeros(n), 0.0, 1.0, inf
    yield Round(None, error, 0.0, D, F, loss)
    while error > 0:
        h = learn(D)  # 1. the weak learner sees D
        said = h.predict(X)
        error = weighted_error(y, said, D)
        if error >= 1 / 2 - ROUNDING:  # no better than a coin
            return
        alpha = vote_weight(error) if error > 0 else 1 + votes  # 2. its vote
        D, Z = reweighted(D, y, said, alpha)  # 3. the new weights
        F, votes, loss = F + alpha * said, votes + alpha, loss * Z
        yield Round(h, error, alpha, D, F, loss)


def samme(X, y, learn, w=None, *, eta=1.0):
    """AdaBoost for K classes, with labels y of any kind: chance is now an error of 1 - 1/K.

        alpha = eta (ln((1 - eps) / eps) + ln(K - 1)),   D_i <- D_i exp(alpha 1[h(x_i) != y_i]) / Z

    with the learning rate eta and D_1 proportional to w. For K = 2 and eta = 1 it is `adaboost`
    with twice its alpha, as in REP. It ends as `adaboost` does, and before a classifier that is
    wrong only where a large eta has lowered the weights to 0.

    Yields: the start, then a `Round` each. Its F (n, K) are the votes for each class; the objective
    is sum_i D_1(i) exp(sum_t alpha_t (1[h_t(x_i) != y_i] - (K - 1)/K)).

    >>> X, y = np.array([[1.0], [2.0], [3.0]]), np.array(["a", "b", "c"])
    >>> *_, state = islice(samme(X, y, stumps(X, y)), 2)
    >>> state.alpha.round(3), state.D.round(3)
    (np.float64(1.386), array([0.167, 0.167, 0.667]))
    """
    w, classes = np.ones(len(y)) if w is None else w, np.unique(y)
    K = len(classes)
    D, F, votes, loss, error = w / w.sum(), np.zeros((len(y), K)), 0.0, 1.0, inf
    yield Round(None, error, 0.0, D, F, loss)
    while error > 0:
        h = learn(D)
        said = h.predict(X)
        wrong, error = said != y, weighted_error(y, said, D)
        if error >= 1 - 1 / K - ROUNDING or (error == 0 and wrong.any()):
            return
        alpha = eta * (2 * vote_weight(error) + np.log(K - 1)) if error > 0 else 1 + votes
        power = alpha * (wrong - (1 - 1 / K))
        unscaled = D * np.exp(power - power.max())  # the largest is exp(0)
        D, loss = unscaled / unscaled.sum(), loss * unscaled.sum() * np.exp(power.max())
        F, votes = F + alpha * (said[:, None] == classes), votes + alpha
        yield Round(h, error, alpha, D, F, loss)


def error_bounds(errors):
    """prod_t Z_t = prod_t sqrt(1 - 4 gamma_t^2) <= exp(-2 sum_t gamma_t^2), after each round.

    Both (T,) bound the training error of `adaboost`; `errors` (T,) are its weighted errors.

    >>> [bound.round(4) for bound in error_bounds([0.2, 0.1])]
    [array([0.8 , 0.48]), array([0.8353, 0.6065])]

    Errata: ensemble-30 (ISML prints Z in the place of the product of all rounds).
    """
    errors = floats(errors)
    return np.cumprod(normaliser(errors)), np.exp(-2 * np.cumsum((1 / 2 - errors) ** 2))


# =======================================================================================
# The estimators
# =======================================================================================

# --- Bagging and forests ---------------------------------------------------------------

TOGETHER = 2**18  # samples of trees that grow side by side: their nodes are in memory at once


@dataclass(eq=False, repr=False, kw_only=True)
class _Committee(Estimator):
    """Members that are trained on sets of their own, and the mean of their outputs."""

    bootstrap: bool = True
    oob_score: bool = False
    random_state: Any = None

    def fit(self, X, y, sample_weight=None):
        """Train on sets of X (n, d) with y (n,), labels or targets, by weight; return self."""
        samples, labels = check_samples(X), isinstance(self, ProbabilisticClassifier)
        y = (check_labels if labels else check_targets)(y, len(samples))
        w, rng = check_weights(sample_weight, len(samples)), check_random_state(self.random_state)
        if labels:
            self.classes_ = np.unique(check_labels(y[w > 0], np.count_nonzero(w)))
            self.n_classes_ = len(self.classes_)
        w = w / w.max()
        self.estimators_samples_ = self._sets(w, rng)
        self.estimators_ = self._members(samples, y, w, rng)
        if check_flag("oob_score", self.oob_score):
            self._score_out_of_bag(samples, y, w)
        return self._remember(X)

    def _sets(self, w, rng):
        """The sample numbers of each training set, drawn by weight."""
        m = check_number("n_estimators", self.n_estimators, at_least=1, integer=True)
        rows = np.flatnonzero(w)
        if not check_flag("bootstrap", self.bootstrap):
            return [rows] * m
        p = w[rows] / w.sum() if np.ptp(w[rows]) > 0 else None
        return [rng.choice(rows, len(rows), p=p) for _ in range(m)]

    def _counts(self, n):
        """How often each of n samples is in each of the sets: (m, n)."""
        return np.array([np.bincount(S, minlength=n) for S in self.estimators_samples_])

    def _out_of_bag(self, X, w):
        """The `out_of_bag` means, and which samples have one and a weight."""
        mean = out_of_bag((self._output(h, X) for h in self.estimators_), self._counts(len(X)))
        known = ~np.isnan(mean.reshape(len(X), -1)[:, 0])
        lacking = np.count_nonzero(w[~known])
        if lacking:
            told = f"{lacking} samples are in every training set and have no out-of-bag prediction"
            warnings.warn(f"{told}: raise n_estimators", stacklevel=4)
        return mean, known & (w > 0)


class _CommitteeClassifier(_Committee, ProbabilisticClassifier):
    """A committee that votes."""

    def _output(self, member, X):
        """The class fractions of a member, or its vote if it has none: (n, C)."""
        if not hasattr(member, "predict_proba"):
            return (member.predict(X)[:, None] == self.classes_).astype(float)
        P = np.zeros((len(X), len(self.classes_)))
        P[:, np.searchsorted(self.classes_, member.classes_)] = member.predict_proba(X)
        return P

    def _score_out_of_bag(self, X, y, w):
        """Set the out-of-bag attributes."""
        self.oob_decision_function_, i = self._out_of_bag(X, w)
        right = self.classes_[self.oob_decision_function_[i].argmax(axis=1)] == y[i]
        self.oob_score_ = float(np.average(right, weights=w[i])) if i.any() else nan

    def predict_proba(self, X):
        """The mean of the members' class fractions, or of their votes if they have none: (n, C)."""
        X = self._check_fitted(X)
        return sum(self._output(h, X) for h in self.estimators_) / len(self.estimators_)


class _CommitteeRegressor(_Committee, Regressor):
    """A committee that predicts a mean."""

    def _output(self, member, X):
        """The prediction of a member: (n,)."""
        return member.predict(X)

    def _score_out_of_bag(self, X, y, w):
        """Set the out-of-bag attributes."""
        self.oob_prediction_, i = self._out_of_bag(X, w)
        center = np.average(y[i], weights=w[i]) if i.any() else nan
        spread = w[i] @ (y[i] - center) ** 2
        error = w[i] @ (y[i] - self.oob_prediction_[i]) ** 2
        self.oob_score_ = float(1 - error / spread) if spread > 0 else nan

    def predict(self, X):
        """The mean of the members' predictions, `bagged`: (n,)."""
        X = self._check_fitted(X)
        return bagged(self.estimators_, X)


def _check_estimator(estimator, default):
    """The estimator to copy, if it has `fit` and `predict`; the default for None."""
    if estimator is None:
        return default
    if isinstance(estimator, type) or not (
        hasattr(estimator, "fit") and hasattr(estimator, "predict")
    ):
        raise ValueError(f"estimator must be None or have fit and predict; got {estimator!r}")
    return estimator


@dataclass(eq=False, repr=False)
class _Bagging(_Committee):
    """Bagging of any estimator."""

    estimator: Any = None
    n_estimators: int = 10

    def _members(self, X, y, w, rng):
        """A fitted copy of the estimator for each set."""
        labels = isinstance(self, ProbabilisticClassifier)
        tree = DecisionTreeClassifier() if labels else DecisionTreeRegressor()
        self.estimator_ = _check_estimator(self.estimator, tree)
        return bag(self.estimator_, X, y, self.estimators_samples_, rng=rng)


class BaggingClassifier(_Bagging, _CommitteeClassifier):
    """A vote of copies of one classifier, each trained on a bootstrap set: `bag`.

    As in scikit-learn, with these differences: each set is as large as the number of samples with a
    weight; samples without a prediction out of bag do not count in `oob_score_`, and the others
    count by their weights; there is no decision_function.

    Parameters
    ----------
    estimator : classifier or None; it is copied, None for a `DecisionTreeClassifier`
    n_estimators : int; number of members
    bootstrap : bool; draw with replacement; without it every set has all samples
    oob_score : bool; score the predictions for samples that the members have not seen
    random_state : None, int or Generator

    Attributes
    ----------
    classes_ : ndarray of shape (C,)
    n_classes_ : int
    estimator_ : classifier; the one that is copied
    estimators_ : list of fitted classifiers; a `Stump` for a set that holds one label only
    estimators_samples_ : list of ndarray; the samples that each was trained on
    oob_score_ : float; accuracy out of bag, if asked for
    oob_decision_function_ : ndarray of shape (n, C); class fractions out of bag, or nan
    n_features_in_ : int

    >>> X, y = [[0], [1], [2], [3]], ["low", "low", "high", "high"]
    >>> BaggingClassifier(random_state=0).fit(X, y).predict([[0.4], [2.6]])
    array(['low', 'high'], dtype='<U4')
    """


class BaggingRegressor(_Bagging, _CommitteeRegressor):
    """The mean of copies of one regressor, each trained on a bootstrap set: `bag`, `bagged`.

    Parameters
    ----------
    Those of `BaggingClassifier`, for regressors.

    Attributes
    ----------
    Those of `BaggingClassifier`, but for classes. `oob_score_` is R^2, and there is
    oob_prediction_ : ndarray of shape (n,); predictions out of bag, nan if there are none

    >>> X, y = [[0], [1], [2], [3]], [0, 0, 1, 1]
    >>> BaggingRegressor(random_state=0).fit(X, y).predict([[0], [3]]) > 0.5
    array([False,  True])
    """


@dataclass(eq=False, repr=False)
class _Forest(TreeRules, _Committee):
    """A forest of trees on training sets."""

    n_estimators: int = 100

    def _members(self, X, y, w, rng):
        """A forest on the sets, as fitted estimators."""
        d, labels = X.shape[1], isinstance(self, ProbabilisticClassifier)
        kind = DecisionTreeClassifier if labels else DecisionTreeRegressor
        k = self.max_features_ = self.features_drawn(d)
        X, y, w, sets = X[w > 0], y[w > 0], w[w > 0], self._counts(len(X))[:, w > 0]
        target = np.searchsorted(self.classes_, y) if labels else y
        trees = []
        for part in row_blocks(len(sets), TOGETHER // len(X)):
            counts = sets[part] if self.bootstrap else sets[part] * w
            trees += random_forest(X, target, len(counts), k, rng=rng, counts=counts, rules=self)
        params = {name: getattr(self, name) for name in kind().get_params()}
        members = [kind(**params | {"random_state": None}) for _ in trees]
        for member, tree in zip(members, trees, strict=True):
            member._keep(tree, d, k)
            member.n_features_in_ = d
            if labels:
                member.classes_, member.n_classes_ = self.classes_, self.n_classes_
        return members

    @property
    def feature_importances_(self):
        """The mean importances in the trees, with the sum 1, or 0 without splits: (d,)."""
        self._require_fit()
        total = sum(h.feature_importances_ for h in self.estimators_)
        return total / (total.sum() or 1.0)


@dataclass(eq=False, repr=False)
class RandomForestClassifier(_Forest, _CommitteeClassifier):
    """A vote of trees on bootstrap sets, each split the best among k features: `random_forest`.

    As in scikit-learn, with the differences of `DecisionTreeClassifier` and `BaggingClassifier`.

    Parameters
    ----------
    Those of `BaggingClassifier`, but for `estimator`; by default there are 100 trees.
    Those of `DecisionTreeClassifier`; `max_features` is "sqrt" unless it is given.

    Attributes
    ----------
    Those of `BaggingClassifier`, for fitted `DecisionTreeClassifier`, and
    max_features_ : int
    feature_importances_ : ndarray of shape (d,); the mean over the trees

    >>> X, y = [[0], [1], [2], [3]], ["low", "low", "high", "high"]
    >>> RandomForestClassifier(random_state=0).fit(X, y).predict([[0.4], [2.6]])
    array(['low', 'high'], dtype='<U4')
    """

    max_features: Any = field(default="sqrt", kw_only=True)


@dataclass(eq=False, repr=False)
class RandomForestRegressor(_Forest, _CommitteeRegressor):
    """The mean of regression trees on bootstrap sets: `random_forest` for targets.

    Parameters
    ----------
    criterion : "squared_error"
    Those of `DecisionTreeClassifier`.
    Those of `BaggingClassifier`, but for `estimator`; by default there are 100 trees.

    Attributes
    ----------
    Those of `RandomForestClassifier`, but for classes. `oob_score_` is R^2, and there is
    oob_prediction_ : ndarray of shape (n,); predictions out of bag, nan if there are none

    >>> X, y = [[0], [1], [2], [3]], [0, 0, 1, 1]
    >>> RandomForestRegressor(random_state=0).fit(X, y).predict([[0], [3]]) > 0.5
    array([False,  True])
    """

    criterion: str = field(default="squared_error", kw_only=True)


# --- Boosting --------------------------------------------------------------------------


def learner(estimator, X, y, *, rng=None):
    """The weak learner that fits copies of an `estimator`: learn(D) is one, weighted by D.

    If its ``fit`` takes no sample_weight, the copy is fitted to n samples that `rng` draws with
    replacement, sample i with probability D_i (MLN).

    >>> X, y = np.array([[1.0], [2.0], [4.0]]), np.array([1, -1, 1])
    >>> learner(DecisionTreeClassifier(max_depth=1), X, y)(np.array([0.1, 0.6, 0.3])).predict(X)
    array([-1, -1,  1])
    """

    def learn(D):
        if "sample_weight" in inspect.signature(estimator.fit).parameters:
            return fitted_copy(estimator, X[D > 0], y[D > 0], rng, sample_weight=D[D > 0])
        S = rng.choice(len(X), size=len(X), p=D / D.sum())
        return fitted_copy(estimator, X[S], y[S], rng)

    return learn


@dataclass(eq=False, repr=False)
class AdaBoostClassifier(ProbabilisticClassifier):
    """A weighted vote of weak classifiers, each trained where the earlier ones err: `samme`.

    As in scikit-learn, with these differences. The default stump has the least weighted error, not
    the least Gini impurity. An estimator that takes no weights is trained on samples drawn by them.
    One without error outvotes all earlier ones. The arrays hold the rounds that were done.

    Parameters
    ----------
    estimator : classifier or None; it is copied; None for a tree of depth 1 with criterion "error"
    n_estimators : int; largest number of rounds, which end early at error 0 or at chance
    learning_rate : float; factor of every vote weight; above 2 a round may raise the loss
    random_state : None, int or Generator; seeds the members, and draws for those without weights

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
    n_classes_ : int
    estimator_ : classifier; the one that is copied
    estimators_ : list of T fitted classifiers
    estimator_weights_ : ndarray of shape (T,); their votes, twice the notes' alpha
    estimator_errors_ : ndarray of shape (T,); their weighted errors
    n_features_in_ : int

    >>> X, y = [[1], [2], [3], [4]], ["in", "out", "out", "in"]
    >>> model = AdaBoostClassifier(n_estimators=3).fit(X, y)
    >>> model.predict(X), model.estimator_errors_.round(4)
    (array(['in', 'out', 'out', 'in'], dtype='<U3'), array([0.25  , 0.1667, 0.2   ]))
    """

    estimator: Any = None
    _: KW_ONLY
    n_estimators: int = 50
    learning_rate: float = 1.0
    random_state: Any = None

    def fit(self, X, y, sample_weight=None):
        """Boost on samples X (n, d) with labels y (n,) of any kind; return self."""
        samples = check_samples(X)
        stump = DecisionTreeClassifier(criterion="error", max_depth=1)
        self.estimator_ = _check_estimator(self.estimator, stump)
        T = check_number("n_estimators", self.n_estimators, at_least=1, integer=True)
        eta = check_number("learning_rate", self.learning_rate, above=0, below=LARGEST)
        rng = check_random_state(self.random_state)
        y, w = check_labels(y, len(samples)), check_weights(sample_weight, len(samples))
        samples, y, w = (each[w > 0] for each in (samples, y, w / w.max()))
        self.classes_ = np.unique(check_labels(y, len(y)))
        self.n_classes_ = len(self.classes_)
        with np.errstate(over="ignore"):  # a large eta may raise the loss beyond all numbers
            states = samme(samples, y, learner(self.estimator_, samples, y, rng=rng), w, eta=eta)
            rounds = list(islice(states, 1, T + 1))
        self._keep(rounds)
        return self._remember(X)

    def _keep(self, rounds):
        """Keep what the rounds gave, of which there must be one."""
        if not rounds:
            raise ValueError(
                "estimator must be better than chance on the training samples: "
                f"its error is {1 - 1 / self.n_classes_:.3g} or more"
            )
        self.estimators_ = [each.h for each in rounds]
        self.estimator_weights_ = np.array([each.alpha for each in rounds])
        self.estimator_errors_ = np.array([each.error for each in rounds])

    def _scores(self, X):
        """The scores f (n, K) after every round; see `decision_function`."""
        X, K = self._check_fitted(X), self.n_classes_
        votes = np.zeros((len(X), K))
        for h, alpha in zip(self.estimators_, self.estimator_weights_, strict=True):
            votes = votes + alpha * (h.predict(X)[:, None] == self.classes_)
            yield (K * votes / votes[0].sum() - 1) / (K - 1)

    def _last_scores(self, X):
        """The scores f (n, K) of all rounds."""
        return deque(self._scores(X), maxlen=1).pop()

    def decision_function(self, X):
        """f_k = sum_t alpha_t (1 if h_t votes for k, else -1 / (K - 1)) / sum_t alpha_t.

        Returns: (n, K), or f_1 - f_0 (n,) for two classes.
        """
        F = self._last_scores(X)
        return F[:, 1] - F[:, 0] if self.n_classes_ == 2 else F

    def predict(self, X):
        """The label with most votes, of equals the first: (n,)."""
        F = self._last_scores(X)
        return self.classes_[F.argmax(axis=1)]

    def predict_proba(self, X):
        """softmax(f / (K - 1)), as in scikit-learn: (n, K); f is a mean vote."""
        F = self._last_scores(X)
        return softmax(F / (self.n_classes_ - 1))

    def staged_predict(self, X):
        """`predict` after every round. Yields: (n,)."""
        return (self.classes_[F.argmax(axis=1)] for F in self._scores(X))

    def staged_score(self, X, y, sample_weight=None):
        """The accuracy after every round. Yields: float."""
        for labels in self.staged_predict(X):
            yield float(np.average(labels == np.ravel(y), weights=sample_weight))
