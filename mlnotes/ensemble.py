"""Ensembles: many classifiers, each a little better than chance, that are right together.

Bagging and random forests make the classifiers differ by chance. AdaBoost gives weight to the
samples that the earlier ones got wrong.

Contents
    Voting               weighted_vote, plurality, majority_error, disagreement
    Three components     ThreeComponents, three_components, tie_break
    Bagging              bootstrap_counts, bag, bagged, variance_of_mean, out_of_bag
    Random forest        random_forest, tree_outputs
    Weak classifiers     weighted_error, Stump, best_stump, stumps, learner
    AdaBoost             vote_weight, normaliser, reweighted, Round, adaboost, samme, error_bounds
    Estimators           BaggingClassifier, BaggingRegressor, RandomForestClassifier,
                         RandomForestRegressor, AdaBoostClassifier

Symbols
    X       (n, d)    samples x, one per row
    y       (n,)      labels, -1 or +1 unless stated otherwise
    h       object    a classifier, with a method ``predict``
    H       (n, T)    outputs of T classifiers, -1 or +1 unless stated otherwise
    D       (n,)      weights of the samples, >= 0, with sum 1
    sets    (m, n)    sample numbers of the bootstrap sets S_b
    counts  (m, n)    how often each sample is in each of the sets
    error   float     weighted error eps = sum_i D_i 1[h(x_i) != y_i]
    gamma   float     edge, 1/2 - eps
    alpha   float     vote weight of a classifier; (T,) for several
    Z       float     normaliser of the new weights
    F       (n,)      votes sum_t alpha_t h_t(x); (n, K) for K classes
    m, T    int       number of members, drawn and boosted
    k       int       number of features that a split of a forest considers; or a class number
    learn   callable  a weak learner: learn(D) is a classifier h fitted to the samples weighted by D
    rng     Generator source of random numbers

Notes: MLN "Bagging Estimate", "Combining Classifier", "Random Forest", "AdaBoost"; REP "Bagging",
"Random Forest", "Boosting"; ISML "AdaBoost". MLN writes B for our m, w_i(m) for D, xi_m for eps and
M for T; ISML has m samples. REP's alpha is twice ours, as are the votes of `AdaBoostClassifier`.
"""

import inspect
import warnings
from dataclasses import KW_ONLY, dataclass, field, fields
from itertools import islice
from math import inf, nan
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
    Rules,
    TreeRules,
    best_split,
    grow,
    leaf_of,
)

CHANCE = 1e-12  # an edge smaller than this is rounding
LARGEST_VOTE = 700.0  # exp(710) is not finite
SEEDS = 2**31  # a member is seeded with a number below this


# ---------------------------------------------------------------------------------------
# Voting
# ---------------------------------------------------------------------------------------


def weighted_vote(H, alpha=None):
    """H(x) = sign(sum_t alpha_t h_t(x)), with sign(0) = -1; the majority if alpha is None.

    >>> H = np.array([[1, -1, -1], [1, 1, -1]])
    >>> weighted_vote(H), weighted_vote(H, alpha=np.array([2.0, 0.5, 0.5]))
    (array([-1.,  1.]), array([1., 1.]))
    """
    F = np.sum(H, axis=1) if alpha is None else H @ alpha
    return np.where(F > 0, 1.0, -1.0)


def plurality(H, alpha=None):
    """argmax_c sum_t alpha_t 1[h_t(x) = c], for labels of any kind; in a tie the first.

    >>> plurality(np.array([["b", "c", "c"], ["c", "b", "a"]]))
    array(['c', 'a'], dtype='<U1')
    """
    classes, k = np.unique(H, return_inverse=True)
    k = k.reshape(np.shape(H))
    alpha = np.ones(k.shape[1]) if alpha is None else alpha
    votes = [(k == c) @ alpha for c in range(len(classes))]
    return classes[np.argmax(votes, axis=0)]


def majority_error(error, T):
    """sum_{k > T/2} C(T, k) eps^k (1 - eps)^{T-k}: the error of T independent voters' majority.

    Raises: ValueError if T is even, since the vote may then be tied.

    >>> round(majority_error(0.3, 3), 4)  # 3 eps^2 - 2 eps^3
    0.216
    """
    if T % 2 == 0:
        raise ValueError(f"T must be odd, so that there are no ties; got {T}")
    wrong = np.arange(T // 2 + 1, T + 1)
    return float(np.exp(binomial_log_pmf(wrong, T, error)).sum())


def disagreement(H):
    """The share of the samples on which two members differ, for all pairs: (T, T).

    >>> disagreement(np.array([[1, 1, -1], [1, -1, -1]]))[0]
    array([0. , 0.5, 1. ])
    """
    return np.array([np.mean(H.T != own, axis=1) for own in H.T])


# ---------------------------------------------------------------------------------------
# Three components
# ---------------------------------------------------------------------------------------


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

    S_1 holds n1 random samples. Half of S_2 are samples that h_1 gets right and half are samples
    that it gets wrong, as many as there are. S_3 holds the samples on which h_1 and h_2 differ; if
    there are none, h_3 is h_1. y holds two labels of any kind. MLN calls the sets D_1, D_2, D_3.

    Raises: ValueError unless 0 < n1 < n, or if h_1 is right (or wrong) on all samples.

    >>> X, y = np.arange(6.0)[:, None], np.array([0, 0, 1, 1, 0, 0])
    >>> stump = DecisionTreeClassifier(max_depth=1)
    >>> ensemble = three_components(stump, X, y, 5, rng=np.random.default_rng(1))
    >>> [len(S) for S in ensemble.samples], ensemble.predict(X)
    ([5, 4, 4], array([0, 0, 1, 1, 0, 0]))
    """
    X, y = np.asarray(X, dtype=float), np.asarray(y)
    _check_n1(n1, len(X))

    S1 = rng.permutation(len(X))[:n1]  # n1 of all samples
    h1 = _fit(clone(estimator), X[S1], y[S1])

    said = h1.predict(X)
    right, wrong = np.flatnonzero(said == y), np.flatnonzero(said != y)
    half = min(len(right), len(wrong))
    _check_half(half)
    S2 = np.concatenate([rng.permutation(right)[:half], rng.permutation(wrong)[:half]])
    h2 = _fit(clone(estimator), X[S2], y[S2])

    S3 = np.flatnonzero(h2.predict(X) != said)
    h3 = _fit(clone(estimator), X[S3], y[S3]) if len(S3) else h1
    return ThreeComponents((h1, h2, h3), (S1, S2, S3))


def tie_break(h1, h2, h3):
    """The label of `h1` and `h2` where they agree, else that of `h3`: the majority of three.

    >>> tie_break(np.array([1, 1, -1]), np.array([1, -1, 1]), np.array([-1, -1, 1]))
    array([ 1, -1,  1])
    """
    return np.where(h1 == h2, h1, h3)


def _check_n1(n1, n):
    """Raises ValueError unless n1 samples are some of n, and not all."""
    if not 0 < n1 < n:
        raise ValueError(f"n1 must be between 1 and n - 1 = {n - 1}; got {n1}")


def _check_half(half):
    """Raises ValueError if there are no samples for one half of S_2."""
    if half == 0:
        raise ValueError("h_1 must be right on some of the samples and wrong on others")


def _fit(model, X, y):
    """The fitted model; if all labels are equal, a stump that always predicts this label."""
    return model.fit(X, y) if (y != y[0]).any() else Stump(0, inf, y[0], y[0])


# ---------------------------------------------------------------------------------------
# Bagging
# ---------------------------------------------------------------------------------------


def bootstrap_counts(n, m, *, rng):
    """How often each of n samples is in each of m bootstrap sets S_b ~ Q^n, Q(x_i|S) = 1/n: (m, n).

    >>> bootstrap_counts(4, 2, rng=np.random.default_rng(0))
    array([[0, 1, 2, 1],
           [3, 1, 0, 0]])

    Errata: ensemble-10 (REP says that the weak law does not apply; given S, it does).
    """
    return _counts(bootstrap_indices(n, m, rng=rng), n)


def _counts(sets, n):
    """How often each of n samples is in each of the sets."""
    return np.array([np.bincount(rows, minlength=n) for rows in sets])


def bag(estimator, X, y, sets, *, rng, labels=True):
    """The list of the m members h_b of a bag: a fitted copy of the estimator for each training set.

    `sets` (m, size) are sample numbers. If ``fit`` takes sample_weight, a sample that is drawn
    twice gets the weight 2. If a set contains one label only, which many classifiers refuse, its
    member is a `Stump` that always predicts this label. For a regressor `labels` is False.

    >>> X, y = np.arange(4.0)[:, None], np.array([0, 0, 1, 1])
    >>> members = bag(DecisionTreeClassifier(), X, y, [[0, 1, 3], [0, 2, 2]], rng=None)
    >>> [h.predict(X).tolist() for h in members]
    [[0, 0, 0, 1], [0, 0, 1, 1]]
    """
    members = []
    for rows in sets:  # the sample numbers of one bootstrap set
        h = _seeded(estimator, rng)  # an unfitted copy
        if labels and (y[rows] == y[rows[0]]).all():
            h = Stump(0, inf, y[rows[0]], y[rows[0]])
        elif _takes_weights(h):
            h.fit(X, y, sample_weight=np.bincount(rows, minlength=len(X)))
        else:
            h.fit(X[rows], y[rows])
        members.append(h)
    return members


def _seeded(estimator, rng):
    """A copy of the estimator; if it draws random numbers, with a seed of its own."""
    model = clone(estimator)
    if rng is not None and "random_state" in model.get_params():
        model.set_params(random_state=int(rng.integers(SEEDS)))
    return model


def bagged(members, X):
    """h_bag(x) = (1/m) sum_b h_b(x): the mean of the predictions of the `members`.

    At every x, (h_bag - y)^2 = (1/m) sum_b (h_b - y)^2 - (1/m) sum_b (h_b - h_bag)^2. So its
    squared error is at most the mean squared error of the members.

    >>> bagged([Stump(0, 0.0, 1.0, 2.0), Stump(0, 1.0, 1.0, 4.0)], np.array([[0.5], [2.0]]))
    array([1.5, 3. ])

    Errata: ensemble-09 (REP concludes that the deviation of a single h_b vanishes).
    """
    return sum(h.predict(X) for h in members) / len(members)


def variance_of_mean(variance, correlation, m):
    """rho s^2 + (1 - rho) s^2 / m: the variance of the mean of m members.

    Each member has the `variance` s^2, and each two have the `correlation` rho.

    >>> variance_of_mean(4.0, 0.5, m=4), variance_of_mean(4.0, 0.0, m=4)
    (2.5, 1.0)
    """
    return correlation * variance + (1 - correlation) * variance / m


def out_of_bag(outputs, counts):
    """For every sample, the mean output of the members whose training set lacks it; nan if none.

    `outputs` yields the output of each member for all samples, (n,) or (n, K).

    >>> out_of_bag(iter([np.array([1.0, 2, 3]), np.array([5.0, 6, 7])]), [[0, 1, 2], [0, 3, 0]])
    array([ 3., nan,  7.])
    """
    total, voters = 0.0, 0
    for output, count in zip(outputs, counts, strict=True):  # member by member
        absent = np.asarray(count) == 0  # samples that it has not seen
        total = total + (absent * output.T).T
        voters = voters + absent
    return (total.T / np.where(voters > 0, voters, nan)).T


# ---------------------------------------------------------------------------------------
# Random forest
# ---------------------------------------------------------------------------------------


def random_forest(X, y, m, k, *, rng, counts=None, **rules):
    """m full trees on bootstrap sets, each split the best among k features that are drawn for it.

    Usual is k = sqrt(d); k = d is bagging. The labels y are class numbers 0 .. C - 1, or targets.
    `counts` (m, n) replaces the bootstrap sets; the `rules` are the fields of `trees.Rules`.

    Returns: a list of `trees.Tree`. Raises: ValueError unless 1 <= k <= d.

    >>> X, y = np.array([[0.0, 7], [1, 7], [2, 7], [3, 7]]), np.array([0, 0, 1, 1])
    >>> trees = random_forest(X, y, m=3, k=1, rng=np.random.default_rng(0))
    >>> [tree.n_samples.tolist() for tree in trees]
    [[3, 1, 2], [2], [3, 1, 2]]

    Errata: ensemble-15 (REP has k >= d).
    """
    _check_k(k, np.shape(X)[1])
    if counts is None:
        counts = bootstrap_counts(len(X), m, rng=rng)
    return [grow(X, y, count, Rules(**rules), k, rng) for count in counts]


def _check_k(k, d):
    """Raises ValueError unless k features can be drawn from d."""
    if not 1 <= k <= d:
        raise ValueError(f"k must be between 1 and d = {d}, drawn without replacement; got {k}")


def tree_outputs(trees, X):
    """What each of the `trees` predicts: the most frequent class of the leaf, or its mean: (n, m).

    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 0, 1, 1])
    >>> plurality(tree_outputs(random_forest(X, y, m=9, k=1, rng=np.random.default_rng(0)), X))
    array([0, 0, 1, 1])
    """
    values = [tree.value[leaf_of(tree, X)] for tree in trees]
    return np.column_stack([v[:, 0] if v.shape[1] == 1 else v.argmax(axis=1) for v in values])


# ---------------------------------------------------------------------------------------
# Weak classifiers
# ---------------------------------------------------------------------------------------


def weighted_error(y, h, D):
    """eps(h) = sum_i D_i 1[h(x_i) != y_i] / sum_i D_i, for outputs h (n,): ISML (14).

    >>> weighted_error(np.array([1, 1, -1]), np.array([1, -1, -1]), np.array([0.5, 0.3, 0.2]))
    0.3

    Errata: ensemble-31 (REP prints sum_i w_i y_i h(x_i) / sum_i w_i, which is 1 - 2 eps).
    """
    return float(np.sum(D * (h != y)) / np.sum(D))


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


def best_stump(X, y, D):
    """argmin_h eps(h) over all stumps h, for any labels y; if no cut fits, one label everywhere.

    >>> best_stump(np.array([[1.0], [2.0], [4.0]]), np.array([1, -1, 1]), np.array([0.2, 0.5, 0.3]))
    Stump(feature=0, threshold=3.0, left=-1, right=1)
    """
    seen = D > 0
    split = best_split(np.asarray(X)[seen], np.asarray(y)[seen], D[seen], "error")  # of all cuts
    if split is None:  # nothing to cut
        label = _heaviest(y, D)
        return Stump(0, inf, label, label)
    goes_left = np.asarray(X)[:, split.feature] <= split.threshold
    left = _heaviest(y, D * goes_left)
    right = _heaviest(y, D * ~goes_left)
    return Stump(split.feature, split.threshold, left, right)


def _heaviest(y, D):
    """The label with the most weight."""
    classes, k = np.unique(y, return_inverse=True)
    return classes[np.bincount(k, D).argmax()].item()


def stumps(X, y):
    """The weak learner of stumps: learn(D) is the `best_stump` of the samples weighted by D.

    >>> stumps(np.array([[1.0], [2.0], [4.0]]), np.array([1, -1, 1]))(np.array([0.2, 0.5, 0.3]))
    Stump(feature=0, threshold=3.0, left=-1, right=1)
    """
    return lambda D: best_stump(X, y, D)


def learner(estimator, X, y, *, rng=None):
    """The weak learner that fits copies of an `estimator`: learn(D) is one, weighted by D.

    If its ``fit`` takes no sample_weight, the copy is fitted to n samples that are drawn with
    replacement, sample i with probability D_i (MLN).

    Returns: learn. Raises: ValueError if samples must be drawn and there is no rng.

    >>> X, y = np.array([[1.0], [2.0], [4.0]]), np.array([1, -1, 1])
    >>> learner(DecisionTreeClassifier(max_depth=1), X, y)(np.array([0.1, 0.6, 0.3])).predict(X)
    array([-1, -1,  1])
    """
    if rng is None and not _takes_weights(estimator):
        raise ValueError(f"rng must be given: {type(estimator).__name__} takes no sample_weight")
    return _Learner(estimator, X, y, rng)


class _Learner(NamedTuple):
    """The learner that fits copies of an estimator."""

    estimator: Any
    X: np.ndarray
    y: np.ndarray
    rng: Any

    def __call__(self, D):
        """A fitted copy."""
        model = _seeded(self.estimator, self.rng)
        if _takes_weights(model):
            return model.fit(self.X, self.y, sample_weight=D)
        rows = self.rng.choice(len(self.X), size=len(self.X), p=D / D.sum())
        return _fit(model, self.X[rows], self.y[rows])


def _takes_weights(estimator):
    """Whether ``fit`` of the estimator takes sample weights."""
    return "sample_weight" in inspect.signature(estimator.fit).parameters


# ---------------------------------------------------------------------------------------
# AdaBoost
# ---------------------------------------------------------------------------------------


def vote_weight(error):
    """alpha = 1/2 ln((1 - eps) / eps): it minimises Z(alpha) = (1 - eps) e^-alpha + eps e^alpha.

    It is positive if eps < 1/2, 0 at 1/2, and infinite at 0; boosting ends at both.

    >>> vote_weight(0.5), float(vote_weight(0.1).round(4)), float(np.log(3).round(4))
    (np.float64(0.0), 1.0986, 1.0986)

    Errata: ensemble-22 (ISML says that alpha is always positive).
    Errata: ensemble-32 (REP has 2 alpha, which does not go with its exp(-alpha y h)).
    """
    with np.errstate(divide="ignore"):
        return np.log((1 - error) / np.asarray(error)) / 2


def normaliser(error):
    """Z = 2 sqrt(eps (1 - eps)) = sqrt(1 - 4 gamma^2), the least value of Z(alpha).

    >>> print(normaliser(0.2), normaliser(0.5))
    0.8 1.0
    """
    return 2 * np.sqrt(error * (1 - error))


def reweighted(D, y, h, alpha):
    """D_{t+1}(i) = D_t(i) exp(-alpha y_i h(x_i)) / Z, and Z = sum_i D_t(i) exp(-alpha y_i h(x_i)).

    With the alpha of `vote_weight`, the error of h (n,) under the new D is 1/2. Returns: D and Z.

    >>> D, Z = reweighted(np.full(4, 0.25), np.ones(4), np.array([-1, 1, 1, 1]), vote_weight(0.25))
    >>> D.round(4), round(Z, 4)
    (array([0.5   , 0.1667, 0.1667, 0.1667]), 0.866)
    """
    unscaled = D * np.exp(-alpha * y * h)
    Z = float(np.sum(unscaled))
    return unscaled / Z, Z


class Round(NamedTuple):
    """AdaBoost after a round."""

    h: object  # the classifier of this round, None at the start
    error: float  # its weighted error under the D of the round before, inf at the start
    alpha: float  # its vote weight
    Z: float  # the normaliser of D
    D: np.ndarray  # (n,), the weights for the next round
    F: np.ndarray  # (n,) or (n, K), the votes so far for y = +1, or for each class
    objective: float  # sum_i D_1(i) exp(-y_i F_i) = prod_t Z_t, a bound on the training error


def adaboost(X, y, learn, w=None):
    """AdaBoost: h = learn(D), its error eps, its vote alpha, the new D, and again.

    The labels y are -1 and +1. D_1 is 1/n, or proportional to `w`. The classifier is sign(F).
    Boosting ends before a classifier that is no better than chance, and after one without error.
    That one outvotes all others together; its alpha would be infinite.

    Yields: the start, then a `Round` each.

    >>> X, y = np.array([[1.0], [2.0], [3.0], [4.0]]), np.array([1, -1, -1, 1])
    >>> for state in islice(adaboost(X, y, stumps(X, y)), 2):
    ...     print(round(state.error, 3), state.D.round(3), np.sign(state.F))
    inf [0.25 0.25 0.25 0.25] [0. 0. 0. 0.]
    0.25 [0.167 0.167 0.167 0.5  ] [ 1. -1. -1. -1.]

    Errata: ensemble-29 (ISML says that the bound always converges to 0, even if the edges go to 0).
    """
    w = check_weights(w, len(X))  # ones, if there are none
    D, F, given, objective = w / w.sum(), np.zeros(len(X)), 0.0, 1.0
    yield Round(None, inf, 0.0, 1.0, D, F, objective)
    error = inf
    while error > 0:
        h = learn(D)  # 1. the weak learner sees D
        said = h.predict(X)
        error = weighted_error(y, said, D)
        if error >= 1 / 2 - CHANCE:  # no better than a coin
            return
        alpha = vote_weight(error) if error > 0 else 1 + given  # 2. its vote
        D, Z = reweighted(D, y, said, alpha)  # 3. the new weights
        F = F + alpha * said
        given, objective = given + alpha, objective * Z
        yield Round(h, error, alpha, Z, D, F, objective)


def samme(X, y, learn, w=None, *, learning_rate=1.0):
    """AdaBoost for K classes, with labels y of any kind: chance is now an error of 1 - 1/K.

        alpha = eta (ln((1 - eps) / eps) + ln(K - 1)),   D_i <- D_i exp(alpha 1[h(x_i) != y_i]) / Z

    with eta = `learning_rate`. For K = 2 and eta = 1 the weights and the classifier are those of
    `adaboost`, and alpha is twice as large, as in REP. D_1, `w` and the two ends are as there.

    A large learning rate can drive weights to 0. So a vote is 700 at most, whose exponential is
    finite, and boosting also ends before a classifier that errs on samples of weight 0 only.

    Yields: the start, then a `Round` each. Its F (n, K) are the votes for each class; the objective
    is sum_i D_1(i) exp(sum_t alpha_t (1[h_t(x_i) != y_i] - (K - 1)/K)).

    >>> X, y = np.array([[1.0], [2.0], [3.0]]), np.array(["a", "b", "c"])
    >>> *_, state = islice(samme(X, y, stumps(X, y)), 2)
    >>> round(state.alpha, 3), state.D.round(3)
    (1.386, array([0.167, 0.167, 0.667]))
    """
    classes, w = np.unique(y), check_weights(w, len(X))
    D, K = w / w.sum(), len(classes)
    F, given, objective = np.zeros((len(X), K)), 0.0, 1.0
    yield Round(None, inf, 0.0, 1.0, D, F, objective)
    error = inf
    while error > 0:
        h = learn(D)
        said = h.predict(X)
        wrong = said != y
        error = weighted_error(y, said, D)
        if error >= 1 - 1 / K - CHANCE or (error == 0 and wrong[w > 0].any()):
            return
        log_odds = float(2 * vote_weight(error) + np.log(K - 1))
        alpha = min(learning_rate * log_odds, LARGEST_VOTE) if error > 0 else 1 + given
        unscaled = D * np.exp(alpha * wrong)
        Z = float(unscaled.sum())
        D, F, given = unscaled / Z, F + alpha * (said[:, None] == classes), given + alpha
        objective *= Z * float(np.exp(-alpha * (1 - 1 / K)))
        yield Round(h, error, alpha, Z, D, F, objective)


def error_bounds(errors):
    """prod_t Z_t = prod_t sqrt(1 - 4 gamma_t^2) <= exp(-2 sum_t gamma_t^2), after each round.

    Both (T,) bound the training error of `adaboost`; `errors` (T,) are its weighted errors.

    >>> [bound.round(4) for bound in error_bounds([0.2, 0.1])]
    [array([0.8 , 0.48]), array([0.8353, 0.6065])]

    Errata: ensemble-30 (ISML prints Z in the place of the product of all rounds).
    """
    errors = np.asarray(errors, dtype=float)
    return np.cumprod(normaliser(errors)), np.exp(-2 * np.cumsum((1 / 2 - errors) ** 2))


# ---------------------------------------------------------------------------------------
# Estimators
# ---------------------------------------------------------------------------------------


class _Committee(Estimator):
    """Bagging and forests: members on training sets, and the mean of their outputs."""

    def _sets(self, n, w, rng):
        """The sample numbers of each training set, (m, size)."""
        m = check_number("n_estimators", self.n_estimators, at_least=1, integer=True)
        size, bootstrap = _size(self.max_samples, n), check_flag("bootstrap", self.bootstrap)
        if check_flag("oob_score", self.oob_score) and not bootstrap:
            raise ValueError("bootstrap must be True where oob_score is; got False")
        if not bootstrap:
            return self._sets_without_replacement(n, size, m, w, rng)
        if np.ptp(w) > 0:
            return rng.choice(n, size=(m, size), p=w / w.sum())
        return rng.integers(n, size=(m, size))

    def _output(self, member, X):
        """The output of a member, to be averaged."""
        raise NotImplementedError

    def _mean(self, X):
        """The mean output of the members."""
        return sum(self._output(h, X) for h in self.estimators_) / len(self.estimators_)

    def _out_of_bag(self, X, sets):
        """The `out_of_bag` means, and for which samples they exist."""
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
    """The number of samples in a training set."""
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
        """The class fractions of a member, or its vote if it has none: (n, C)."""
        if not hasattr(member, "predict_proba"):
            return (member.predict(X)[:, None] == self.classes_).astype(float)
        P = np.zeros((len(X), len(self.classes_)))
        P[:, np.searchsorted(self.classes_, member.classes_)] = member.predict_proba(X)
        return P

    def _score_out_of_bag(self, X, y, sets):
        """Set the out-of-bag attributes."""
        self.oob_decision_function_, known = self._out_of_bag(X, sets)
        labels = self.classes_[self.oob_decision_function_[known].argmax(axis=1)]
        self.oob_score_ = float(np.mean(labels == y[known])) if known.any() else nan

    def predict_proba(self, X):
        """The mean of the members' class fractions, or of their votes if they have none: (n, C)."""
        X = self._check_fitted(X)
        return self._mean(X)


class _CommitteeRegressor(_Committee, Regressor):
    """A committee that predicts a mean."""

    def _output(self, member, X):
        """The prediction of a member: (n,)."""
        return member.predict(X)

    def _score_out_of_bag(self, X, y, sets):
        """Set the out-of-bag attributes."""
        self.oob_prediction_, known = self._out_of_bag(X, sets)
        f, t = self.oob_prediction_[known], y[known]
        spread = np.sum((t - t.mean()) ** 2) if known.any() else 0.0
        self.oob_score_ = float(1 - np.sum((t - f) ** 2) / spread) if spread > 0 else nan

    def predict(self, X):
        """The mean of the members' predictions: (n,)."""
        X = self._check_fitted(X)
        return self._mean(X)


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
    _: KW_ONLY
    max_samples: Any = None
    bootstrap: bool = True
    oob_score: bool = False
    random_state: Any = None

    def _sets_without_replacement(self, n, size, m, w, rng):
        """Training sets whose samples are all different."""
        most = np.count_nonzero(w)
        if size > most:
            raise ValueError(
                f"max_samples must be <= {most} without bootstrap, the number of samples that have "
                f"a weight; got {size}"
            )
        p = w / w.sum()
        return np.array([rng.choice(n, size=size, replace=False, p=p) for _ in range(m)])

    def _fit_members(self, X, y, sample_weight, default):
        """Draw the training sets, and fit a copy of the estimator to each."""
        w = check_weights(sample_weight, len(X))
        self.estimator_ = _check_estimator(self.estimator, default)
        rng = check_random_state(self.random_state)
        sets = self._sets(len(X), w, rng)
        labels = isinstance(self, ProbabilisticClassifier)
        self.estimators_ = bag(self.estimator_, X, y, sets, rng=rng, labels=labels)
        self.estimators_samples_ = list(sets)
        if self.oob_score:
            self._score_out_of_bag(X, y, sets)


class BaggingClassifier(_Bagging, _CommitteeClassifier):
    """A vote of copies of one classifier, each trained on a bootstrap set: `bag`.

    As in scikit-learn, without max_features, bootstrap_features, warm_start, n_jobs and verbose.

    Parameters
    ----------
    estimator : classifier or None; it is copied, None for a `DecisionTreeClassifier`
    n_estimators : int
    max_samples : None, int or float; size of a set, None for n, a share of n if float
    bootstrap : bool; draw with replacement
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

    def fit(self, X, y, sample_weight=None):
        """Train on sets of X (n, d) and y (n,), any labels, drawn by sample_weight; return self."""
        samples = check_samples(X)
        y = check_labels(y, len(samples))
        self.classes_ = np.unique(y)
        self.n_classes_ = len(self.classes_)
        self._fit_members(samples, y, sample_weight, DecisionTreeClassifier())
        return self._remember(X)

    def decision_function(self, X):
        """The mean of the members' scores: (n,) for two classes, or (n, C).

        If a member has no scores, the class fractions p count: p_1 - p_0 for two classes, or p.
        """
        X = self._check_fitted(X)
        if all(hasattr(h, "decision_function") for h in self.estimators_):
            return sum(h.decision_function(X) for h in self.estimators_) / len(self.estimators_)
        P = self._mean(X)
        return P[:, 1] - P[:, 0] if len(self.classes_) == 2 else P


class BaggingRegressor(_Bagging, _CommitteeRegressor):
    """The mean of copies of one regressor, each trained on a bootstrap set: `bag`, `bagged`.

    As in scikit-learn, with the differences of `BaggingClassifier`.

    Parameters
    ----------
    estimator : regressor or None; it is copied, None for a `DecisionTreeRegressor`
    n_estimators : int
    max_samples : None, int or float; size of a set, None for n, a share of n if float
    bootstrap : bool; draw with replacement
    oob_score : bool; score the predictions for samples that the members have not seen
    random_state : None, int or Generator

    Attributes
    ----------
    estimator_ : regressor; the one that is copied
    estimators_ : list of fitted regressors
    estimators_samples_ : list of ndarray; the samples that each was trained on
    oob_score_ : float; R^2 out of bag, if asked for
    oob_prediction_ : ndarray of shape (n,); predictions out of bag, nan if there are none
    n_features_in_ : int

    >>> X, y = [[0], [1], [2], [3]], [0, 0, 1, 1]
    >>> BaggingRegressor(random_state=0).fit(X, y).predict([[0], [3]]) > 0.5
    array([False,  True])
    """

    def fit(self, X, y, sample_weight=None):
        """Train on sets of X (n, d) and y (n,), targets, drawn by sample_weight; return self."""
        samples = check_samples(X)
        y = check_targets(y, len(samples))
        self._fit_members(samples, y, sample_weight, DecisionTreeRegressor())
        return self._remember(X)


@dataclass(eq=False, repr=False)
class _Forest(TreeRules, _Committee):
    """A forest of trees on training sets."""

    n_estimators: int = 100
    _: KW_ONLY
    bootstrap: bool = True
    oob_score: bool = False
    max_samples: Any = None

    def _sets_without_replacement(self, n, size, m, w, rng):
        """All samples, for every tree."""
        if self.max_samples is not None:
            raise ValueError(f"max_samples must be None without bootstrap; got {size}")
        return np.tile(np.arange(n), (m, 1))

    def _fit_trees(self, X, y, sample_weight, tree):
        """Draw the training sets and grow a forest on them; `tree` is an unfitted estimator."""
        w, rng = check_weights(sample_weight, len(X)), check_random_state(self.random_state)
        k = self.max_features_ = self.features_drawn(X.shape[1])
        sets = self._sets(len(X), w, rng)
        counts = _counts(sets, len(X)) if self.bootstrap else np.tile(w / w.max(), (len(sets), 1))
        rules = {rule.name: getattr(self, rule.name) for rule in fields(Rules)}
        trees = random_forest(X, y, len(sets), k, counts=counts, rng=rng, **rules)
        shared = {name: getattr(self, name) for name in tree.get_params()}
        tree.set_params(**shared | {"random_state": None})
        classes = getattr(self, "classes_", None)
        self.estimators_ = [_fitted(clone(tree), grown, X.shape[1], k, classes) for grown in trees]
        self.estimators_samples_ = list(sets)
        total = sum(h.feature_importances_ for h in self.estimators_)
        self.feature_importances_ = total / total.sum() if total.sum() > 0 else total
        return sets


def _fitted(model, tree, d, max_features, classes):
    """The estimator `model`, as if it had been fitted to d features and had grown this tree."""
    model._keep(tree, d, max_features)
    model.n_features_in_ = d
    if classes is not None:
        model.classes_, model.n_classes_ = classes, len(classes)
    return model


@dataclass(eq=False, repr=False)
class RandomForestClassifier(_Forest, _CommitteeClassifier):
    """A vote of trees on bootstrap sets, each split the best among k features: `random_forest`.

    As in scikit-learn, with the differences of `DecisionTreeClassifier`. Also, warm_start, n_jobs
    and verbose are absent, and samples without a prediction do not count in the out-of-bag score.

    Parameters
    ----------
    n_estimators : int
    criterion : "gini", "entropy" or "error"
    max_depth : int or None; None for no limit
    min_samples_split : int; a node with fewer samples is a leaf
    min_samples_leaf : int; a split leaves at least so many on each side
    max_features : int, "sqrt" or None; features that a node considers, None for all
    min_impurity_decrease : float; a split lowers the impurity of the whole tree at least by this
    bootstrap : bool; False for all samples, for every tree
    oob_score : bool; score the predictions for samples that the trees have not seen
    random_state : None, int or Generator
    ccp_alpha : float; the price of a leaf when the trees are pruned, 0 for no pruning
    max_samples : None, int or float; size of a set, None for n, a share of n if float

    Attributes
    ----------
    classes_ : ndarray of shape (C,)
    n_classes_ : int
    estimators_ : list of fitted DecisionTreeClassifier
    estimators_samples_ : list of ndarray; the samples that each was grown on
    max_features_ : int
    feature_importances_ : ndarray of shape (d,); the mean over the trees
    oob_score_ : float; accuracy out of bag, if asked for
    oob_decision_function_ : ndarray of shape (n, C); class fractions out of bag, or nan
    n_features_in_ : int

    >>> X, y = [[0], [1], [2], [3]], ["low", "low", "high", "high"]
    >>> RandomForestClassifier(random_state=0).fit(X, y).predict([[0.4], [2.6]])
    array(['low', 'high'], dtype='<U4')
    """

    max_features: Any = field(default="sqrt", kw_only=True)

    def fit(self, X, y, sample_weight=None):
        """Grow the trees of samples X (n, d) with labels y (n,) of any kind; return self."""
        samples = check_samples(X)
        y = check_labels(y, len(samples))
        self.classes_, k = np.unique(y, return_inverse=True)
        self.n_classes_ = len(self.classes_)
        sets = self._fit_trees(samples, k, sample_weight, DecisionTreeClassifier())
        if self.oob_score:
            self._score_out_of_bag(samples, y, sets)
        return self._remember(X)


@dataclass(eq=False, repr=False)
class RandomForestRegressor(_Forest, _CommitteeRegressor):
    """The mean of regression trees on bootstrap sets: `random_forest` for targets.

    As in scikit-learn, with the differences of `RandomForestClassifier`.

    Parameters
    ----------
    n_estimators : int
    criterion : "squared_error"
    max_depth : int or None; None for no limit
    min_samples_split : int; a node with fewer samples is a leaf
    min_samples_leaf : int; a split leaves at least so many on each side
    max_features : int, "sqrt" or None; features that a node considers, None for all
    min_impurity_decrease : float; a split lowers the impurity of the whole tree at least by this
    bootstrap : bool; False for all samples, for every tree
    oob_score : bool; score the predictions for samples that the trees have not seen
    random_state : None, int or Generator
    ccp_alpha : float; the price of a leaf when the trees are pruned, 0 for no pruning
    max_samples : None, int or float; size of a set, None for n, a share of n if float

    Attributes
    ----------
    estimators_ : list of fitted DecisionTreeRegressor
    estimators_samples_ : list of ndarray; the samples that each was grown on
    max_features_ : int
    feature_importances_ : ndarray of shape (d,); the mean over the trees
    oob_score_ : float; R^2 out of bag, if asked for
    oob_prediction_ : ndarray of shape (n,); predictions out of bag, nan if there are none
    n_features_in_ : int

    >>> X, y = [[0], [1], [2], [3]], [0, 0, 1, 1]
    >>> RandomForestRegressor(random_state=0).fit(X, y).predict([[0], [3]]) > 0.5
    array([False,  True])
    """

    criterion: str = field(default="squared_error", kw_only=True)
    max_features: Any = field(default=None, kw_only=True)

    def fit(self, X, y, sample_weight=None):
        """Grow the trees of samples X (n, d) with targets y (n,); return self."""
        samples = check_samples(X)
        y = check_targets(y, len(samples))
        sets = self._fit_trees(samples, y, sample_weight, DecisionTreeRegressor())
        if self.oob_score:
            self._score_out_of_bag(samples, y, sets)
        return self._remember(X)


@dataclass(eq=False, repr=False)
class AdaBoostClassifier(ProbabilisticClassifier):
    """A weighted vote of weak classifiers, each trained where the earlier ones err: `samme`.

    As in scikit-learn, with these differences. The default stump has the least weighted error
    (`best_stump`), not the least Gini impurity. An estimator that takes no weights is trained on
    samples drawn by them. One without error outvotes all earlier ones.

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
    estimator_weights_ : ndarray of shape (n_estimators,); votes, twice the notes' alpha; 0 after T
    estimator_errors_ : ndarray of shape (n_estimators,); weighted errors; 1 after T
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
        rate = check_number("learning_rate", self.learning_rate, above=0, below=inf)
        rng = check_random_state(self.random_state)
        y = check_labels(y, len(samples))
        w = check_weights(sample_weight, len(samples))
        samples, y, w = (part[w > 0] for part in (samples, y, w))
        self.classes_ = np.unique(check_labels(y, len(y)))
        self.n_classes_ = len(self.classes_)
        learn = learner(self.estimator_, samples, y, rng=rng)
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

    @property
    def feature_importances_(self):
        """The mean importances of members that have them, weighted by their votes: (d,)."""
        self._require_fit()
        each = [h.feature_importances_ for h in self.estimators_]
        return np.average(each, axis=0, weights=self._alpha)

    @property
    def _alpha(self):
        """The votes of the members: (T,)."""
        return self.estimator_weights_[: len(self.estimators_)]

    def staged_decision_function(self, X):
        """`decision_function` after every round. Yields: (n,), or (n, K)."""
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
        """The label of largest score; in a tie the first."""
        return self.classes_[(F > 0).astype(int) if F.ndim == 1 else F.argmax(axis=1)]

    def predict(self, X):
        """The label with most votes: (n,)."""
        F = self.decision_function(X)
        return self._label(F)

    def staged_predict(self, X):
        """`predict` after every round. Yields: (n,)."""
        return (self._label(F) for F in self.staged_decision_function(X))

    def staged_score(self, X, y, sample_weight=None):
        """The accuracy after every round. Yields: float."""
        for labels in self.staged_predict(X):
            yield float(np.average(labels == np.asarray(y), weights=sample_weight))

    def _proba(self, F):
        """The probabilities for scores F."""
        if F.ndim == 1:
            F = np.column_stack([-F, F]) / 2
        return softmax(F / (self.n_classes_ - 1))

    def predict_proba(self, X):
        """softmax(f / (K - 1)), as in scikit-learn: (n, K); f is a mean vote."""
        F = self.decision_function(X)
        return self._proba(F)

    def staged_predict_proba(self, X):
        """`predict_proba` after every round. Yields: (n, K)."""
        return (self._proba(F) for F in self.staged_decision_function(X))
