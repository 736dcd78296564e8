"""Fisher's linear discriminant: the line on which the projected classes are best separated.

Fisher compares the distance of the projected means with the spread about them. With few samples
the spread is 0 along some directions, and a remedy is needed.

Contents
    Telling two classes apart    discriminant, separator
    Projections                  project, class_means, mean_direction, projected_scatters,
                                 fisher_ratio, direction_error
    Scatter matrices             difference_scatter, within_scatter, between_scatter
    The best direction           rayleigh_quotient, rayleigh_gradient, generalised_eigen,
                                 Discriminants, fisher_direction, label_regression,
                                 threshold_rule
    Several classes              determinant_criterion, trace_criterion, discriminants
    Where S_W is singular        whitening, principal_axes, pca_lda, regularised_direction,
                                 pseudo_inverse_direction
    Local scatter                local_scatters
    Estimators                   LinearDiscriminantAnalysis

Symbols
    X      (n, d)    samples x, one per row
    y      (n,)      labels of any kind, with C sorted classes. Two classes are called 0 and 1
    n_k    (C,)      samples of each class, n in all
    means  (C, d)    mu_k, the means of the classes; for two classes mu (2, d)
    w      (d,)      direction, from class 0 to 1; W (d, m): directions in columns, z = W^T x
    z      (n,)      projections z_i = w^T x_i; zbar (C,): their means in each class
    S_B    (d, d)    scatter between the classes; for two classes also S_delta, its multiple
    S_W    (d, d)    scatter within the classes; Sigma = S_W / n
    J      float     the criterion of a direction
    m      int       number of directions

Notes: MLN "Fisher Linear Discriminant"; PRNN 4 and 4.1; ISML "Feature Extraction" 6 (LDA); IRHD 6.
PRNN and ISML number two classes 1 and 2. PRNN's m_k and MLN's M_k are our mu_k, R_FLDA is J.
"""

from dataclasses import dataclass
from math import inf
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from mlnotes.base import (
    LinearClassifier,
    LogProbabilisticClassifier,
    Transformer,
    check_choice,
    check_flag,
    check_labels,
    check_number,
    check_samples,
)
from mlnotes.clustering import cluster_means
from mlnotes.decision_theory import chosen_prior, log_posterior, posterior
from mlnotes.linear_regression import augment, qr_solution
from mlnotes.optimization import separating_hyperplane
from mlnotes.probability import normal_cdf

ROUND_OFF = 1e-10  # an eigenvalue up to this share of the largest counts as 0
COINCIDENT = 1e-20  # the criterion of means that differ by rounding alone
FLAT = 1e-13  # a feature that differs from its mean by at most this share of it is constant
EPS = np.finfo(float).eps


# ---------------------------------------------------------------------------------------
# Telling two classes apart
# ---------------------------------------------------------------------------------------


def discriminant(log_p, prior):
    """Pr(0 | x) - Pr(1 | x) of two classes: Bayes' rule takes class 0 where it is positive.

    `log_p` (n, 2) are the ln p(x_i | k), `prior` (2,) the probabilities of the classes.

    >>> discriminant(np.log([[0.3, 0.1], [0.1, 0.3]]), prior=np.array([0.5, 0.5])).round(12)
    array([ 0.5, -0.5])
    """
    q = posterior(log_p, prior)
    return q[:, 0] - q[:, 1]


def separator(X, y):
    """A hyperplane with w^T x_i + b > 0 for class 1 and < 0 for class 0, if there is one.

    It lies midway between the convex hulls of the classes, and is checked on every sample.

    Returns: w (d,) and b, or None if no hyperplane separates the classes.

    >>> w, b = separator(np.array([[0.0, 0.0], [1.0, 0.0]]), np.array([0, 1]))
    >>> w.round(9), round(b, 9)
    (array([1., 0.]), -0.5)

    Errata: discriminant-38 (PRNN has class 0 on the positive side, and counts b as a weight).
    """
    k = _two_classes(y)
    try:
        w, b = separating_hyperplane(X[k == 1], X[k == 0])
    except ValueError:  # the hulls meet
        return None
    side = np.where(k == 1, 1, -1) * (X @ w + b)
    return (w, b) if (side > 0).all() else None


def _two_classes(y):
    """The class of every sample, 0 or 1."""
    classes, k = np.unique(y, return_inverse=True)
    if len(classes) != 2:
        raise ValueError(f"y must hold 2 classes here; got {len(classes)}")
    return k


# ---------------------------------------------------------------------------------------
# Projections
# ---------------------------------------------------------------------------------------


def project(X, w):
    """z_i = w^T x_i; for ||w|| = 1 the signed length of the projection of x_i on the line along w.

    >>> project(np.array([[3.0, 4.0], [0.0, 5.0]]), w=np.array([0.6, 0.8]))
    array([5., 4.])
    """
    return X @ w


def class_means(X, y):
    """mu_k = 1/n_k sum of the x_i of class k.

    Returns: n_k (C,) and the means (C, d), the classes sorted.

    >>> n_k, means = class_means(np.array([[0.0], [2.0], [7.0]]), np.array(["a", "a", "b"]))
    >>> n_k, means.ravel()
    (array([2, 1]), array([1., 7.]))
    """
    _, k, n_k = np.unique(y, return_inverse=True, return_counts=True)
    return n_k, cluster_means(X, k, len(n_k))


def mean_direction(mu):
    """(mu_1 - mu_0) / ||mu_1 - mu_0||: the unit vector w with the largest gap w^T (mu_1 - mu_0).

    Raises: ValueError if the means coincide.

    >>> mean_direction(np.array([[1.0, 1.0], [4.0, 5.0]]))
    array([0.6, 0.8])
    """
    delta = mu[1] - mu[0]
    length = np.linalg.norm(delta)
    if length <= FLAT * np.abs(mu).max():
        raise ValueError(f"the means of the classes must differ; got {mu.tolist()}")
    return delta / length


def projected_scatters(X, y, w):
    """s_k^2 = sum over class k of (w^T x_i - w^T mu_k)^2: n_k times the variance of class k.

    Returns: (C,).

    >>> projected_scatters(np.array([[0.0], [2.0], [7.0]]), np.array([0, 0, 1]), w=np.array([1.0]))
    array([2., 0.])
    """
    _, k = np.unique(y, return_inverse=True)  # class of each sample
    z = project(X, w)
    _, zbar = class_means(z[:, None], y)  # z as a column: zbar (C, 1)
    return np.bincount(k, (z - zbar[k, 0]) ** 2)  # the sum for each class


def fisher_ratio(X, y, w):
    """J(w) = (zbar_1 - zbar_0)^2 / (s_0^2 + s_1^2): squared distance of the means over the spread.

    Raises: ValueError unless there are two classes, and if both are constant along w.

    >>> fisher_ratio(np.array([[0.0], [2.0], [5.0], [7.0]]), np.array([0, 0, 1, 1]), np.ones(1))
    6.25

    Errata: discriminant-08 (PRNN prints mu_1^2 - mu_2^2 for the numerator; it may be negative).
    """
    _two_classes(y)  # refuses any other number of classes
    _, mu = class_means(X, y)
    zbar = project(mu, w)  # the projected means
    spread = projected_scatters(X, y, w).sum()
    _check_spread(spread, zbar, len(X))
    return float((zbar[1] - zbar[0]) ** 2 / spread)


def _check_spread(spread, zbar, n):
    """Refuse projections that are constant in each class up to rounding."""
    if spread <= n * (FLAT * np.abs(zbar).max()) ** 2:
        raise ValueError("the projected classes must have some spread; w^T x is constant in each")


def direction_error(w, mu, Sigma):
    """Phi(-|w^T (mu_1 - mu_0)| / (2 sqrt(w^T Sigma w))): the error of the best cut on w^T x.

    It holds for two equally probable normal classes: means mu (2, d), covariance Sigma (d, d).

    >>> round(direction_error(np.array([1.0]), np.array([[0.0], [2.0]]), np.eye(1)), 4)
    0.1587
    """
    gap = np.abs(w @ (mu[1] - mu[0]))
    return float(normal_cdf(-gap / 2, 0.0, w @ Sigma @ w))


# ---------------------------------------------------------------------------------------
# Scatter matrices
# ---------------------------------------------------------------------------------------


def difference_scatter(mu):
    """S_delta = delta delta^T with delta = mu_1 - mu_0: w^T S_delta w = (zbar_1 - zbar_0)^2.

    >>> difference_scatter(np.array([[1.0, 1.0], [2.0, 4.0]]))
    array([[1., 3.],
           [3., 9.]])
    """
    delta = mu[1] - mu[0]
    return np.outer(delta, delta)


def within_scatter(X, y):
    """S_W = sum_k S_k with S_k = sum over class k of (x_i - mu_k)(x_i - mu_k)^T.

    w^T S_W w is the sum of the `projected_scatters`. Its rank is at most n - C.

    >>> within_scatter(np.array([[0.0, 1.0], [2.0, 3.0], [7.0, 7.0]]), np.array([0, 0, 1]))
    array([[2., 2.],
           [2., 2.]])

    Errata: discriminant-11 (PRNN's definition omits class 2), discriminant-12 (ISML's sums of
    (x - mu_1)(x - mu_2)^T are S_W only if each is over one class; over all samples they are 2 S_W).
    """
    _, k = np.unique(y, return_inverse=True)  # class of each sample
    _, means = class_means(X, y)
    D = X - means[k]  # each sample minus the mean of its class
    return D.T @ D  # the sum of the outer products of its rows


def between_scatter(n_k, means):
    """S_B = sum_k n_k (mu_k - xbar)(mu_k - xbar)^T with xbar = sum_k n_k mu_k / n, any C.

    Its rank is at most C - 1. For two classes it is n_0 n_1 / n times `difference_scatter`.

    >>> between_scatter(np.array([1, 3]), np.array([[0.0], [4.0]]))
    array([[12.]])
    """
    gaps = means - np.average(means, axis=0, weights=n_k)  # mu_k - xbar
    return (gaps.T * n_k) @ gaps  # gaps.T * n_k: column k times n_k


# ---------------------------------------------------------------------------------------
# The best direction
# ---------------------------------------------------------------------------------------


def rayleigh_quotient(w, S_B, S_W):
    """J(w) = w^T S_B w / (w^T S_W w): `fisher_ratio`, in terms of the scatters.

    >>> rayleigh_quotient(np.array([1.0, 2.0]), np.diag([3.0, 6.0]), np.eye(2))
    5.4
    """
    return float(w @ S_B @ w / (w @ S_W @ w))


def rayleigh_gradient(w, S_B, S_W):
    """grad J = (2 S_B w (w^T S_W w) - 2 S_W w (w^T S_B w)) / (w^T S_W w)^2.

    It is 0 where S_B w = lambda S_W w, with lambda = J(w). For every w, w^T grad J = 0.

    >>> rayleigh_gradient(np.array([1.0, 0.0]), np.array([[4.0, 1.0], [1.0, 2.0]]), np.eye(2))
    array([0., 2.])

    Errata: discriminant-15 (ISML prints the two terms exchanged: the same zeros, but downhill).
    """
    b, s = S_B @ w, S_W @ w
    return (2 * b * (w @ s) - 2 * s * (w @ b)) / (w @ s) ** 2


class Discriminants(NamedTuple):
    """Directions W and their criteria: S_B w_i = lambda_i S_W w_i."""

    values: np.ndarray  # (m,), lambda_i = J(w_i), the largest first
    W: np.ndarray  # (d, m), with W^T S_W W = I


def generalised_eigen(S_B, S_W):
    """All solutions of S_B w = lambda S_W w: the stationary points of J, and J there.

    Returns: `Discriminants`, with m = d. Raises: ValueError if S_W is singular.

    >>> values, W = generalised_eigen(np.diag([4.0, 9.0]), np.diag([1.0, 9.0]))
    >>> values, abs(W[:, 0])
    (array([4., 1.]), array([1., 0.]))
    """
    _check_regular(S_W)
    L = np.linalg.cholesky(S_W)  # S_W = L L^T
    K = np.linalg.solve(L, np.linalg.solve(L, S_B).T)  # L^{-1} S_B L^{-T}
    values, V = np.linalg.eigh(K)  # in ascending order
    W = np.linalg.solve(L.T, V)  # w_j = L^{-T} v_j
    return Discriminants(values[::-1], W[:, ::-1])


def _check_regular(S_W):
    """Refuse S_W unless it has full rank when every feature is divided by its spread."""
    sd = np.sqrt(np.diag(S_W))
    unit = np.where(sd > 0, sd, 1)
    rank = np.linalg.matrix_rank(S_W / unit / unit[:, None], hermitian=True)
    if rank < len(S_W):
        raise ValueError(
            f"S_W must be regular; got rank {rank} of {len(S_W)} (it is at most n - C): reduce the "
            "dimension first (pca_lda), regularise it, or take its pseudo-inverse"
        )


def fisher_direction(S_W, mu):
    """w = S_W^{-1} (mu_1 - mu_0): the direction of largest J, without an eigensolver.

    Raises: ValueError if S_W is singular or the means coincide: then J = 0 for every w.

    >>> fisher_direction(np.diag([1.0, 4.0]), mu=np.array([[0.0, 0.0], [2.0, 2.0]]))
    array([2. , 0.5])

    Errata: discriminant-38 (ISML prints an equality sign for "proportional to").
    """
    _check_regular(S_W)
    delta = mu[1] - mu[0]
    w = np.linalg.solve(S_W, delta)  # S_W w = delta
    _check_apart(w @ delta)
    return w


def _check_apart(J):
    """Refuse a largest criterion that is 0 up to rounding."""
    if not J > COINCIDENT:
        raise ValueError(
            "the means of the classes must differ: where they coincide, S_B = 0, J(w) = 0 for "
            "every w, and no direction is better than another"
        )


def label_regression(X, y, targets=None):
    """Least squares with one target number per class: w is parallel to `fisher_direction`.

    `targets` are the numbers for class 0 and class 1, by default -n / n_0 and n / n_1.

    Returns: w (d,) and b. Raises: ValueError if the targets are equal.

    >>> w, b = label_regression(np.array([[0.0], [2.0], [7.0]]), np.array([0, 0, 1]))
    >>> round(-b / float(w[0]), 9)
    3.0
    """
    k = _two_classes(y)
    n_k = np.bincount(k)
    targets = len(k) / n_k * [-1, 1] if targets is None else np.asarray(targets, dtype=float)
    if targets[0] == targets[1]:
        raise ValueError(f"targets must differ between the classes; got {targets}")
    b, *w = qr_solution(augment(X), targets[k])
    return np.array(w), float(b)


def threshold_rule(X, y, prior=None):
    """Class 1 where w^T x + b > 0, with w = Sigma^{-1} (mu_1 - mu_0) and

        b = -w^T (mu_0 + mu_1) / 2 + ln(pi_1 / pi_0) .

    It is Bayes' rule for normal classes with Sigma = S_W / n. The default `prior` (2,) is n_k / n.

    Returns: w (d,) and b.
    Raises: ValueError as `fisher_direction` does, and unless both pi_k are > 0 with the sum 1.

    >>> w, b = threshold_rule(np.array([[0.0], [2.0], [5.0], [7.0]]), np.array([0, 0, 1, 1]))
    >>> w, round(float(b), 9)
    (array([5.]), -17.5)
    """
    _two_classes(y)  # refuses any other number of classes
    n_k, mu = class_means(X, y)
    pi = chosen_prior(prior, n_k / len(X), name="prior", positive=True)
    w = fisher_direction(within_scatter(X, y) / len(X), mu)  # S_W / n = Sigma
    b = -w @ (mu[0] + mu[1]) / 2 + np.log(pi[1] / pi[0])
    return w, b


# ---------------------------------------------------------------------------------------
# Several classes
# ---------------------------------------------------------------------------------------


def determinant_criterion(W, S_B, S_W):
    """J(W) = |W^T S_B W| / |W^T S_W W|: the ratio of squared volumes after z = W^T x.

    Only the space that W spans matters. With C columns or more it is 0.

    Raises: ValueError if the classes have no spread in some direction of that space.

    >>> round(determinant_criterion(np.eye(2), np.diag([8.0, 3.0]), np.diag([2.0, 1.0])), 9)
    12.0
    """
    between, within = W.T @ S_B @ W, W.T @ S_W @ W
    if np.linalg.matrix_rank(within, hermitian=True) < len(within):
        raise ValueError("W^T S_W W must be regular; its determinant is 0")
    return float(np.linalg.det(between) / np.linalg.det(within))


def trace_criterion(W, S_B, S_W):
    """J(W) = tr((W^T S_W W)^{-1} W^T S_B W): only the space that W spans matters.

    >>> trace_criterion(np.eye(2), np.diag([8.0, 3.0]), np.diag([2.0, 1.0]))
    7.0

    Errata: discriminant-30 (ISML sets it equal to tr(S_W^{-1} S_B), which does not depend on W).
    """
    return float(np.trace(np.linalg.solve(W.T @ S_W @ W, W.T @ S_B @ W)))


def discriminants(S_B, S_W, m=None):
    """The m solutions of S_B w = lambda S_W w with the largest lambda; by default all lambda > 0.

    They maximise `determinant_criterion` and `trace_criterion`.

    Returns: `Discriminants`. Raises: ValueError if S_W is singular, or m exceeds the rank of S_B.

    >>> values, W = discriminants(np.diag([4.0, 9.0, 0.0]), np.eye(3), m=2)
    >>> values, W.shape
    (array([9., 4.]), (3, 2))
    """
    values, W = generalised_eigen(S_B, S_W)  # the largest lambda first
    _check_apart(values[0])
    rank = _between_rank(S_B, S_W, values)
    m = rank if m is None else m
    _check_count(m, rank)
    return Discriminants(values[:m], W[:, :m])


def _between_rank(S_B, S_W, values):
    """The rank of S_B, with features in units of their spread; `values` are the lambda."""
    unit = np.sqrt(np.diag(S_W))
    rank = np.linalg.matrix_rank(S_B / unit / unit[:, None], hermitian=True)
    return min(rank, np.count_nonzero(values > ROUND_OFF * values[0]))


def _check_count(m, rank):
    """Refuse a number of directions that S_B does not have."""
    if not 1 <= m <= rank:
        raise ValueError(f"m must be between 1 and the rank of S_B, {rank}; got {m}")


# ---------------------------------------------------------------------------------------
# Where S_W is singular
# ---------------------------------------------------------------------------------------


def whitening(S, tol=0.0):
    """A (d, r) with A^T S A = I: the samples A^T x have the same spread 1 in all r directions.

    Directions in which the spread is 0 up to rounding, or at most `tol` in units of the spread of
    each feature, are left out. Raises: ValueError if no direction is left.

    >>> whitening(np.diag([4.0, 0.0])).T
    array([[0.5, 0. ]])
    """
    spread = np.sqrt(np.diag(S))
    unit = np.where(spread > 0, spread, 1.0)
    squares, V = np.linalg.eigh(S / np.outer(unit, unit))
    kept = squares > max(tol**2, 4 * len(S) * EPS * squares[-1])
    if not kept.any():
        raise ValueError(
            f"X must vary within the classes by more than tol = {tol:g}, in units of the spread of "
            f"each feature there; got {np.sqrt(max(squares[-1], 0)):g}"
        )
    return V[:, kept] / np.sqrt(squares[kept]) / unit[:, None]


def principal_axes(X, m=None):
    """The m orthonormal directions along which the centred samples vary most, in columns.

    Returns: (d, m), where m is by default the rank of the centred samples.
    Raises: ValueError if the samples vary along fewer than m directions.

    >>> abs(principal_axes(np.array([[0.0, 0.0], [4.0, 1.0], [8.0, 0.0]]), 1)).round(12).T
    array([[1., 0.]])
    """
    mean = X.mean(axis=0)
    D = X - mean
    D[:, np.abs(D).max(axis=0) <= FLAT * np.abs(mean)] = 0
    _, s, Vt = np.linalg.svd(D, full_matrices=False)
    rank = np.count_nonzero(s > s.max() * max(X.shape) * EPS)
    m = rank if m is None else m
    if not 1 <= m <= rank:
        raise ValueError(f"m must be between 1 and the rank of the centred X, {rank}; got {m}")
    return Vt[:m].T


def pca_lda(X, y, m=None):
    """PCA to m <= n - C dimensions, where S_W is regular in general, then the discriminants there.

    By default, m is as large as X and n - C allow, the largest rank of S_W.

    Returns: all `Discriminants`, as directions of the original samples.
    Raises: ValueError if n = C or m > n - C, or if S_W is still singular.

    >>> X, y = np.array([[0.0, 0, 0], [2, 1, 0], [0, 3, 0], [2, 2, 0]]), np.array([0, 0, 1, 1])
    >>> values, W = pca_lda(X, y)
    >>> values.round(12), abs(W).round(12).ravel()
    (array([4.]), array([0., 1., 0.]))

    Errata: discriminant-33 (ISML says that S_W is singular for n < d; it is for n < d + C).
    """
    n_k, means = class_means(X, y)
    most = len(X) - len(n_k)  # n - C
    _check_dimension(m, most, len(X))
    P = principal_axes(X, m)[:, :most]  # principal axes in columns
    S_B = between_scatter(n_k, means @ P)
    S_W = within_scatter(X @ P, y)  # of the samples P^T x
    values, W = discriminants(S_B, S_W)
    return Discriminants(values, P @ W)  # W^T (P^T x) = (P W)^T x


def _check_dimension(m, most, n):
    """Refuse more dimensions than S_W can have."""
    if most == 0:
        raise ValueError(f"X must have more samples than classes; got {n} of both")
    if m is not None and m > most:
        raise ValueError(f"m must be at most n - C = {most}, the rank of S_W; got {m}")


def regularised_direction(S_W, mu, gamma):
    """(S_W + gamma I)^{-1} (mu_1 - mu_0), which exists for every gamma > 0.

    Raises: ValueError if gamma is not > 0, or infinite.

    >>> regularised_direction(np.diag([1.0, 0.0]), np.array([[0.0, 0.0], [2.0, 2.0]]), gamma=1.0)
    array([1., 2.])
    """
    _check_gamma(gamma)
    d = len(S_W)
    return np.linalg.solve(S_W + gamma * np.eye(d), mu[1] - mu[0])


def _check_gamma(gamma):
    if not 0 < gamma < inf:
        raise ValueError(f"gamma must be > 0 and finite; got {gamma}")


def pseudo_inverse_direction(S_W, mu):
    """S_W^+ (mu_1 - mu_0): the directions in which the classes have no spread are left out.

    >>> pseudo_inverse_direction(np.diag([4.0, 0.0]), mu=np.array([[0.0, 0.0], [2.0, 2.0]]))
    array([0.5, 0. ])
    """
    return np.linalg.pinv(S_W, hermitian=True) @ (mu[1] - mu[0])


# ---------------------------------------------------------------------------------------
# Local scatter
# ---------------------------------------------------------------------------------------


def local_scatters(X, y, affinity):
    """The scatters of local Fisher analysis, which brings only neighbours of a class together:

        S = 1/2 sum_ij A_ij (x_i - x_j)(x_i - x_j)^T

        for S_W with A_ij = a_ij / n_k             if both are in class k, else 0,
        for S_B with A_ij = a_ij (1/n - 1/n_k)     if both are in class k, else 1/n.

    `affinity` (n, n) holds the a_ij, such as `clustering.rbf_affinity`: symmetric, and near 0 for
    samples that are far apart. With all a_ij = 1, S_B and S_W are the ordinary scatters.

    Returns: S_B and S_W.

    >>> X, y = np.array([[0.0], [2.0], [7.0]]), np.array([0, 0, 1])
    >>> [S.round(9).item() for S in local_scatters(X, y, np.ones((3, 3)))]
    [24.0, 2.0]
    """
    _, k, n_k = np.unique(y, return_inverse=True, return_counts=True)
    n, size = len(k), n_k[k]
    same = k[:, None] == k
    between = np.where(same, affinity * (1 / n - 1 / size), 1 / n)
    within = np.where(same, affinity / size, 0.0)
    return _pair_scatter(X, between), _pair_scatter(X, within)


def _pair_scatter(X, A):
    """1/2 sum_ij A_ij (x_i - x_j)(x_i - x_j)^T = X^T (D - A) X, with the row sums of A in D."""
    X = X - X.mean(axis=0)
    return (X.T * A.sum(axis=1)) @ X - X.T @ A @ X


# ---------------------------------------------------------------------------------------
# Estimators
# ---------------------------------------------------------------------------------------


@dataclass(eq=False, repr=False)
class LinearDiscriminantAnalysis(LinearClassifier, LogProbabilisticClassifier, Transformer):
    """Linear discriminant analysis: hyperplanes between the classes, and at most C - 1 features.

    The features are the `discriminants` of S_B and Sigma. Differences from scikit-learn: Sigma is
    S_W / n for both solvers and all priors, S_B is not shrunk, `scalings_` has only the
    discriminants, and there is no solver "lsqr" and no shrinkage "auto".

    Parameters
    ----------
    solver : "svd" or "eigen"; "svd" leaves out the directions in which the classes have no spread
        (`whitening`), "eigen" refuses a singular Sigma
    shrinkage : float or None; with "eigen", the share of (tr Sigma / d) I in Sigma, from 0 to 1
    priors : array of shape (C,) or None; None for the shares of the classes in y
    n_components : int or None; number of features that `transform` returns, None for all
    store_covariance : bool; whether to keep `covariance_` with the solver "svd" too
    tol : float; that of `whitening` with the solver "svd"; either solver leaves out discriminants
        along which the spread of the means is at most tol times that along the first

    Attributes
    ----------
    classes_, priors_ : ndarray of shape (C,)
    means_ : ndarray of shape (C, d)
    xbar_ : ndarray of shape (d,); sum_k pi_k mu_k
    scalings_ : ndarray of shape (d, r); the discriminants, with scalings_^T Sigma scalings_ = I
    explained_variance_ratio_ : ndarray; the share of each feature in the sum of the lambda
    covariance_ : ndarray of shape (d, d); Sigma, shrunk
    coef_ : ndarray of shape (C, d), or (1, d) for two classes
    intercept_ : ndarray of shape (C,), or (1,)
    n_features_in_ : int

    >>> X, y = [[0, 0], [2, 1], [0, 3], [2, 4]], ["low", "low", "high", "high"]
    >>> model = LinearDiscriminantAnalysis().fit(X, y)
    >>> model.predict([[1, 1.5], [1, 2.5]]), model.transform(X).shape
    (array(['low', 'high'], dtype='<U4'), (4, 1))
    """

    solver: str = "svd"
    shrinkage: float | None = None
    priors: Any = None
    n_components: int | None = None
    store_covariance: bool = False
    tol: float = 1e-4

    def fit(self, X, y):
        """Learn the classes of samples X (n, d) with labels y (n,); return self."""
        svd = check_choice("solver", self.solver, ("svd", "eigen")) == "svd"
        share, tol = self._share(), check_number("tol", self.tol, at_least=0)
        store = check_flag("store_covariance", self.store_covariance)
        samples = check_samples(X)
        classes, k = np.unique(check_labels(y, len(samples)), return_inverse=True)
        self._check_components(samples.shape, len(classes))

        n_k, means = class_means(samples, k)
        prior = chosen_prior(self.priors, n_k / len(k), positive=True)
        S_B, Sigma = between_scatter(prior, means), _covariance(samples, k, means)
        Sigma = (1 - share) * Sigma + share * np.trace(Sigma) / len(Sigma) * np.eye(len(Sigma))
        A = whitening(Sigma, tol) if svd else np.eye(len(Sigma))
        values, W = discriminants(A.T @ S_B @ A, A.T @ Sigma @ A)
        r = np.count_nonzero(values > tol**2 * values[0])
        if self.n_components is not None and self.n_components > r:
            raise ValueError(
                f"n_components must be at most the rank of S_B, {r}, which is at most C - 1: "
                "the means of the classes lie in a space of that dimension; got "
                f"{self.n_components}"
            )
        self.classes_, self.priors_, self.means_, self.xbar_ = classes, prior, means, prior @ means
        self.scalings_ = A @ W[:, :r]
        self.explained_variance_ratio_ = (values / values.sum())[: self.n_components or r]
        self.coef_, self.intercept_ = self._hyperplanes()
        vars(self).pop("covariance_", None)
        if store or not svd:
            self.covariance_ = Sigma
        return self._remember(X)

    def _hyperplanes(self):
        """Bayes' rule for normal classes of covariance I in the space of the discriminants."""
        F = (self.means_ - self.xbar_) @ self.scalings_
        W = F @ self.scalings_.T
        b = np.log(self.priors_) - np.sum(F**2, axis=1) / 2 - W @ self.xbar_
        return (W, b) if len(W) > 2 else (W[1:] - W[:1], b[1:] - b[:1])

    def _share(self):
        """The share of the identity in Sigma, 0 for None."""
        share = self.shrinkage
        if share is None:
            return 0.0
        if not (isinstance(share, Real) and 0 <= share <= 1):
            raise ValueError(f"shrinkage must be None or a number from 0 to 1; got {share!r}")
        if self.solver == "svd":
            raise ValueError(f"shrinkage must be None with the solver 'svd'; got {share!r}")
        return share

    def _check_components(self, shape, C):
        """Refuse too few samples and too many features."""
        n, d = shape
        if n <= C:
            raise ValueError(f"X must have more samples than classes; got n = {n} and C = {C}")
        if self.n_components is not None:
            m = check_number("n_components", self.n_components, at_least=1, integer=True)
            if m > min(C - 1, d):
                most = min(C - 1, d)
                raise ValueError(f"n_components must be at most min(C - 1, d) = {most}; got {m}")

    def predict_log_proba(self, X):
        """ln Pr(k | x_i): (n, C)."""
        F = self.decision_function(X)
        return log_posterior(np.column_stack([np.zeros(len(F)), F]) if F.ndim == 1 else F)

    def transform(self, X):
        """The discriminant features scalings_^T (x - xbar_): (n, m)."""
        features = (self._check_fitted(X) - self.xbar_) @ self.scalings_
        return features[:, : self.n_components]


def _covariance(X, k, means):
    """S_W / n; a feature that varies by rounding alone within the classes is constant there."""
    Sigma = within_scatter(X, k) / len(X)
    flat = np.sqrt(np.diag(Sigma)) <= FLAT * np.abs(means).max(axis=0)
    Sigma[flat] = Sigma[:, flat] = 0.0
    return Sigma
