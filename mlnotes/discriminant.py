"""Fisher's linear discriminant: the line on which the projected classes are best separated.

Fisher compares the distance of the projected means with the spread about them. With few samples
the spread is 0 along some directions, and a remedy is needed.

Contents
    Telling two classes apart    discriminant
    Projections                  project_on_line, class_means, mean_direction, projected_scatters,
                                 fisher_ratio, direction_error
    Scatter matrices             difference_scatter, within_scatter, between_scatter
    The best direction           rayleigh_quotient, rayleigh_gradient, generalised_eigen,
                                 Discriminants, fisher_direction, label_regression,
                                 threshold_rule
    Several classes              determinant_criterion, trace_criterion, discriminants
    Where S_W is singular        whitening, principal_axes, pca_lda, regularised_direction,
                                 pseudo_inverse_direction
    Local scatter                local_scatters
    Estimators                   scatter_rank, regular, LinearDiscriminantAnalysis

Symbols
    X      (n, d)    samples x, one per row
    y      (n,)      labels of any kind, with C sorted classes. Two classes are called 0 and 1
    k      (n,)      the class of every sample, 0 to C - 1
    n_k    (C,)      samples of each class, n in all
    means  (C, d)    mu_k, the means of the classes; for two classes mu (2, d)
    w      (d,)      direction, from class 0 to 1; W (d, m): directions in columns, z = W^T x
    z      (n,)      projections z_i = w^T x_i; zbar (C,): their means in each class
    D      (n, d)    deviations x_i - mu_k of the samples from the means of their classes
    S_B    (d, d)    scatter between the classes; for two classes also S_delta, its multiple
    S_W    (d, d)    scatter within the classes, D^T D; Sigma = S_W / n
    J      float     the criterion of a direction
    m      int       number of directions

Notes: MLN "Fisher Linear Discriminant"; PRNN 4 and 4.1; ISML "Feature Extraction" 6 (LDA); IRHD 6.
PRNN and ISML number two classes 1 and 2. PRNN's m_k and MLN's M_k are our mu_k, R_FLDA is J.
"""

from dataclasses import KW_ONLY, dataclass
from math import sqrt
from typing import Any, NamedTuple

import numpy as np

from mlnotes.base import (
    ROUNDING,
    LinearClassifier,
    LogProbabilisticClassifier,
    Transformer,
    check_choice,
    check_labels,
    check_number,
    check_samples,
    distribution,
    floats,
)
from mlnotes.clustering import cluster_means
from mlnotes.decision_theory import chosen_prior, log_posterior, posterior
from mlnotes.estimation import centre
from mlnotes.linear_regression import augment, qr_solution
from mlnotes.numerics import symmetric
from mlnotes.probability import normal_cdf

# =======================================================================================
# The lecture
# =======================================================================================

# --- Telling two classes apart ---------------------------------------------------------


def discriminant(log_p, prior):
    """Pr(0 | x) - Pr(1 | x) of two classes (n,): Bayes' rule takes class 0 where it is positive.

    `log_p` (n, 2) are the ln p(x_i | k), `prior` (2,) the probabilities of the classes.

    >>> discriminant(np.log([[0.3, 0.1], [0.1, 0.3]]), prior=np.array([0.5, 0.5])).round(12)
    array([ 0.5, -0.5])
    """
    q = posterior(log_p, prior)
    return q[:, 0] - q[:, 1]


# --- Projections -----------------------------------------------------------------------


def project_on_line(X, w):
    """z_i = w^T x_i (n,): where the projection of x_i lies on the line along w, for ||w|| = 1.

    With directions in the columns of W (d, m) it is (n, m).

    >>> project_on_line(np.array([[3.0, 4.0], [0.0, 5.0]]), w=np.array([0.6, 0.8]))
    array([5., 4.])
    """
    X, w = floats(X, w)
    return X @ w


def class_means(X, y):
    """mu_k = 1/n_k sum of the x_i of class k (C, d), the classes sorted.

    >>> class_means(np.array([[0.0], [2.0], [7.0]]), np.array(["a", "a", "b"])).ravel()
    array([1., 7.])
    """
    classes, k = np.unique(y, return_inverse=True)
    return cluster_means(X, k, len(classes))


def mean_direction(mu):
    """(mu_1 - mu_0) / ||mu_1 - mu_0|| (d,): the unit vector w of the largest w^T (mu_1 - mu_0).

    >>> mean_direction(np.array([[1.0, 1.0], [4.0, 5.0]]))
    array([0.6, 0.8])
    """
    mu = floats(mu)
    delta = mu[1] - mu[0]
    return delta / np.linalg.norm(delta)


def projected_scatters(X, y, w):
    """s_k^2 = sum over class k of (w^T x_i - w^T mu_k)^2 (C,): n_k times the variance of class k.

    >>> projected_scatters(np.array([[0.0], [2.0], [7.0]]), np.array([0, 0, 1]), w=np.array([1.0]))
    array([2., 0.])
    """
    _, k = np.unique(y, return_inverse=True)  # class of each sample
    z = project_on_line(X, w)
    zbar = project_on_line(class_means(X, y), w)  # the projected means
    return np.bincount(k, (z - zbar[k]) ** 2)  # the sum for each class


def fisher_ratio(X, y, w):
    """J(w) = (zbar_1 - zbar_0)^2 / (s_0^2 + s_1^2): squared distance of the means over the spread.

    >>> fisher_ratio(np.array([[0.0], [2.0], [5.0], [7.0]]), np.array([0, 0, 1, 1]), np.ones(1))
    6.25

    Errata: discriminant-08 (PRNN prints mu_1^2 - mu_2^2 for the numerator; it may be negative).
    """
    zbar_0, zbar_1 = project_on_line(class_means(X, y), w)  # the projected means
    return float((zbar_1 - zbar_0) ** 2 / projected_scatters(X, y, w).sum())


def direction_error(w, mu, Sigma):
    """Phi(-|w^T (mu_1 - mu_0)| / (2 sqrt(w^T Sigma w))): the error of the best cut on w^T x.

    It holds for two equally probable normal classes: means mu (2, d), covariance Sigma (d, d).

    >>> round(direction_error(np.array([1.0]), np.array([[0.0], [2.0]]), np.eye(1)), 4)
    0.1587
    """
    w, mu, Sigma = floats(w, mu, Sigma)
    gap = np.abs(w @ (mu[1] - mu[0]))
    return float(normal_cdf(-gap / 2, 0.0, w @ Sigma @ w))


# --- Scatter matrices ------------------------------------------------------------------


def difference_scatter(mu):
    """S_delta = delta delta^T with delta = mu_1 - mu_0: w^T S_delta w = (zbar_1 - zbar_0)^2.

    >>> difference_scatter(np.array([[1.0, 1.0], [2.0, 4.0]]))
    array([[1., 3.],
           [3., 9.]])
    """
    mu = floats(mu)
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
    D = X - class_means(X, y)[k]  # each sample minus the mean of its class
    return D.T @ D  # the sum of the outer products of its rows


def between_scatter(n_k, means):
    """S_B = sum_k n_k (mu_k - xbar)(mu_k - xbar)^T with xbar = sum_k n_k mu_k / n, any C.

    Its rank is at most C - 1. For two classes it is n_0 n_1 / n times `difference_scatter`.

    >>> between_scatter(np.array([1, 3]), np.array([[0.0], [4.0]]))
    array([[12.]])
    """
    n_k, means = floats(n_k, means)
    gaps = means - np.average(means, axis=0, weights=n_k)  # mu_k - xbar
    return (gaps.T * n_k) @ gaps  # gaps.T * n_k: column k times n_k


# --- The best direction ----------------------------------------------------------------


def rayleigh_quotient(w, S_B, S_W):
    """J(w) = w^T S_B w / (w^T S_W w): `fisher_ratio`, in terms of the scatters.

    >>> rayleigh_quotient(np.array([1.0, 2.0]), np.diag([3.0, 6.0]), np.eye(2))
    5.4
    """
    w, S_B, S_W = floats(w, S_B, S_W)
    return float(w @ S_B @ w / (w @ S_W @ w))


def rayleigh_gradient(w, S_B, S_W):
    """grad J = (2 S_B w (w^T S_W w) - 2 S_W w (w^T S_B w)) / (w^T S_W w)^2.

    It is 0 where S_B w = lambda S_W w, with lambda = J(w). For every w, w^T grad J = 0.

    >>> rayleigh_gradient(np.array([1.0, 0.0]), np.array([[4.0, 1.0], [1.0, 2.0]]), np.eye(2))
    array([0., 2.])

    Errata: discriminant-15 (ISML prints the two terms exchanged: the same zeros, but downhill).
    """
    w, S_B, S_W = floats(w, S_B, S_W)
    b, s = S_B @ w, S_W @ w
    return (2 * b * (w @ s) - 2 * s * (w @ b)) / (w @ s) ** 2


class Discriminants(NamedTuple):
    """Directions W and their criteria: S_B w_i = lambda_i S_W w_i."""

    values: np.ndarray  # (m,), lambda_i = J(w_i), the largest first
    W: np.ndarray  # (d, m), with W^T S_W W = I


def generalised_eigen(S_B, S_W):
    """All solutions of S_B w = lambda S_W w: `Discriminants`, the stationary points of J, m = d.

    Raises: ValueError if S_W is singular, or one of the two is not symmetric.

    >>> values, W = generalised_eigen(np.diag([4.0, 9.0]), np.diag([1.0, 9.0]))
    >>> values, abs(W[:, 0])
    (array([4., 1.]), array([1., 0.]))
    """
    L = np.linalg.cholesky(regular(S_W))  # S_W = L L^T
    K = np.linalg.solve(L, np.linalg.solve(L, symmetric(S_B, "S_B")).T)  # L^{-1} S_B L^{-T}
    values, V = np.linalg.eigh(K)  # in ascending order
    W = np.linalg.solve(L.T, V)  # w_j = L^{-T} v_j
    return Discriminants(values[::-1], W[:, ::-1])


def fisher_direction(S_W, mu):
    """w = S_W^{-1} (mu_1 - mu_0) (d,): the direction of largest J, without an eigensolver.

    Equal means give w = 0: then J = 0 for every direction. Raises: ValueError if S_W is singular.

    >>> fisher_direction(np.diag([1.0, 4.0]), mu=np.array([[0.0, 0.0], [2.0, 2.0]]))
    array([2. , 0.5])

    Errata: discriminant-38 (ISML prints an equality sign for "proportional to"; PRNN has class 0 on
    the positive side).
    """
    mu = floats(mu)
    return np.linalg.solve(regular(S_W), mu[1] - mu[0])  # S_W w = delta


def label_regression(X, y, targets=None):
    """Least squares with one target number per class: w (d,), parallel to Fisher's, and b.

    `targets` are the numbers for class 0 and class 1, by default -n / n_0 and n / n_1.

    Raises: ValueError if S_W is singular.

    >>> w, b = label_regression(np.array([[0.0], [2.0], [7.0]]), np.array([0, 0, 1]))
    >>> round(-b / float(w[0]), 9)
    3.0
    """
    _, k = np.unique(y, return_inverse=True)  # class of each sample
    n_0, n_1 = np.bincount(k)
    regular(within_scatter(X, y))
    t_0, t_1 = (-len(k) / n_0, len(k) / n_1) if targets is None else targets
    b, *w = qr_solution(augment(X), np.where(k == 1, t_1, t_0))
    return np.array(w), float(b)


def threshold_rule(X, y, prior=None):
    """Class 1 where w^T x + b > 0: w (d,) = Sigma^{-1} (mu_1 - mu_0) and the number

        b = -w^T (mu_0 + mu_1) / 2 + ln(pi_1 / pi_0) .

    It is Bayes' rule for normal classes with Sigma = S_W / n. The default `prior` (2,) is n_k / n.

    >>> w, b = threshold_rule(np.array([[0.0], [2.0], [5.0], [7.0]]), np.array([0, 0, 1, 1]))
    >>> w, round(float(b), 9)
    (array([5.]), -17.5)
    """
    _, n_k = np.unique(y, return_counts=True)
    pi_0, pi_1 = n_k / len(X) if prior is None else distribution(prior, "prior")
    mu = class_means(X, y)
    w = fisher_direction(within_scatter(X, y) / len(X), mu)  # Sigma = S_W / n
    b = -w @ (mu[0] + mu[1]) / 2 + np.log(pi_1 / pi_0)
    return w, b


# --- Several classes -------------------------------------------------------------------


def determinant_criterion(W, S_B, S_W):
    """J(W) = |W^T S_B W| / |W^T S_W W|: the ratio of squared volumes after z = W^T x.

    Only the space that W spans matters. With C columns or more it is 0.

    >>> round(determinant_criterion(np.eye(2), np.diag([8.0, 3.0]), np.diag([2.0, 1.0])), 9)
    12.0
    """
    W, S_B, S_W = floats(W, S_B, S_W)
    return float(np.linalg.det(W.T @ S_B @ W) / np.linalg.det(W.T @ S_W @ W))


def trace_criterion(W, S_B, S_W):
    """J(W) = tr((W^T S_W W)^{-1} W^T S_B W): only the space that W spans matters.

    >>> trace_criterion(np.eye(2), np.diag([8.0, 3.0]), np.diag([2.0, 1.0]))
    7.0

    Errata: discriminant-30 (ISML sets it equal to tr(S_W^{-1} S_B), which does not depend on W).
    """
    W, S_B, S_W = floats(W, S_B, S_W)
    return float(np.trace(np.linalg.solve(W.T @ S_W @ W, W.T @ S_B @ W)))


def discriminants(S_B, S_W, m):
    """The m solutions of S_B w = lambda S_W w of largest lambda: `Discriminants`.

    They maximise `determinant_criterion` and `trace_criterion`. At most C - 1 lambda are not 0.

    >>> values, W = discriminants(np.diag([4.0, 9.0, 0.0]), np.eye(3), m=2)
    >>> values, W.shape
    (array([9., 4.]), (3, 2))
    """
    values, W = generalised_eigen(S_B, S_W)  # the largest lambda first
    return Discriminants(values[:m], W[:, :m])


# --- Where S_W is singular -------------------------------------------------------------


def whitening(D, tol=ROUNDING):
    """A (d, r) with A^T S_W A = I for S_W = D^T D: the D A have the same spread along all r axes.

    With S_W = V diag(s^2) V^T it is V diag(1/s), after every feature is divided by its spread.
    Directions with s <= `tol` are left out.

    >>> whitening(np.array([[2.0, 0.0], [0.0, 0.0]])).T.round(12) + 0.0
    array([[0.5, 0. ]])
    """
    D = floats(D)
    spread = np.linalg.norm(D, axis=0)
    unit = np.where(spread > 0, spread, 1.0)
    _, s, Vt = np.linalg.svd(D / unit, full_matrices=False)  # no matrix (d, d)
    return Vt[s > tol].T / s[s > tol] / unit[:, None]


def principal_axes(X, m=None):
    """The m orthonormal directions along which the centred samples vary most: (d, m).

    By default m is the rank of the centred samples.

    >>> abs(principal_axes(np.array([[0.0, 0.0], [4.0, 1.0], [8.0, 0.0]]), 1)).round(12).T
    array([[1., 0.]])
    """
    _, s, Vt = np.linalg.svd(centre(X), full_matrices=False)
    m = np.count_nonzero(s > ROUNDING * s[0]) if m is None else m
    return Vt[:m].T


def pca_lda(X, y, m=None):
    """The C - 1 `Discriminants` after PCA to m dimensions, as directions of the original samples.

    More than n - C dimensions are never kept: beyond them S_W is singular. The default keeps all
    others in which X varies.

    >>> X, y = np.array([[0.0, 0, 0], [2, 1, 0], [0, 3, 0], [2, 2, 0]]), np.array([0, 0, 1, 1])
    >>> values, W = pca_lda(X, y)
    >>> values.round(12), abs(W).round(12).ravel()
    (array([4.]), array([0., 1., 0.]))

    Errata: discriminant-33 (ISML says that S_W is singular for n < d; it is for n < d + C).
    """
    means, (_, n_k) = class_means(X, y), np.unique(y, return_counts=True)
    P = principal_axes(X, m)[:, : len(X) - len(n_k)]  # at most n - C axes, in columns
    S_B = between_scatter(n_k, means @ P)
    S_W = within_scatter(X @ P, y)  # of the samples P^T x
    values, W = discriminants(S_B, S_W, len(n_k) - 1)
    return Discriminants(values, P @ W)  # W^T (P^T x) = (P W)^T x


def regularised_direction(S_W, mu, gamma):
    """(S_W + gamma I)^{-1} (mu_1 - mu_0) (d,), which exists for every gamma > 0.

    >>> regularised_direction(np.diag([1.0, 0.0]), np.array([[0.0, 0.0], [2.0, 2.0]]), gamma=1.0)
    array([1., 2.])
    """
    mu = floats(mu)
    return np.linalg.solve(S_W + gamma * np.eye(len(S_W)), mu[1] - mu[0])


def pseudo_inverse_direction(S_W, mu):
    """S_W^+ (mu_1 - mu_0) (d,): the directions in which the classes have no spread are left out.

    Where S_W is regular it is `fisher_direction`, whatever the units of the features.

    >>> pseudo_inverse_direction(np.diag([4.0, 0.0]), mu=np.array([[0.0, 0.0], [2.0, 2.0]]))
    array([0.5, 0. ])
    """
    if scatter_rank(S_W) == len(S_W):
        return fisher_direction(S_W, mu)
    S_W, mu = floats(S_W, mu)
    return np.linalg.pinv(S_W, rcond=ROUNDING, hermitian=True) @ (mu[1] - mu[0])


# --- Local scatter ---------------------------------------------------------------------


def local_scatters(X, y, affinity):
    """S_B and S_W of local Fisher analysis, which brings only neighbours of a class together:

        S = 1/2 sum_ij A_ij (x_i - x_j)(x_i - x_j)^T = X^T (G - A) X,  G = diag(row sums of A),

        for S_W with A_ij = a_ij / n_k             if both are in class k, else 0,
        for S_B with A_ij = a_ij (1/n - 1/n_k)     if both are in class k, else 1/n.

    `affinity` (n, n) holds the a_ij, such as `clustering.rbf_affinity`: symmetric, and near 0 for
    samples that are far apart. With all a_ij = 1, S_B and S_W are the ordinary scatters.

    >>> X, y = np.array([[0.0], [2.0], [7.0]]), np.array([0, 0, 1])
    >>> [S.round(9).item() for S in local_scatters(X, y, np.ones((3, 3)))]
    [24.0, 2.0]
    """
    _, k, n_k = np.unique(y, return_inverse=True, return_counts=True)
    n, size = len(k), n_k[k]  # size: samples in the class of each
    same = k[:, None] == k
    affinity = symmetric(affinity, "affinity")
    between = np.where(same, affinity * (1 / n - 1 / size), 1 / n)
    within = np.where(same, affinity / size, 0.0)
    X = X - X.mean(axis=0)
    S_B, S_W = ((X.T * A.sum(axis=1)) @ X - X.T @ A @ X for A in (between, within))
    return S_B, S_W


# =======================================================================================
# The estimators
# =======================================================================================


def scatter_rank(S_W):
    """The rank of the symmetric S_W (d, d), once every feature is divided by its spread.

    >>> scatter_rank(np.array([[1e-40, 0.0], [0.0, 1.0]]))
    2
    """
    S_W = symmetric(S_W, "S_W")
    spread = np.sqrt(np.diag(S_W))
    unit = np.where(spread > 0, spread, 1.0)
    return int(np.linalg.matrix_rank(S_W / unit / unit[:, None], hermitian=True))


def regular(S_W):
    """The symmetric S_W (d, d), if it has full `scatter_rank`.

    Raises: ValueError if it has not, as solutions would be noise, or is not symmetric.

    >>> regular(np.array([[4.0]]))
    array([[4.]])
    """
    S_W, rank = floats(S_W), scatter_rank(S_W)
    if rank < len(S_W):
        raise ValueError(
            f"S_W must be regular; got rank {rank} of {len(S_W)} (it is at most n - C): reduce the "
            "dimension first (pca_lda), regularise it, or take its pseudo-inverse"
        )
    return S_W


@dataclass(eq=False, repr=False)
class LinearDiscriminantAnalysis(LinearClassifier, LogProbabilisticClassifier, Transformer):
    """Linear discriminant analysis: hyperplanes between the classes, and at most C - 1 features.

    The features are the `discriminants` of S_B and Sigma. Differences from scikit-learn: Sigma is
    S_W / n for both solvers and all priors, S_B is not shrunk, `scalings_` has only the
    discriminants, and there is no solver "lsqr", no shrinkage "auto" and no `covariance_`.

    Parameters
    ----------
    solver : "svd" or "eigen"; "svd" leaves out the directions in which the classes have no spread
        (`whitening`), "eigen" refuses a singular Sigma
    shrinkage : float or None; with "eigen", the share of (tr Sigma / d) I in Sigma, from 0 to 1
    priors : array of shape (C,) or None; None for the shares of the classes in y
    n_components : int or None; number of features that `transform` returns, None for all
    tol : float; that of `whitening` with the solver "svd"; either solver leaves out discriminants
        along which the spread of the means is at most tol times that along the first

    Attributes
    ----------
    classes_, priors_ : ndarray of shape (C,)
    means_ : ndarray of shape (C, d)
    xbar_ : ndarray of shape (d,); sum_k pi_k mu_k
    scalings_ : ndarray of shape (d, r); the discriminants, with scalings_^T Sigma scalings_ = I
    explained_variance_ratio_ : ndarray; the share of each feature in the sum of the lambda
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
    _: KW_ONLY
    tol: float = 1e-4

    def fit(self, X, y):
        """Learn the classes of samples X (n, d) with labels y (n,); return self."""
        self._check_parameters()
        samples = check_samples(X)
        classes, k = np.unique(check_labels(y, len(samples)), return_inverse=True)
        means = class_means(samples, k)
        prior = chosen_prior(self.priors, np.bincount(k) / len(k), positive=True)
        xbar = prior @ means
        D = samples - means[k]
        D[:, np.abs(D).max(axis=0) <= ROUNDING * np.abs(means).max(axis=0)] = 0  # it is rounding
        A, Sigma = self._coordinates(D / sqrt(len(k)))
        D = means - xbar
        D[np.abs(D) <= 4 * np.finfo(float).eps * np.abs(xbar)] = 0  # they differ by rounding
        values, W = discriminants(between_scatter(prior, D @ A), Sigma, len(classes) - 1)
        r = self._count(values)
        self.classes_, self.priors_, self.means_, self.xbar_ = classes, prior, means, xbar
        self.scalings_ = A @ W[:, :r]
        self.explained_variance_ratio_ = (values / values.sum())[: self.n_components or r]
        self.coef_, self.intercept_ = self._hyperplanes()
        return self._remember(X)

    def _check_parameters(self):
        """Refuse parameters that are out of their range."""
        check_choice("solver", self.solver, ("svd", "eigen"))
        check_number("tol", self.tol, at_least=0)
        if self.n_components is not None:
            check_number("n_components", self.n_components, at_least=1, integer=True)
        if self.shrinkage is not None:
            if check_number("shrinkage", self.shrinkage, at_least=0) > 1:
                raise ValueError(f"shrinkage must be at most 1; got {self.shrinkage}")
            if self.solver == "svd":
                raise ValueError(f"shrinkage must be None with solver 'svd'; got {self.shrinkage}")

    def _coordinates(self, D):
        """Directions A (d, r) in which the discriminants are sought, and A^T Sigma A."""
        if self.solver == "svd":
            A = whitening(D, max(self.tol, ROUNDING))
            if A.shape[1] == 0:
                raise ValueError(
                    f"X must vary within the classes by more than tol = {self.tol:g}, in units of "
                    "the spread of each feature there"
                )
            return A, np.eye(A.shape[1])
        Sigma, identity, share = D.T @ D, np.eye(D.shape[1]), self.shrinkage or 0.0
        return identity, (1 - share) * Sigma + share * np.trace(Sigma) / len(Sigma) * identity

    def _count(self, values):
        """How many discriminants have a lambda > 0."""
        if not values[0] > ROUNDING**2:
            raise ValueError(
                "the means of the classes must differ: with S_B = 0 no direction is the best"
            )
        r = np.count_nonzero(values > max(self.tol**2, ROUNDING) * values[0])
        if self.n_components is not None and self.n_components > r:
            raise ValueError(
                f"n_components must be at most {r}, the rank of S_B; got {self.n_components}"
            )
        return r

    def _hyperplanes(self):
        """Bayes' rule for normal classes of covariance I in the space of the discriminants."""
        F = (self.means_ - self.xbar_) @ self.scalings_
        W = F @ self.scalings_.T
        b = np.log(self.priors_) - np.sum(F**2, axis=1) / 2 - W @ self.xbar_
        return (W, b) if len(W) > 2 else (W[1:] - W[:1], b[1:] - b[:1])

    def predict_log_proba(self, X):
        """ln Pr(k | x_i): (n, C)."""
        F = self.decision_function(X)
        return log_posterior(np.column_stack([np.zeros(len(F)), F]) if F.ndim == 1 else F)

    def transform(self, X):
        """The discriminant features scalings_^T (x - xbar_): (n, m)."""
        X = self._check_fitted(X)
        return (X - self.xbar_) @ self.scalings_[:, : len(self.explained_variance_ratio_)]
