r"""Learning theory: when does a low error on the sample mean a low error on new data?

A learner sees n pairs and chooses from a class of functions one that does well on them. It should
also do well on new pairs. The chapter computes how far the two errors may differ: exactly on finite
domains, and in closed form for thresholds, intervals and boxes.

Contents
    The setting               Setting, losses, draw, every_sample
    Risk and its estimate     risk, erm, generalisation_gap, uniform_gap
    Deviations of a mean      deviation_probability, hoeffding, hoeffding_sample_size,
                              uniform_radius
    Concepts                  concept_error, Box, inside, box_volume, box_error
    Learners of concepts      smallest_positive, tightest_box, learn_conjunction, satisfies,
                              pac_sample_size
    With noise                best_threshold, threshold_risk
    Labellings                all_labellings, threshold_realises, box_realises,
                              half_space_realises, sine_frequency, radon_labels, dichotomies
    VC dimension              shatters, vc_dimension, sauer_bound, vc_radius, vc_sample_size
    No free lunch             constant, memoriser, majority, nearest_neighbor,
                              off_training_error, errors_on_targets, expected_errors

Symbols
    P       (k_y, k)          distribution of a pair on a finite domain: P_ij = Pr(Y = y_i, X = x_j)
    H       (m, k)            a class of m functions h: the predictions of each at the k points
    loss    function          loss(prediction, target), in this order, finite and >= 0
    setting Setting           P, the k_y values of Y, H and the loss
    counts  (..., k_y, k)     samples of n pairs: how often each of the k_y k pairs occurs
    R       (m,)              risks R(h); R_n (..., m): empirical risks; h*, h_hat: their minimisers
    n       int               number of samples;  d: number of features
    t       float             a deviation |R_n(h) - R(h)|
    theta   float             a threshold: the concept x >= theta;  theta_star: that of C*
    eps     float             an acceptable error;  delta: the probability of a larger one
    s       int               the number of parts of the region of errors
    v       int               VC dimension;  S(n): Sauer's sum, at most so many labellings
    C       (k,)              a concept, a subset of k points: 1 for its points; C_star: C*
    X       (n, d)            samples, one per row;  x (n,): samples of one feature
    y       (n,)              their labels, 1 (or True) in the concept and 0 outside
    box     Box               the concept low <= x <= high
    p       (k,)              probabilities of the k points
    F       (..., k)          targets: the true labels of the k points
    q       (m,)              probabilities with which a learner returns the functions of H
    rng     Generator         source of random numbers

Notes: MLN "Statistical Learning Framework", "Learning and Generalization", "Probably Approximately
Correct Learning", "Consistency of Empirical Risk Minimization", "Assessing Learnt Models", "'No
Free Lunch' Theorem"; IRHD 2.1; ISML 0/01 "Basic"; PRNN 3. MLN and IRHD also write L(y, f).
"""

from bisect import bisect_left
from collections.abc import Callable
from itertools import combinations
from math import ceil, comb, exp, inf, log, sqrt
from typing import NamedTuple

import numpy as np

from mlnotes.base import ROUNDING, bits, distribution, floats
from mlnotes.decision_theory import cut_errors
from mlnotes.linear_regression import augment
from mlnotes.optimization import closest_points
from mlnotes.probability import binomial_log_pmf, log_gamma, x_log_y

# =======================================================================================
# The lecture
# =======================================================================================

# --- The setting -----------------------------------------------------------------------


class Setting(NamedTuple):
    """The setting of supervised learning: a distribution, a class of functions and a loss.

    For a density, P_ij is p(x_j, y_i) dx_j at the nodes x_j of a quadrature.
    """

    P: np.ndarray  # (k_y, k)
    values: np.ndarray  # (k_y,), the y_i
    H: np.ndarray  # (m, k)
    loss: Callable  # (prediction, target) -> loss >= 0


def losses(setting):
    """L(h(x_j), y_i) of every function and every pair, (m, k_y, k); the prediction comes first.

    >>> P, H = np.array([[0.5, 0.0], [0.25, 0.25]]), np.array([[0, 0], [0, 1]])
    >>> losses(Setting(P, np.array([0, 1]), H, np.not_equal)).astype(int).tolist()
    [[[0, 0], [1, 1]], [[0, 1], [1, 0]]]

    Errata: learning_theory-03 (MLN and IRHD write both L(y, h(x)) and l(f(x), y)).
    """
    return setting.loss(setting.H[:, None, :], setting.values[:, None])


def draw(setting, n, size=1, *, rng):
    """`size` samples of n pairs from P, as counts (size, k_y, k), because order is irrelevant.

    >>> P, H = np.array([[1.0, 0.0]]), np.array([[0, 0]])
    >>> draw(Setting(P, np.array([0]), H, np.not_equal), n=3, rng=np.random.default_rng(0))
    array([[[3, 0]]])
    """
    P = distribution(setting.P, "P")
    return rng.multinomial(n, P.ravel() / P.sum(), size=size).reshape(size, *P.shape)


def every_sample(setting, n):
    """All samples of n pairs as counts (S, k_y, k), and their probabilities (S,):

        n! prod_ij P_ij^counts_ij / counts_ij!

    With c = k_y k pairs, S = C(n + c - 1, c - 1): keep n and c small.

    >>> P, H = np.array([[0.5], [0.5]]), np.array([[0]])
    >>> counts, probability = every_sample(Setting(P, np.array([0, 1]), H, np.not_equal), n=2)
    >>> counts[:, :, 0].tolist(), probability.round(12).tolist()
    ([[0, 2], [1, 1], [2, 0]], [0.25, 0.5, 0.25])
    """
    P = distribution(setting.P, "P")
    c = P.size  # counts_ij is the distance of two of c - 1 bars among n + c - 1 positions
    bars = [(-1, *inner, n + c - 1) for inner in combinations(range(n + c - 1), c - 1)]
    counts = np.diff(bars, axis=1) - 1
    log_p = log_gamma(n + 1) - np.sum(log_gamma(counts + 1) - x_log_y(counts, P.ravel()), axis=1)
    return counts.reshape(-1, *P.shape), np.exp(log_p)


# --- Risk and its estimate -------------------------------------------------------------


def risk(setting, counts=None):
    """The risks R (m,), or the empirical risks R_n (..., m) of samples given as counts:

        R(h) = E L(h(X), Y) = sum_ij P_ij L(h(x_j), y_i),
        R_n(h) = 1/n sum_i L(h(x_i), y_i) = 1/n sum_ij counts_ij L(h(x_j), y_i) .

    >>> P, H = np.array([[0.5, 0.0], [0.25, 0.25]]), np.array([[0, 0], [0, 1]])
    >>> setting = Setting(P, np.array([0, 1]), H, np.not_equal)
    >>> risk(setting), risk(setting, np.array([[1, 0], [0, 3]]))
    (array([0.5 , 0.25]), array([0.75, 0.  ]))
    """
    L = losses(setting)  # (m, k_y, k)
    over_pairs = [-2, -1], [-2, -1]  # sum over these axes: over i and j
    if counts is None:
        return np.tensordot(distribution(setting.P, "P"), L, axes=over_pairs)
    counts = floats(counts)
    n = counts.sum(axis=(-2, -1))[..., None]
    return np.tensordot(counts, L, axes=over_pairs) / n  # divided last: ties stay ties


def erm(setting, counts):
    """h_hat = argmin_h R_n(h) (...,), empirical risk minimisation: a row of H for each sample.

    Of rows with equal empirical risks, it is the first.

    >>> P, H = np.array([[0.5], [0.5]]), np.array([[0], [1]])
    >>> int(erm(Setting(P, np.array([0, 1]), H, np.not_equal), np.array([[1], [2]])))
    1
    """
    R_n = risk(setting, counts)
    return R_n.argmin(axis=-1)


def generalisation_gap(setting, counts):
    """G_n(h) = R(h) - R_n(h) (..., m), the mean loss on new pairs minus that on the sample.

    For a fixed h it has mean 0. For the h_hat of `erm` its mean is >= 0.

    >>> P, H = np.array([[0.5], [0.5]]), np.array([[0], [1]])
    >>> generalisation_gap(Setting(P, np.array([0, 1]), H, np.not_equal), np.array([[3], [1]]))
    array([ 0.25, -0.25])

    Errata: learning_theory-08 (IRHD states G_n -> 0 right after the learnt function).
    """
    return risk(setting) - risk(setting, counts)


def uniform_gap(setting, counts):
    """sup_h |R_n(h) - R(h)| (...,), the largest error of the empirical risks of the class.

    >>> P, H = np.array([[0.5], [0.5]]), np.array([[0], [1]])
    >>> float(uniform_gap(Setting(P, np.array([0, 1]), H, np.not_equal), np.array([[3], [1]])))
    0.25
    """
    return np.abs(generalisation_gap(setting, counts)).max(axis=-1)


# --- Deviations of a mean --------------------------------------------------------------


def deviation_probability(n, p, t):
    """Pr(|K/n - p| > t) with K binomial(n, p): exact, for one fixed h of risk p under 0-1 loss.

    >>> float(deviation_probability(n=4, p=0.5, t=0.25).round(12))  # K = 0 or 4
    0.125
    """
    k = np.arange(n + 1)
    beyond = np.abs(k / n - p) > t + ROUNDING
    return np.exp(binomial_log_pmf(k, n, p))[beyond].sum()


def hoeffding(n, t, m=1):
    """2 m exp(-2 n t^2) >= Pr(max_h |R_n(h) - R(h)| > t), for m functions and losses in [0, 1].

    >>> round(hoeffding(n=200, t=0.1), 4), round(hoeffding(n=200, t=0.1, m=3), 4)
    (0.0366, 0.1099)
    """
    return 2 * m * exp(-2 * n * t**2)


def hoeffding_sample_size(t, delta, m=1):
    """The least n with 2 m exp(-2 n t^2) <= delta: ln(2 m / delta) / (2 t^2), rounded up.

    >>> hoeffding_sample_size(0.1, 0.05), hoeffding_sample_size(0.1, 0.05, m=1000)
    (185, 530)
    """
    return ceil((log(2 * m) - log(delta)) / (2 * t**2))


def uniform_radius(n, delta, m=1):
    """The t with 2 m exp(-2 n t^2) = delta.

    With probability 1 - delta all m empirical risks are within t of the risks.

    >>> round(uniform_radius(n=185, delta=0.05), 2)
    0.1
    """
    return sqrt((log(2 * m) - log(delta)) / (2 * n))


# --- Concepts --------------------------------------------------------------------------


def concept_error(C, C_star, p):
    """err(C) = Pr(C(X) != C*(X)) (...,), for a concept C* and concepts C (..., k).

    >>> float(concept_error(np.array([1, 1, 0]), np.array([0, 1, 1]), np.array([0.5, 0.25, 0.25])))
    0.75
    """
    return (bits(C) != bits(C_star)) @ distribution(p)


class Box(NamedTuple):
    """The concept low <= x <= high in every coordinate: d = 1 an interval, d = 2 a rectangle."""

    low: np.ndarray  # (d,)
    high: np.ndarray  # (d,)


def inside(box, X):
    """C(x) (n,): whether each sample is in the `Box`.

    >>> inside(Box(np.array([0.0, 0.0]), np.array([2.0, 1.0])), np.array([[1.0, 1.0], [1.0, 3.0]]))
    array([ True, False])
    """
    return np.all((box.low <= X) & (X <= box.high), axis=1)


def box_volume(box):
    """prod_j (high_j - low_j) of the part of the `Box` in [0, 1]^d: its uniform probability.

    >>> float(box_volume(Box(np.array([-1.0, 0.5]), np.array([0.5, 1.0]))))
    0.25
    """
    sides = np.clip(box.high, 0, 1) - np.clip(box.low, 0, 1)
    return np.prod(np.maximum(sides, 0))


def box_error(box, target):
    """err = P(A) + P(B) - 2 P(A n B) for A = `box` and B = `target`, with P uniform on [0, 1]^d.

    >>> A, B = Box(np.zeros(2), np.array([0.5, 1.0])), Box(np.zeros(2), np.array([1.0, 0.5]))
    >>> float(box_error(A, B))
    0.5
    """
    common = Box(np.maximum(box.low, target.low), np.minimum(box.high, target.high))
    return box_volume(box) + box_volume(target) - 2 * box_volume(common)


# --- Learners of concepts --------------------------------------------------------------


def smallest_positive(x, y):
    """theta of the smallest concept x >= theta with all positive samples: their minimum, or inf.

    >>> float(smallest_positive(np.array([0.9, 0.2, 0.6]), np.array([1, 0, 1])))
    0.6
    """
    return floats(x)[bits(y) == 1].min(initial=inf)


def tightest_box(X, y):
    """The smallest `Box` that holds all positive samples; an empty one (inf, -inf) without any.

    >>> X = np.array([[1.0, 5.0], [2.0, 3.0], [9.0, 9.0]])
    >>> tightest_box(X, np.array([1, 1, 0]))
    Box(low=array([1., 3.]), high=array([2., 5.]))
    """
    positives = floats(X)[bits(y) == 1]
    low = positives.min(axis=0, initial=inf)  # inf if there are none
    high = positives.max(axis=0, initial=-inf)
    return Box(low, high)


def learn_conjunction(X, y):
    """The longest conjunction that all positive samples satisfy, as literals (2, d).

    Row 0 tells whether each x_j is in it, row 1 whether each "not x_j" is. X holds 0 and 1.

    >>> X = np.array([[1, 0, 1], [1, 0, 0], [0, 0, 1]])
    >>> learn_conjunction(X, np.array([1, 1, 0])).tolist()  # x_1 and not x_2
    [[True, False, False], [False, True, False]]
    """
    X, positive = bits(X) == 1, bits(y) == 1
    literals = np.ones((2, X.shape[1]), dtype=bool)  # x_j in row 0, "not x_j" in row 1
    for x in X[positive]:
        literals[0] &= x  # strike out x_j where x_j = 0
        literals[1] &= ~x  # strike out "not x_j" where x_j = 1
    return literals


def satisfies(literals, X):
    """C(x) (n,): whether each sample of 0 and 1 satisfies all of the `literals` (2, d).

    >>> literals = np.array([[True, False, False], [False, True, False]])
    >>> satisfies(literals, np.array([[1, 0, 1], [1, 1, 0]]))
    array([ True, False])
    """
    X = bits(X) == 1
    contradicted = (literals[0] & ~X) | (literals[1] & X)
    return ~contradicted.any(axis=1)


def pac_sample_size(eps, delta, s=1):
    """N = (s / eps) ln(s / delta), rounded up: Prob[err > eps] < delta for all n > N.

    A threshold has one part s, a box or a conjunction 2d: one for each face or literal. N serves
    every distribution of X and every C* of the class, if the labels are without noise.

    >>> pac_sample_size(0.1, 0.05), pac_sample_size(0.1, 0.05, s=4)  # threshold, rectangle
    (30, 176)
    """
    return ceil(s / eps * log(s / delta))


# --- With noise ------------------------------------------------------------------------


def best_threshold(x, y):
    """theta of the concept x >= theta with the fewest errors, the first of equals: O(n log n).

    It is empirical risk minimisation under 0-1 loss. The candidates are those of
    `decision_theory.cut_errors`.

    >>> float(best_threshold(np.array([1.0, 2.0, 3.0, 4.0]), np.array([0, 1, 0, 1])))
    1.5
    """
    cuts, errors = cut_errors(x, y)
    return cuts[errors.argmin()]


def threshold_risk(theta, theta_star, noise=0.0):
    """R = eta + (1 - 2 eta) |theta - theta*|, for X uniform on [0, 1] and noisy labels.

    The labels are those of x >= theta*. Each is flipped with probability eta, the `noise`.
    `theta_star` is in [0, 1], and theta is clipped to [0, 1].

    >>> round(float(threshold_risk(0.75, theta_star=0.5, noise=0.1)), 12)
    0.3
    """
    return noise + (1 - 2 * noise) * np.abs(np.clip(theta, 0, 1) - theta_star)


# --- Labellings ------------------------------------------------------------------------


def all_labellings(n):
    """All 2^n labellings of n points, as the binary numbers 0, ..., 2^n - 1: (2^n, n).

    >>> all_labellings(2).tolist()
    [[0, 0], [0, 1], [1, 0], [1, 1]]
    """
    return (np.arange(2**n)[:, None] >> np.arange(n)[::-1]) & 1


def threshold_realises(X, y):
    """Whether some x >= theta has the labels y: every negative sample is below every positive one.

    x is the first feature of X.

    >>> X = np.array([[1.0], [2.0]])
    >>> print(threshold_realises(X, np.array([0, 1])), threshold_realises(X, np.array([1, 0])))
    True False
    """
    return np.all(X[bits(y) == 0, 0] < smallest_positive(X[:, 0], y))


def box_realises(X, y):
    """Whether some `Box` has the labels y: the tightest box holds no negative sample.

    >>> X = np.array([[1.0], [2.0], [3.0]])  # d = 1: intervals
    >>> print(box_realises(X, np.array([1, 1, 0])), box_realises(X, np.array([1, 0, 1])))
    True False
    """
    return not inside(tightest_box(X, y), X[bits(y) == 0]).any()


def half_space_realises(X, y):
    """Whether some w^T x + b > 0 has the labels y: the convex hulls of the classes are disjoint.

    >>> X = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]])
    >>> print(*[half_space_realises(X, np.array(y)) for y in ([0, 1, 0, 1], [0, 0, 1, 1])])
    True False
    """
    positive = bits(y) == 1
    if positive.all() or not positive.any():  # w = 0 has these labels
        return True
    return closest_points(X[positive], X[~positive]).distance > 0


def sine_frequency(y):
    """The omega with [sin(omega x_i) > 0] = y_i at x_i = 10^-i, for any labels y:

        omega = pi (1 + sum_i (1 - y_i) 10^i)

    The class has one parameter, but its VC dimension is not finite. A floating-point number has
    digits for 14 labels.

    >>> y = np.array([1, 0, 0, 1])
    >>> (np.sin(sine_frequency(y) * 10.0 ** -np.arange(1, 5)) > 0).astype(int)
    array([1, 0, 0, 1])
    """
    return np.pi * (1 + (1 - bits(y)) @ 10.0 ** np.arange(1, len(y) + 1))


def radon_labels(X):
    """Labels (d + 2,) of d + 2 points X that no half space of R^d has, y_i = [a_i > 0] with

        sum_i a_i = 0,   sum_i a_i x_i = 0,   a != 0 .

    >>> y = radon_labels(np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]]))
    >>> bool(y[0] == y[1] != y[2] == y[3])
    True
    """
    a = np.linalg.svd(augment(X).T)[2][-1]
    return (a > 0).astype(int)


def dichotomies(X, realises):
    """All labellings of the points X that a class realises, (g, n): the class restricted to X.

    All 2^n are tried: keep n small. `realises` (X, y) is a function such as `box_realises`.

    >>> dichotomies(np.array([[3.0], [7.0]]), threshold_realises).tolist()
    [[0, 0], [0, 1], [1, 1]]
    """
    Y = all_labellings(len(X))
    return Y[[bool(realises(X, y)) for y in Y]]


# --- VC dimension ----------------------------------------------------------------------


def shatters(H, points):
    """Whether the class H, with predictions 0 and 1, has all 2^r labellings of r points.

    `points` (r,) are columns of H.

    >>> H = np.array([[0, 0], [0, 1], [1, 1]])
    >>> shatters(H, [0]), shatters(H, [1]), shatters(H, [0, 1])
    (True, True, False)
    """
    labellings = np.unique(H[:, list(points)], axis=0)
    return len(labellings) == 2 ** len(points)


def vc_dimension(H):
    """The size of the largest set of points that H (m, k) shatters, by trying all sets.

    For a class on a larger domain, restricted to k points by `dichotomies`, it is a lower bound.

    >>> x = np.arange(5.0)[:, None]
    >>> vc_dimension(dichotomies(x, threshold_realises)), vc_dimension(dichotomies(x, box_realises))
    (1, 2)
    """
    k, v = H.shape[1], 0
    while v < k and any(shatters(H, points) for points in combinations(range(k), v + 1)):
        v += 1  # some v + 1 points are shattered
    return v


def sauer_bound(n, v):
    """S(n) = sum_{i <= v} C(n, i): the most labellings of n points for VC dimension v, exactly.

    >>> [sauer_bound(n, v=1) for n in range(4)], sauer_bound(4, v=2)
    ([1, 2, 3, 4], 11)
    """
    return sum(comb(n, i) for i in range(v + 1))


def vc_radius(n, delta, v):
    """The t with 4 S(2n) exp(-n t^2 / 8) = delta, where S is the `sauer_bound`.

    With probability 1 - delta all empirical risks of the class under 0-1 loss are within t of the
    risks.

    >>> round(vc_radius(1000, delta=0.05, v=1), 3)
    0.31
    """
    return sqrt(8 / n * (log(4 * sauer_bound(2 * n, v)) - log(delta)))


def vc_sample_size(t, delta, v):
    """The least n with `vc_radius` <= t; it grows nearly in proportion to v.

    >>> vc_sample_size(0.1, 0.05, v=1), vc_sample_size(0.1, 0.05, v=3)
    (11544, 28341)
    """
    n = 1
    while vc_radius(n, delta, v) > t:  # it falls as n grows
        n *= 2
    return 1 + bisect_left(range(1, n), True, key=lambda i: vc_radius(i, delta, v) <= t)


# --- No free lunch ---------------------------------------------------------------------
#
# A learner is a function of training points x (n,), their labels y (n,) and the number k of points
# 0, ..., k - 1. It returns the labels h (k,) that it predicts for all points.


def constant(x, y, k):
    """0 at all k points, for any training points x.

    >>> constant(np.array([1, 2]), np.array([1, 1]), k=4)
    array([0, 0, 0, 0])
    """
    return np.zeros(k, dtype=int)


def memoriser(x, y, k):
    """The labels y at the training points x, and 0 at all others of the k points.

    >>> memoriser(np.array([1, 2]), np.array([1, 1]), k=4)
    array([0, 1, 1, 0])
    """
    h = np.zeros(k, dtype=int)
    h[x] = y
    return h


def majority(x, y, k):
    """The more frequent label of the training points x at all k points; 0 if there is a tie.

    >>> majority(np.array([1, 2]), np.array([1, 1]), k=4)
    array([1, 1, 1, 1])
    """
    return np.full(k, int(2 * np.sum(bits(y)) > len(y)))


def nearest_neighbor(x, y, k):
    """At each of the k points, the label of the nearest training point of x, the first of equals.

    >>> nearest_neighbor(np.array([0, 3]), np.array([0, 1]), k=4)
    array([0, 0, 1, 1])
    """
    distance = np.abs(np.arange(k)[:, None] - x)
    return y[distance.argmin(axis=1)]


def off_training_error(F, H, q, p, x, *, seen=False):
    """The errors at unseen points (...,), for targets F and a learner that returns h with q_h:

        J(F, D) = sum_h q_h sum_{x not in D} p(x) [1 - delta(F(x), h(x))]

    x (n,) are the points of D. With `seen`, the inner sum runs over x in D.

    >>> F, H, p = np.array([1, 1, 0, 1]), np.array([[1, 1, 0, 0]]), np.full(4, 0.25)
    >>> float(off_training_error(F, H, np.ones(1), p, x=np.array([0, 1])))
    0.25

    Errata: learning_theory-19 (MLN prints the sum over x in D, for which the theorem is false).
    """
    in_D = np.isin(np.arange(len(p)), x)
    return (F[..., None, :] != H) @ np.where(in_D == seen, p, 0.0) @ q


def errors_on_targets(learner, x, p, *, seen=False):
    """J(F, D) for each of the 2^k targets F, where D holds the training points x, labelled by F.

    The sum over all F is 2^k / 2 times the probability of the unseen points, for every `learner`.
    For `seen` see `off_training_error`.

    >>> x, p = np.array([0, 1]), np.full(4, 0.25)
    >>> [float(errors_on_targets(learner, x, p).sum()) for learner in (memoriser, majority)]
    [4.0, 4.0]
    """
    k, one = len(p), np.ones(1)
    learnt = [(F, learner(x, F[x], k)[None]) for F in all_labellings(k)]
    return np.array([off_training_error(F, H, one, p, x, seen=seen) for F, H in learnt])


def expected_errors(learner, n, p, *, seen=False):
    """sum_D Pr[D | F] J(F, D) for each target F (2^k,), in the order of `all_labellings`.

    D ranges over all k^n draws of n points by p. No free lunch: the sum over all F is the same for
    every `learner`, unless `seen` is true.

    >>> p = np.array([0.5, 0.5])
    >>> expected_errors(constant, 1, p), expected_errors(majority, 1, p)
    (array([0.  , 0.25, 0.25, 0.5 ]), array([0. , 0.5, 0.5, 0. ]))
    """
    draws = np.indices((len(p),) * n).reshape(n, -1).T
    return sum(np.prod(p[x]) * errors_on_targets(learner, x, p, seen=seen) for x in draws)
